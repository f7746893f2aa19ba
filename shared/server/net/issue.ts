/** X.509: a certificate authority that signs server and client certificates (ECDSA P-256). @module */
import "reflect-metadata";
import * as x509 from "@peculiar/x509";
import { isIP } from "node:net";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
/** Clocks of clients may be behind ours. */
const SKEW_MS = 5 * 60_000;

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  certPem: string;
  keyPem: string;
}

/** From when to when a certificate is valid, ms since the epoch. */
export interface Validity {
  now: number;
  ms: number;
}

/** Makes a self-signed authority. */
export async function makeAuthority(commonName: string, validity: Validity): Promise<KeyPair> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: [{ CN: [commonName] }],
    keys,
    ...between(validity),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certPem: certificate.toString("pem") + "\n", keyPem: await exportKey(keys.privateKey) };
}

/** Signs a server certificate for these names and addresses. */
export function issueServer(ca: KeyPair, hosts: readonly string[], validity: Validity): Promise<KeyPair> {
  const names = hosts.map((value) => ({ type: isIP(value) ? "ip" as const : "dns" as const, value }));
  return issue(ca, [{ CN: ["convoy-apiserver"] }], validity, [
    new x509.SubjectAlternativeNameExtension(names),
    new x509.ExtendedKeyUsageExtension([SERVER_AUTH]),
  ]);
}

/** Signs a client certificate: CN is the user, each O a group, as kube-apiserver reads them. */
export function issueClient(ca: KeyPair, user: string, groups: readonly string[], validity: Validity) {
  return issue(ca, [...groups.map((group) => ({ O: [group] })), { CN: [user] }], validity, [
    new x509.ExtendedKeyUsageExtension([CLIENT_AUTH]),
  ]);
}

/** What is in a certificate, as far as it decides whether it must be renewed. @throws Error when it cannot be read */
export function inspect(
  certPem: string,
): { notAfter: number; hosts: string[]; isSignedBy(ca: string): Promise<boolean> } {
  const certificate = new x509.X509Certificate(certPem);
  const names = certificate.getExtension(x509.SubjectAlternativeNameExtension)?.names.toJSON() ?? [];
  return {
    notAfter: certificate.notAfter.getTime(),
    hosts: names.map((name) => name.value),
    isSignedBy: (ca) => certificate.verify({ publicKey: new x509.X509Certificate(ca), signatureOnly: true }),
  };
}

/** Checks that key and certificate belong together. @throws Error when one cannot be read, or they do not */
export async function checkPair({ certPem, keyPem }: KeyPair): Promise<void> {
  const probe = crypto.getRandomValues(new Uint8Array(32));
  let signature: ArrayBuffer;
  try {
    signature = await crypto.subtle.sign(ALGORITHM, await importKey(keyPem), probe);
  } catch (error) {
    throw new Error("its key cannot be read", { cause: error });
  }
  const publicKey = await new x509.X509Certificate(certPem).publicKey.export(ALGORITHM, ["verify"]);
  if (await crypto.subtle.verify(ALGORITHM, publicKey, signature, probe)) return;
  throw new Error("its key is not that of its certificate");
}

async function issue(
  ca: KeyPair,
  subject: x509.JsonName,
  validity: Validity,
  extensions: x509.Extension[],
): Promise<KeyPair> {
  const authority = new x509.X509Certificate(ca.certPem);
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject,
    issuer: authority.subjectName,
    publicKey: keys.publicKey,
    signingKey: await importKey(ca.keyPem),
    ...between(validity),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      await x509.AuthorityKeyIdentifierExtension.create(authority),
      ...extensions,
    ],
  });
  return { certPem: certificate.toString("pem") + "\n", keyPem: await exportKey(keys.privateKey) };
}

function between({ now, ms }: Validity): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(now - SKEW_MS), notAfter: new Date(now + ms) };
}

/** 127 random bits: positive, as RFC 5280 asks. */
function serialNumber(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[0]! &= 0x7f;
  bytes[0]! |= 0x40;
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

async function exportKey(key: CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY") + "\n";
}

/** @throws Error when the PEM is no P-256 key. */
function importKey(keyPem: string): Promise<CryptoKey> {
  return crypto.subtle.importKey("pkcs8", x509.PemConverter.decodeFirst(keyPem), ALGORITHM, true, ["sign"]);
}

/** Certificates for tests: an authority, servers and clients, as PEM. @module */
import "reflect-metadata";
import * as x509 from "@peculiar/x509";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** A certificate with its key, PEM. */
export interface CertAndKey {
  cert: string;
  key: string;
}

/** An authority for tests. */
export interface TestAuthority {
  /** PEM of the authority. */
  ca: string;
  /** For a server of these names; IP addresses as such. */
  server(...names: string[]): Promise<CertAndKey>;
  /** For a client; `groups` become organisations. */
  client(user: string, groups?: string[]): Promise<CertAndKey>;
}

/** Makes an authority whose certificates are valid for a day around now. */
export async function testAuthority(): Promise<TestAuthority> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]) as CryptoKeyPair;
  const dates = () => ({ notBefore: new Date(Date.now() - 3_600_000), notAfter: new Date(Date.now() + 86_400_000) });
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    name: "CN=Convoy test authority",
    keys,
    signingAlgorithm: ALGORITHM,
    ...dates(),
    extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
  });
  async function issue(subject: string, extensions: x509.Extension[]): Promise<CertAndKey> {
    const own = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]) as CryptoKeyPair;
    const cert = await x509.X509CertificateGenerator.create({
      subject,
      issuer: ca.subject,
      signingKey: keys.privateKey,
      publicKey: own.publicKey,
      signingAlgorithm: ALGORITHM,
      ...dates(),
      extensions,
    });
    const pkcs8 = await crypto.subtle.exportKey("pkcs8", own.privateKey);
    return { cert: cert.toString("pem"), key: x509.PemConverter.encode(pkcs8, "PRIVATE KEY") };
  }
  return {
    ca: ca.toString("pem"),
    server: (...names) =>
      issue("CN=Convoy test server", [
        new x509.SubjectAlternativeNameExtension(
          names.map((value) => ({ type: /^[\d.]+$|:/.test(value) ? "ip" as const : "dns" as const, value })),
        ),
      ]),
    client: (user, groups = []) =>
      issue([...groups.map((g) => `O=${g}`), `CN=${user}`].join(", "), [
        new x509.ExtendedKeyUsageExtension(["1.3.6.1.5.5.7.3.2"]),
      ]),
  };
}

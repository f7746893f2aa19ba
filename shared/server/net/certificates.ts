/** The certificates of a standalone API server, kept in a folder and renewed before they expire. @module */
import { join } from "node:path";
import type { Clock } from "../../runtime/clock.ts";
import { readFileIfThere, writeFileAtomic } from "./files.ts";
import { checkPair, inspect, issueClient, issueServer, type KeyPair, makeAuthority } from "./issue.ts";

const DAY = 86_400_000;
const CA_VALID = 3650 * DAY;
const SERVER_VALID = 365 * DAY;
const CLIENT_VALID = 365 * DAY;
/** A certificate with less than this left is renewed: a year-old CA still has to cover a client's whole year. */
const CA_RENEW = 400 * DAY;
const SERVER_RENEW = 30 * DAY;

/** What a server needs for TLS, and what its clients need to trust it. */
export interface Certificates {
  server: KeyPair;
  /** The authorities that clients and server trust: the one that signs now, and older ones until they expire. */
  caPem: string;
  /** Signs a client certificate, valid for a year. */
  issueClient(user: string, groups: readonly string[]): Promise<KeyPair>;
}

const PEM = /-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----\n?/g;

/**
 * Loads what lies in `folder` (`ca.pem`, `server.pem`: key and certificates in one file, so that no crash parts them;
 * `ca.crt`: for clients), makes what is missing and renews what is near its end or not for these `hosts`.
 *
 * @throws Error when a file is there but cannot be read: it is never replaced silently, since clients trust it
 */
export async function loadCertificates(folder: string, hosts: readonly string[], clock: Clock): Promise<Certificates> {
  const now = clock.now();
  const { ca, older } = await loadAuthority(join(folder, "ca.pem"), now);
  const caPem = ca.certPem + older.join("");
  if (await readFileIfThere(join(folder, "ca.crt")) !== caPem) {
    await writeFileAtomic(join(folder, "ca.crt"), caPem, 0o644);
  }
  const server = await loadServer(join(folder, "server.pem"), ca, hosts, now);
  return {
    server,
    caPem,
    issueClient: (user, groups) => issueClient(ca, user, groups, { now: clock.now(), ms: CLIENT_VALID }),
  };
}

/** Certificates that live only as long as the process. */
export async function makeCertificates(hosts: readonly string[], clock: Clock): Promise<Certificates> {
  const now = clock.now();
  const ca = await makeAuthority("convoy-ca", { now, ms: CA_VALID });
  return {
    server: await issueServer(ca, hosts, { now, ms: SERVER_VALID }),
    caPem: ca.certPem,
    issueClient: (user, groups) => issueClient(ca, user, groups, { now: clock.now(), ms: CLIENT_VALID }),
  };
}

async function loadAuthority(path: string, now: number): Promise<{ ca: KeyPair; older: string[] }> {
  const found = await load(path, "clients trust it: restore it, or remove it to make new ones");
  const older = found ? [found.pair.certPem, ...found.rest].filter((pem) => inspect(pem).notAfter > now) : [];
  if (found && inspect(found.pair.certPem).notAfter - now > CA_RENEW) {
    return { ca: found.pair, older: older.filter((pem) => pem !== found.pair.certPem) };
  }
  // The year in the name tells the old from the new where both are trusted.
  const ca = await makeAuthority(`convoy-ca-${new Date(now).toISOString().slice(0, 10)}`, { now, ms: CA_VALID });
  await writeFileAtomic(path, ca.keyPem + ca.certPem + older.join(""));
  return { ca, older };
}

async function loadServer(path: string, ca: KeyPair, hosts: readonly string[], now: number): Promise<KeyPair> {
  const found = await load(path, "remove it: a new one is made at the next start");
  if (found) {
    const certificate = inspect(found.pair.certPem);
    const fits = hosts.every((host) => certificate.hosts.includes(host)) && await certificate.isSignedBy(ca.certPem);
    if (fits && certificate.notAfter - now > SERVER_RENEW) return found.pair;
  }
  const server = await issueServer(ca, hosts, { now, ms: SERVER_VALID });
  await writeFileAtomic(path, server.keyPem + server.certPem);
  return server;
}

async function load(path: string, mend: string): Promise<{ pair: KeyPair; rest: string[] } | undefined> {
  try {
    const text = await readFileIfThere(path);
    if (text === undefined) return undefined;
    const blocks = [...text.matchAll(PEM)].map((match) => ({ label: match[1], pem: match[0] }));
    const keyPem = blocks.find((block) => block.label === "PRIVATE KEY")?.pem;
    const [certPem, ...rest] = blocks.filter((block) => block.label === "CERTIFICATE").map((block) => block.pem);
    if (!keyPem || !certPem) throw new Error("it has no key and certificate");
    for (const pem of rest) inspect(pem);
    await checkPair({ keyPem, certPem });
    return { pair: { keyPem, certPem }, rest };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot use the certificates in ${path}: ${why} (${mend})`, { cause: error });
  }
}

/** What can go wrong with a Git source: reasons of its condition `Ready`. @module */

/** Reasons of `Ready=False`. */
export type FailureReason =
  | "InvalidURL"
  | "InvalidRef"
  | "InvalidPattern"
  | "SecretMissing"
  | "SecretInvalid"
  | "AuthFailed"
  | "HostKeyUnknown"
  | "HostUnreachable"
  | "CertificateInvalid"
  | "RepositoryNotFound"
  | "RefNotFound"
  | "TooLarge"
  | "Timeout"
  | "Unsupported"
  | "FetchFailed";

/** A fetch failed. The message names the mend and has no credential. */
export class GitFailure extends Error {
  override readonly name = "GitFailure";
  constructor(readonly reason: FailureReason, message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

/** Patterns of git's and ssh's words in the C locale, the first that fits decides; then what to tell. */
const WORDS: readonly [RegExp, FailureReason, (host: string) => string][] = [
  [
    /host key verification failed|no .*host key is known|remote host identification has changed/i,
    "HostKeyUnknown",
    (h) =>
      `the host key of ${h} is not the one in known_hosts of the Secret; put the right line there (ssh-keyscan shows it)`,
  ],
  [
    /permission denied \(|could not read (username|password)|authentication failed|terminal prompts disabled|returned error: 40[13]|HTTP 40[13]|access denied|invalid credentials/i,
    "AuthFailed",
    (h) => `${h} refuses the credentials; mend the Secret of spec.secretRef, or name one if there is none`,
  ],
  [
    /couldn't find remote ref|remote ref does not exist|not our ref|unadvertised object|no such remote ref/i,
    "RefNotFound",
    () => "the remote does not have what spec.ref names; push it or mend spec.ref",
  ],
  [
    /unable to update url base from redirection|returned error: 30[0-9]/i,
    "FetchFailed",
    () =>
      "the server redirects to another address; put the final address into spec.url (often .git is missing at its end)",
  ],
  [
    /certificate|self.signed|CAfile|verification failed/i,
    "CertificateInvalid",
    (h) => `the certificate of ${h} is not trusted; put its authority into the Secret as ca.crt`,
  ],
  [
    /could not resolve host|name or service not known|connection (refused|timed out|reset)|failed to connect|no route to host|network is unreachable|couldn't connect|operation timed out|connection closed by/i,
    "HostUnreachable",
    (h) => `${h} cannot be reached; check the host in spec.url, DNS and the network`,
  ],
  [
    /repository .* not found|does not appear to be a git repository|returned error: 404|repository not found|not a git repository/i,
    "RepositoryNotFound",
    () => "there is no repository at spec.url (or the credentials may not see it); check its path",
  ],
  [
    /operation too slow|early EOF|hung up unexpectedly|unexpected disconnect|rpc failed/i,
    "HostUnreachable",
    (h) => `the connection to ${h} broke; it is tried again`,
  ],
];

/** Sorts what git wrote to stderr. `host` is told in the message. */
export function classify(stderr: string, host: string): GitFailure {
  // Addresses may have any of the words in them.
  const words = stderr.replace(/[a-z]+:\/\/[^\s']+|'[^'\s]*\/[^'\s]*'/gi, "''");
  for (const [pattern, reason, tell] of WORDS) {
    if (pattern.test(words)) return new GitFailure(reason, `Cannot fetch: ${tell(host)}`);
  }
  const line = stderr.split("\n").map((l) => l.trim()).filter((l) => /^(fatal|error):/.test(l)).at(-1) ?? "";
  return new GitFailure("FetchFailed", `Cannot fetch: git failed${line ? `: ${printable(line)}` : ""}`);
}

function printable(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, " ").slice(0, 300);
}

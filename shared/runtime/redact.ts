/** Takes secrets out of what is about to be logged. @module */

const WORDS = ["token", "password", "passwd", "secret", "authorization", "kubeconfig", "credential", "credentials"];
const MASK = "[redacted]";
const MAX_DEPTH = 5;
const MAX_TEXT = 4096;

/** True for field names that say that their value is a secret: `token`, `clientSecret`, `api-token`, … */
export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replace(/[^a-z]/g, "");
  return WORDS.some((word) => plain.endsWith(word)) || plain.endsWith("privatekey") || plain.endsWith("keydata");
}

/** Masks credentials that are recognisable in any text: user:password in URLs, bearer and basic headers, PEM keys. */
export function redactText(text: string): string {
  const short = text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) + "…" : text;
  return short
    .replace(/([a-z][a-z0-9+.-]*:\/\/)[^/\s@"']+@/gi, `$1${MASK}@`)
    .replace(/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${MASK}`)
    .replace(/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, MASK);
}

/** A copy of a logged value without secrets; errors become text, bigints digits. Cyclic and deep values are cut. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return redactText(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "function" || typeof value === "symbol") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Error) return redactText(describeError(value));
  if (depth >= MAX_DEPTH) return "…";
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => redact(item, depth + 1));
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return Object.fromEntries(
    Object.entries(value).map(([name, v]) => [name, isSecretName(name) ? MASK : redact(v, depth + 1)]),
  );
}

/** Message of an error with those of its causes. */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  for (let e = error, i = 0; e !== undefined && e !== null && i < 5; i++) {
    const text = e instanceof Error ? (e.message || e.name) : String(e);
    // A wrapped message often quotes its cause already.
    if (!parts.some((part) => part.includes(text))) parts.push(text);
    e = e instanceof Error ? e.cause : undefined;
  }
  return parts.join(": ");
}

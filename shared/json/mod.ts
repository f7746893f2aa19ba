/**
 * JSON as Kubernetes means it: integers keep their value up to 64 bits. A number is a JS `number` unless it is an
 * integer outside ±(2^53−1): then it is a `bigint`. Nothing else in Convoy may parse or print API objects.
 *
 * @module
 */

/** Any JSON value. `bigint` occurs only for integers that a `number` cannot hold exactly. */
export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | JsonObject;

/** A JSON object. Keys come from users: never index it with a key such as `__proto__` without {@link setKey}. */
export type JsonObject = { [key: string]: JsonValue };

declare global {
  interface JSON {
    /** ES2026 `JSON.rawJSON`: a value that is printed as the given text. */
    rawJSON(text: string): unknown;
  }
}

const LONG_NUMBER = /\d{16}/;
const INTEGER = /^-?\d+$/;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/**
 * Parses JSON text. An integer beyond ±(2^53−1) that fits 64 bits becomes a `bigint`; one beyond 64 bits is rounded to a
 * float, as Go's decoder into `interface{}` does in Kubernetes.
 *
 * @throws SyntaxError when the text is not JSON.
 */
export function parseJson(text: string): JsonValue {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  return JSON.parse(
    text,
    function (this: unknown, _key: string, value: unknown, ctx?: { source?: string }) {
      if (
        typeof value === "number" && ctx?.source !== undefined && !Number.isSafeInteger(value) &&
        INTEGER.test(ctx.source)
      ) {
        const exact = BigInt(ctx.source);
        if (exact >= INT64_MIN && exact <= INT64_MAX) return exact;
      }
      return value;
    } as (key: string, value: unknown) => unknown,
  );
}

/** Prints a value as JSON; `bigint`s as plain digits. `indent` as for `JSON.stringify`. */
export function stringifyJson(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    // Only a bigint makes JSON.stringify throw on plain data; the replacer is too slow to be the usual way.
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, (_key, v) => typeof v === "bigint" ? JSON.rawJSON(v.toString()) : v, indent);
  }
}

/** Sets a key that may come from a user; `__proto__` becomes an own key instead of a prototype. */
export function setKey(object: JsonObject, key: string, value: JsonValue): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[key] = value;
  }
}

/** True for a JSON object (not null, not a list). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A deep copy of plain JSON data. */
export function cloneJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map(cloneJson) as T;
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const key of Object.keys(value)) setKey(out, key, cloneJson(value[key]) as JsonValue);
  return out as T;
}

/** Deep equality of JSON data; key order of objects does not count; absent and `undefined` are equal. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((v, i) => equalJson(v, b[i]));
  }
  const x = a as Record<string, unknown>, y = b as Record<string, unknown>;
  const keys = Object.keys(x).filter((k) => x[k] !== undefined);
  if (keys.length !== Object.keys(y).filter((k) => y[k] !== undefined).length) return false;
  return keys.every((k) => Object.hasOwn(y, k) && equalJson(x[k], y[k]));
}

/** JSON with sorted keys and no spaces: the form that digests are taken of. */
export function canonicalJson(value: unknown): string {
  return stringifyJson(sortKeys(value));
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const key of Object.keys(value).sort()) {
    if (value[key] !== undefined) setKey(out, key, sortKeys(value[key]) as JsonValue);
  }
  return out;
}

/**
 * Path elements. Inside the library an element is its canonical encoded key, the one fieldsV1 uses: `f:NAME`,
 * `k:{"a":1}` (names sorted), `v:1`, `i:0`; so that sets are plain maps on strings.
 *
 * @module
 */
import type { Obj, Value } from "./contract.ts";
import { goNumber, goQuote } from "./go_text.ts";
import { compareBytes, compareValue, isObj } from "./value.ts";

/** An element taken apart. */
export type PathElement =
  | { kind: "field"; name: string }
  | { kind: "key"; fields: [name: string, value: Value][] }
  | { kind: "value"; value: Value }
  | { kind: "index"; index: number };

/** Not a path element: the fieldsV1 that has it cannot be decoded (rule 9). */
export class PathElementError extends Error {
  override readonly name = "PathElementError";
}

/** Text that JSON writes as it is: the usual case, and far cheaper. */
const PLAIN = /^[ !#-%'-;=?-[\]-~]*$/;
const NEEDS_ESCAPE = /[<>&\u2028\u2029]/g;

function encodeString(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  // JSON.stringify shortens \b and \f; the real server does not.
  return JSON.stringify(text).replace(NEEDS_ESCAPE, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .replace(/\\(?:[bf]|.)/g, (c) => c === "\\b" ? "\\u0008" : c === "\\f" ? "\\u000c" : c);
}

/** JSON as Go's encoder writes it with HTML escaping (rule 7); sorted keys, exact integers. */
export function encodeJson(value: Value): string {
  switch (typeof value) {
    case "string":
      return encodeString(value);
    case "number":
      return Object.is(value, -0) ? "0" : JSON.stringify(value);
    case "bigint":
    case "boolean":
      return String(value);
  }
  if (value === null) return "null";
  if (Array.isArray(value)) return `[${value.map(encodeJson).join(",")}]`;
  return `{${Object.keys(value).sort(compareBytes).map((k) => `${encodeJson(k)}:${encodeJson(value[k]!)}`).join(",")}}`;
}

/** Encodes a field name. */
export function fieldElement(name: string): string {
  return "f:" + name;
}

/** Encodes a set item. */
export function valueElement(value: Value): string {
  return "v:" + encodeJson(value);
}

/** Encodes the keys of a list-map item; `fields` must be sorted by name. */
export function keyElement(fields: readonly [name: string, value: Value][]): string {
  let out = "k:{";
  for (let i = 0; i < fields.length; i++) {
    out += (i > 0 ? "," : "") + encodeString(fields[i]![0]) + ":" + encodeJson(fields[i]![1]);
  }
  return out + "}";
}

/** Takes a canonical element apart. */
export function parseElement(element: string): PathElement {
  const payload = element.slice(2);
  switch (element[0]) {
    case "f":
      return { kind: "field", name: payload };
    case "v":
      return { kind: "value", value: exactJson(payload) };
    case "i":
      return { kind: "index", index: Number(payload) };
    default: {
      const object = exactJson(payload) as Obj;
      return { kind: "key", fields: Object.keys(object).sort(compareBytes).map((k) => [k, object[k]!]) };
    }
  }
}

/** Canonical elements by what was read; bounded, because the text comes from clients. */
const canonical = new Map<string, string | undefined>();
const CANONICAL_MAX = 20_000;

/**
 * Reads an element from a fieldsV1 key. `undefined` = a prefix of a later version: to be ignored (rule 9).
 *
 * @throws PathElementError
 */
export function readElement(key: string): string | undefined {
  if (key.startsWith("f:")) return key;
  if (canonical.has(key)) return canonical.get(key);
  const element = canonicalElement(key);
  if (canonical.size >= CANONICAL_MAX) canonical.clear();
  canonical.set(key, element);
  return element;
}

function canonicalElement(key: string): string | undefined {
  // Go counts bytes: "é" alone has two, but its second is no colon either.
  if (key.length < 2) throw new PathElementError(`Cannot read path element "${key}": it must have 2 characters`);
  if (key[1] !== ":") throw new PathElementError(`Cannot read path element "${key}": the colon is missing`);
  const payload = key.slice(2);
  switch (key[0]) {
    case "v":
      return valueElement(readJson(key, cutJson(payload)));
    case "k": {
      const value = readJson(key, cutJson(payload));
      if (!isObj(value)) throw new PathElementError(`Cannot read path element "${key}": not an object`);
      return keyElement(Object.keys(value).sort(compareBytes).map((k) => [k, value[k]!]));
    }
    case "i":
      if (!/^[+-]?\d+$/.test(payload)) throw new PathElementError(`Cannot read path element "${key}": no index`);
      return "i:" + Number(payload);
    default:
      return undefined;
  }
}

function readJson(key: string, text: string): Value {
  try {
    return exactJson(text);
  } catch {
    throw new PathElementError(`Cannot read path element "${key}": not JSON`);
  }
}

/** The first JSON value of the text: upstream ignores what follows it (rule 9). */
function cutJson(text: string): string {
  const scalar = /^\s*("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/.exec(text);
  if (scalar) return scalar[1]!;
  let depth = 0, quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c === "\\") i++;
      else if (c === '"') quoted = false;
    } else if (c === '"') quoted = true;
    else if (c === "{" || c === "[") depth++;
    else if ((c === "}" || c === "]") && --depth === 0) return text.slice(0, i + 1);
  }
  return text;
}

/** `JSON.parse` that keeps 64-bit integers exact (rule 4). */
export function exactJson(text: string): Value {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  return JSON.parse(
    text,
    ((_key: string, value: unknown, context?: { source?: string }) => {
      if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
      const source = context?.source;
      if (source === undefined || !/^-?\d+$/.test(source)) return value;
      const exact = BigInt(source);
      return exact >= -(2n ** 63n) && exact < 2n ** 63n ? exact : value;
    }) as (key: string, value: unknown) => unknown,
  );
}

const KIND_ORDER = { f: 0, k: 1, v: 2, i: 3 } as const;

/** Element order: field < key < value < index (rule 1). */
export function compareElements(a: string, b: string): number {
  const r = KIND_ORDER[a[0] as "f"] - KIND_ORDER[b[0] as "f"];
  if (r !== 0) return r;
  if (a[0] === "f") return compareBytes(a, b);
  const x = parseElement(a), y = parseElement(b);
  if (x.kind === "value" && y.kind === "value") return compareValue(x.value, y.value);
  if (x.kind === "index" && y.kind === "index") return x.index - y.index;
  if (x.kind !== "key" || y.kind !== "key") return 0;
  for (let i = 0; i < Math.min(x.fields.length, y.fields.length); i++) {
    const [name, value] = x.fields[i]!, [otherName, other] = y.fields[i]!;
    const c = compareBytes(name, otherName) || compareValue(value, other);
    if (c !== 0) return c;
  }
  return x.fields.length - y.fields.length;
}

/** Path text of one element (rule 3): `.name`, `[a="w",b=10]`, `[="a"]`, `[0]`. */
export function elementText(element: string): string {
  const e = parseElement(element);
  switch (e.kind) {
    case "field":
      return "." + e.name;
    case "key":
      return `[${e.fields.map(([name, value]) => `${name}=${valueText(value)}`).join(",")}]`;
    case "value":
      return `[=${valueText(e.value)}]`;
    case "index":
      return `[${e.index}]`;
  }
}

/** Path text: the elements' texts one after the other. */
export function pathText(path: readonly string[]): string {
  let out = "";
  for (const element of path) out += elementText(element);
  return out;
}

function valueText(value: Value): string {
  if (typeof value === "string") return goQuote(value);
  if (typeof value === "number" || typeof value === "bigint") return goNumber(value);
  return encodeJson(value);
}

/** Plain JSON values as Go sees them: kinds, equality, order, copies, keys that come from users. @module */
import type { Obj, Value } from "./contract.ts";

/** True for a JSON object. */
export function isObj(value: Value | undefined): value is Obj {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An own property, never something inherited; `undefined` when absent. */
export function getKey(object: Obj, key: string): Value | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets a key that may come from a user; `__proto__` becomes an own key. */
export function putKey(object: Obj, key: string, value: Value): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[key] = value;
  }
}

/** A deep copy. */
export function copyValue<T extends Value>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyValue) as T;
  const out: Obj = {};
  for (const key of Object.keys(value)) putKey(out, key, copyValue((value as Obj)[key]!));
  return out as T;
}

/** True when the object has no keys. */
export function isEmptyObj(object: Obj): boolean {
  for (const key in object) if (Object.hasOwn(object, key)) return false;
  return true;
}

/** Deep equality; numbers by value (a bigint never equals a number: it is always beyond ±(2^53−1)). */
export function equalValue(a: Value | undefined, b: Value | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!equalValue(a[i], b[i])) return false;
    return true;
  }
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  for (const key of keys) if (!Object.hasOwn(b, key) || !equalValue(a[key], b[key])) return false;
  return true;
}

/** Compares strings by their UTF-8 bytes (rule 2), which is the order of code points. */
export function compareBytes(a: string, b: string): number {
  const n = Math.min(a.length, b.length);
  for (let i = 0; i < n; i++) {
    let x = a.charCodeAt(i), y = b.charCodeAt(i);
    if (x === y) continue;
    // UTF-16 units order as code points do, except that surrogates stand for code points above U+FFFF.
    if (x >= 0xd800 && y >= 0xd800) {
      x += x >= 0xe000 ? -0x800 : 0x2000;
      y += y >= 0xe000 ? -0x800 : 0x2000;
    }
    return x - y;
  }
  return a.length - b.length;
}

/** Rank of a value's type in rule 1: numbers < strings < booleans < lists < maps < null. */
function rank(value: Value): number {
  switch (typeof value) {
    case "number":
    case "bigint":
      return 0;
    case "string":
      return 1;
    case "boolean":
      return 2;
    default:
      return value === null ? 5 : Array.isArray(value) ? 3 : 4;
  }
}

/** Total order of values (rule 1). */
export function compareValue(a: Value, b: Value): number {
  const r = rank(a) - rank(b);
  if (r !== 0 || a === null || b === null) return r;
  if (typeof a === "string") return compareBytes(a, b as string);
  if (typeof a !== "object") return a < (b as typeof a) ? -1 : a > (b as typeof a) ? 1 : 0;
  if (Array.isArray(a)) {
    const list = b as Value[];
    for (let i = 0; i < Math.min(a.length, list.length); i++) {
      const c = compareValue(a[i]!, list[i]!);
      if (c !== 0) return c;
    }
    return a.length - list.length;
  }
  const x = Object.keys(a).sort(compareBytes), y = Object.keys(b as Obj).sort(compareBytes);
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const c = compareBytes(x[i]!, y[i]!) || compareValue(a[x[i]!]!, (b as Obj)[y[i]!]!);
    if (c !== 0) return c;
  }
  return x.length - y.length;
}

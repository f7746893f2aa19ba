/** Small helpers to read and fill JSON objects, and field errors in the words of the real server. @module */
import type { JsonObject, JsonValue } from "../json/mod.ts";
import type { FieldError } from "../server/contract.ts";

/** The value as an object, or undefined. */
export function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : undefined;
}

/** The object at a path, or undefined. */
export function objectAt(object: JsonObject | undefined, ...path: string[]): JsonObject | undefined {
  let at: JsonObject | undefined = object;
  for (const name of path) at = at && asObject(at[name]);
  return at;
}

/** The objects in a list field; other items are left out. */
export function objectsIn(object: JsonObject | undefined, field: string): JsonObject[] {
  const value = object?.[field];
  return Array.isArray(value) ? value.filter((v): v is JsonObject => asObject(v) !== undefined) : [];
}

/** The string in a field, or "". */
export function stringIn(object: JsonObject | undefined, field: string): string {
  const value = object?.[field];
  return typeof value === "string" ? value : "";
}

/** The number in a field, or `fallback`. */
export function numberIn(object: JsonObject | undefined, field: string, fallback = 0): number {
  const value = object?.[field];
  return typeof value === "number" ? value : fallback;
}

/** Sets a field that is absent or null. */
export function fill(object: JsonObject, field: string, value: JsonValue): void {
  if (object[field] === undefined || object[field] === null) object[field] = value;
}

/** Sets a field that is absent, null or "". */
export function fillText(object: JsonObject, field: string, value: string): void {
  if (!object[field]) object[field] = value;
}

/** The object in a field, made when absent or null; undefined when something else is there. */
export function ensureObject(object: JsonObject, field: string): JsonObject | undefined {
  fill(object, field, {});
  return asObject(object[field]);
}

/** True when two JSON values are equal, whatever the order of keys. */
export function sameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((v, i) => sameJson(v, b[i]));
  }
  const left = asObject(a);
  const right = asObject(b);
  if (!left || !right) return false;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]));
}

/** How the real server quotes a value in a message. */
export function quote(value: JsonValue | undefined): string {
  return JSON.stringify(value ?? null, (_, v) => typeof v === "bigint" ? Number(v) : v);
}

/** `Required value[: detail]`. */
export function required(field: string, detail = ""): FieldError {
  return { field, type: "FieldValueRequired", message: detail ? `Required value: ${detail}` : "Required value" };
}

/** `Invalid value: V: detail`. */
export function invalid(field: string, value: JsonValue | undefined, detail: string): FieldError {
  return { field, type: "FieldValueInvalid", message: `Invalid value: ${quote(value)}: ${detail}` };
}

/** `Forbidden: detail`. */
export function forbidden(field: string, detail: string): FieldError {
  return { field, type: "FieldValueForbidden", message: `Forbidden: ${detail}` };
}

/** `Not found: V`. */
export function notFound(field: string, value: JsonValue): FieldError {
  return { field, type: "FieldValueNotFound", message: `Not found: ${quote(value)}` };
}

/** `Duplicate value: V`. */
export function duplicate(field: string, value: JsonValue): FieldError {
  return { field, type: "FieldValueDuplicate", message: `Duplicate value: ${quote(value)}` };
}

/** `Unsupported value: V: supported values: "a", "b"`. */
export function unsupported(field: string, value: JsonValue | undefined, supported: readonly string[]): FieldError {
  const values = supported.map((v) => `"${v}"`).join(", ");
  return {
    field,
    type: "FieldValueNotSupported",
    message: `Unsupported value: ${quote(value)}: supported values: ${values}`,
  };
}

/** An error when a field differs from what it was: `field is immutable`. */
export function immutable(field: string, now: JsonValue | undefined, was: JsonValue | undefined): FieldError[] {
  return sameJson(now ?? null, was ?? null) ? [] : [invalid(field, now ?? null, "field is immutable")];
}

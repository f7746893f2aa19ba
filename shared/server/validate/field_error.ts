/** Field errors in the words of k8s.io/apimachinery/pkg/util/validation/field. @module */
import { type JsonValue, stringifyJson } from "../../json/mod.ts";
import type { FieldError } from "../contract.ts";
import { goQuote } from "../go_text.ts";

/** A value inside a message: strings quoted, numbers and booleans plain, null bare, the rest as JSON. */
export function shown(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "null";
  return typeof value === "string" ? goQuote(value) : stringifyJson(value);
}

/** `Required value[: detail]`. */
export function required(field: string, detail = ""): FieldError {
  return { field, type: "FieldValueRequired", message: detail ? `Required value: ${detail}` : "Required value" };
}

/** `Invalid value: V: detail`. */
export function invalidValue(field: string, value: JsonValue | undefined, detail: string): FieldError {
  return { field, type: "FieldValueInvalid", message: `Invalid value: ${shown(value)}: ${detail}` };
}

/** `Invalid value: detail`: the value is too big to be shown. */
export function invalidOmitted(field: string, detail: string): FieldError {
  return { field, type: "FieldValueInvalid", message: `Invalid value: ${detail}` };
}

/** A value of a wrong type. `got` is the name of its type. */
export function typeInvalid(field: string, got: string, detail: string): FieldError {
  return { field, type: "FieldValueTypeInvalid", message: `Invalid value: ${goQuote(got)}: ${detail}` };
}

/** `Unsupported value: V: supported values: …`. */
export function notSupported(field: string, value: JsonValue | undefined, supported: readonly string[]): FieldError {
  const list = supported.length ? `: supported values: ${supported.map(goQuote).join(", ")}` : "";
  return { field, type: "FieldValueNotSupported", message: `Unsupported value: ${shown(value)}${list}` };
}

/** `Forbidden: detail`. */
export function forbiddenField(field: string, detail: string): FieldError {
  return { field, type: "FieldValueForbidden", message: `Forbidden: ${detail}` };
}

/** `Duplicate value: V`. */
export function duplicate(field: string, value: JsonValue): FieldError {
  return { field, type: "FieldValueDuplicate", message: `Duplicate value: ${shown(value)}` };
}

/** `Too long: may not be more than N bytes`. */
export function tooLongBytes(field: string, max: number): FieldError {
  return { field, type: "FieldValueTooLong", message: `Too long: may not be more than ${max} bytes` };
}

/** `Too many: N: must have at most M items`. */
export function tooMany(field: string, actual: number, max: number): FieldError {
  const items = max === 1 ? "item" : "items";
  return {
    field,
    type: "FieldValueTooMany",
    message: `Too many: ${actual}: must have at most ${max} ${items}`,
  };
}

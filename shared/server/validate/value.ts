/** Checks of one value that look at nothing below it: enum, bounds, lengths, pattern, format. @module */
import { RE2JS } from "re2js";
import { equalJson, isObject, type JsonValue, stringifyJson } from "../../json/mod.ts";
import type { OpenApiSchema } from "../../ssa/contract.ts";
import type { FieldError } from "../contract.ts";
import { invalidValue, notSupported, tooLongBytes, tooMany } from "./field_error.ts";
import { matchesFormat } from "./formats.ts";

/** JSON type in OpenAPI's words. An integer is a `bigint`, or a number that Go would read as one. */
export function typeName(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  switch (typeof value) {
    case "string":
    case "boolean":
      return typeof value;
    case "bigint":
      return "integer";
    case "number":
      return Number.isSafeInteger(value) ? "integer" : "number";
    default:
      return "object";
  }
}

const patterns = new Map<string, RE2JS | undefined>();

/** RE2 has no backtracking, so a pattern costs linear time; one that does not compile is no constraint. */
function compiled(pattern: string): RE2JS | undefined {
  if (patterns.has(pattern)) return patterns.get(pattern);
  let re: RE2JS | undefined;
  try {
    re = RE2JS.compile(pattern);
  } catch {
    re = undefined;
  }
  if (patterns.size > 5_000) patterns.clear();
  patterns.set(pattern, re);
  return re;
}

/** Whether `pattern` is a regular expression that RE2 accepts. */
export function isPattern(pattern: string): boolean {
  return compiled(pattern) !== undefined;
}

const INT_RANGES: Record<string, [number, number]> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
};

/** Appends the errors of `value` itself. */
export function checkValue(schema: OpenApiSchema, value: JsonValue, path: string, errors: FieldError[]): void {
  if (schema.enum && !schema.enum.some((e) => equalJson(e, value))) {
    errors.push(notSupported(path, value, schema.enum.map((e) => typeof e === "string" ? e : stringifyJson(e))));
  }
  if (typeof value === "string") checkString(schema, value, path, errors);
  else if (typeof value === "number" || typeof value === "bigint") checkNumber(schema, value, path, errors);
  else if (Array.isArray(value)) checkList(schema, value, path, errors);
  else if (isObject(value)) {
    const size = Object.keys(value).length;
    if (schema.minProperties !== undefined && size < schema.minProperties) {
      errors.push(invalidValue(path, value, `${path} in body should have at least ${schema.minProperties} properties`));
    }
    if (schema.maxProperties !== undefined && size > schema.maxProperties) {
      errors.push(tooMany(path, size, schema.maxProperties));
    }
  }
}

function checkString(schema: OpenApiSchema, value: string, path: string, errors: FieldError[]): void {
  if (schema.minLength !== undefined || schema.maxLength !== undefined) {
    // Go counts runes.
    const length = [...value].length;
    if (schema.minLength !== undefined && length < schema.minLength) {
      errors.push(invalidValue(path, value, `${path} in body should be at least ${schema.minLength} chars long`));
    }
    if (schema.maxLength !== undefined && length > schema.maxLength) errors.push(tooLongBytes(path, schema.maxLength));
  }
  if (schema.pattern !== undefined) {
    const re = compiled(schema.pattern);
    if (re && !re.matcher(value).find()) {
      errors.push(invalidValue(path, value, `${path} in body should match '${schema.pattern}'`));
    }
  }
  if (schema.format && schema.type === "string" && !matchesFormat(schema.format, value)) {
    const detail = `${path} in body must be of type ${schema.format}: ${JSON.stringify(value)}`;
    errors.push(invalidValue(path, value, detail));
  }
}

function checkNumber(schema: OpenApiSchema, value: number | bigint, path: string, errors: FieldError[]): void {
  const range = schema.type === "integer" && schema.format ? INT_RANGES[schema.format] : undefined;
  if (range && (value < range[0] || value > range[1])) {
    errors.push({
      field: "<nil>",
      type: "FieldValueInvalid",
      message: `Invalid value: "": Checked value must be of type integer with format ${schema.format} in ${path}`,
    });
  }
  const { minimum, maximum, multipleOf } = schema;
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum)) {
    const words = schema.exclusiveMaximum ? "less than" : "less than or equal to";
    errors.push(invalidValue(path, value, `${path} in body should be ${words} ${maximum}`));
  }
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum)) {
    const words = schema.exclusiveMinimum ? "greater than" : "greater than or equal to";
    errors.push(invalidValue(path, value, `${path} in body should be ${words} ${minimum}`));
  }
  if (multipleOf !== undefined && multipleOf > 0 && !isMultiple(value, multipleOf)) {
    errors.push(invalidValue(path, value, `${path} in body should be a multiple of ${multipleOf}`));
  }
}

function isMultiple(value: number | bigint, factor: number): boolean {
  if (typeof value === "bigint") return Number.isInteger(factor) && value % BigInt(factor) === 0n;
  const quotient = value / factor;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
}

function checkList(schema: OpenApiSchema, value: JsonValue[], path: string, errors: FieldError[]): void {
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    errors.push(invalidValue(path, value.length, `${path} in body should have at least ${schema.minItems} items`));
  }
  if (schema.maxItems !== undefined && value.length > schema.maxItems) {
    errors.push(tooMany(path, value.length, schema.maxItems));
  }
  if (schema.uniqueItems && new Set(value.map((v) => stringifyJson(v))).size < value.length) {
    errors.push(invalidValue(path, value, `${path} in body shouldn't contain duplicates`));
  }
}

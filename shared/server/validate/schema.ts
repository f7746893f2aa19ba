/**
 * Validation of a value by its schema, with the messages of kube-apiserver for custom resources. On an update what did
 * not change is not judged again (ratcheting), so that a stricter schema does not block unrelated writes.
 *
 * @module
 */
import { equalJson, isObject, type JsonObject, type JsonValue, stringifyJson } from "../../json/mod.ts";
import type { OpenApiSchema, SchemaNode } from "../../ssa/contract.ts";
import type { FieldError } from "../contract.ts";
import { child, index } from "../schema/path.ts";
import { duplicate, invalidOmitted, required, typeInvalid } from "./field_error.ts";
import { checkValue, typeName } from "./value.ts";

/** Errors of one object are bounded: a hostile body must not make a huge answer. */
const MAX_ERRORS = 100;

/** Validates `value` at `path`; `old` is the value before, for ratcheting. */
export function validateBySchema(
  node: SchemaNode,
  value: JsonValue | undefined,
  old?: JsonValue,
  path = "",
): FieldError[] {
  const errors: FieldError[] = [];
  walk(node, value, old, path, errors);
  return errors;
}

function walk(
  node: SchemaNode,
  value: JsonValue | undefined,
  old: JsonValue | undefined,
  path: string,
  errors: FieldError[],
): void {
  if (value === undefined || errors.length >= MAX_ERRORS) return;
  if (old !== undefined && path !== "" && equalJson(value, old)) return;
  const { source } = node;
  if (!checkType(node, value, path, errors)) return;
  if (value === null) return;
  checkValue(source, value, path, errors);
  checkCombinators(source, value, path, errors);
  if (Array.isArray(value)) walkList(node, value, old, path, errors);
  else if (isObject(value)) walkObject(node, value, isObject(old) ? old : undefined, path, errors);
}

/** Reports a wrong type; false when nothing below needs looking at. */
function checkType(node: SchemaNode, value: JsonValue, path: string, errors: FieldError[]): boolean {
  const { source } = node;
  const types = source["x-kubernetes-int-or-string"] ? ["integer", "string"] : source.type ? [source.type] : [];
  if (types.length === 0) return true;
  const wrong = (wanted: string, got: string) => {
    errors.push(typeInvalid(path, got, `${path} in body must be of type ${wanted}: ${JSON.stringify(got)}`));
    return false;
  };
  if (value === null) return node.nullable ? true : wrong(types.join(","), "null");
  const got = typeName(value);
  const format = source["x-kubernetes-int-or-string"] ? undefined : source.format;
  if (types.includes(got) || (got === "integer" && types.includes("number"))) return true;
  if (got !== "string" && got !== "array" && format) wrong(format, got === "number" ? "float64" : "");
  else wrong(types.join(","), got);
  if (got === "number" && types.includes("integer")) {
    const kind = format ? `with format ${format}` : "(default format)";
    errors.push({
      field: "<nil>",
      type: "FieldValueInvalid",
      message: `Invalid value: "": Checked value must be of type integer ${kind} in ${path}`,
    });
  }
  return false;
}

function walkList(
  node: SchemaNode,
  value: JsonValue[],
  old: JsonValue | undefined,
  path: string,
  errors: FieldError[],
): void {
  if (node.element) {
    const before = Array.isArray(old) && node.listType === "map" ? indexByKeys(node, old) : undefined;
    value.forEach((item, i) => {
      walk(node.element!, item, before?.get(keyText(node, item)), index(path, i), errors);
    });
  }
  if (node.listType === "set" || node.listType === "map") checkDuplicates(node, value, path, errors);
}

function indexByKeys(node: SchemaNode, list: JsonValue[]): Map<string, JsonValue> {
  const map = new Map<string, JsonValue>();
  for (const item of list) map.set(keyText(node, item), item);
  return map;
}

function keyText(node: SchemaNode, item: JsonValue): string {
  return isObject(item) ? stringifyJson((node.keys ?? []).map((k) => item[k] ?? null)) : "";
}

function checkDuplicates(node: SchemaNode, value: JsonValue[], path: string, errors: FieldError[]): void {
  const seen = new Set<string>();
  value.forEach((item, i) => {
    let text: string;
    let shown: JsonValue = item;
    if (node.listType === "map") {
      if (!isObject(item)) return;
      const keys: JsonObject = {};
      for (const k of [...(node.keys ?? [])].sort()) if (item[k] !== undefined) keys[k] = item[k]!;
      text = stringifyJson(keys);
      shown = keys;
    } else text = stringifyJson(item);
    if (seen.has(text)) errors.push(duplicate(index(path, i), shown));
    else seen.add(text);
  });
}

function walkObject(
  node: SchemaNode,
  value: JsonObject,
  old: JsonObject | undefined,
  path: string,
  errors: FieldError[],
): void {
  for (const name of node.required ?? []) {
    if (!Object.hasOwn(value, name)) errors.push(required(child(path, name)));
  }
  for (const key of Object.keys(value)) {
    // ObjectMeta has a validation of its own.
    if (path === "" && key === "metadata") continue;
    const field = node.fields?.get(key) ?? node.element;
    if (field) walk(field, value[key], old?.[key], child(path, key), errors);
  }
}

/** `allOf`, `anyOf`, `oneOf`, `not`: value validations only, as structural schemas allow. */
function checkCombinators(schema: OpenApiSchema, value: JsonValue, path: string, errors: FieldError[]): void {
  // int-or-string carries an anyOf that only repeats its type.
  if (schema["x-kubernetes-int-or-string"]) return;
  const name = JSON.stringify(path);
  for (const part of schema.allOf ?? []) if (!part.$ref) errors.push(...rawErrors(part, value, path));
  if (schema.anyOf?.length) {
    const tries = schema.anyOf.map((part) => rawErrors(part, value, path));
    if (!tries.some((e) => e.length === 0)) {
      errors.push(invalidOmitted(path, `${name} must validate at least one schema (anyOf)`), ...best(tries));
    }
  }
  if (schema.oneOf?.length) {
    const tries = schema.oneOf.map((part) => rawErrors(part, value, path));
    const valid = tries.filter((e) => e.length === 0).length;
    if (valid !== 1) {
      const found = valid === 0 ? "Found none valid" : `Found ${valid} valid alternatives`;
      errors.push(
        invalidOmitted(path, `${name} must validate one and only one schema (oneOf). ${found}`),
        ...(valid === 0 ? best(tries) : []),
      );
    }
  }
  if (schema.not && rawErrors(schema.not, value, path).length === 0) {
    errors.push(invalidOmitted(path, `${name} must not validate the schema (not)`));
  }
}

/** The alternative that comes nearest. */
function best(tries: FieldError[][]): FieldError[] {
  return tries.reduce((a, b) => b.length < a.length ? b : a);
}

/** Errors of a value by a schema inside a combinator, which has no compiled node. */
function rawErrors(schema: OpenApiSchema, value: JsonValue, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (schema.type) {
    const got = typeName(value);
    if (got !== schema.type && !(got === "integer" && schema.type === "number")) {
      return [typeInvalid(path, got, `${path} in body must be of type ${schema.type}: ${JSON.stringify(got)}`)];
    }
  }
  checkValue(schema, value, path, errors);
  checkCombinators(schema, value, path, errors);
  if (isObject(value)) {
    for (const name of schema.required ?? []) {
      if (!Object.hasOwn(value, name)) errors.push(required(child(path, name)));
    }
    for (const [key, part] of Object.entries(schema.properties ?? {})) {
      if (Object.hasOwn(value, key)) errors.push(...rawErrors(part, value[key]!, child(path, key)));
    }
    if (isObject(schema.additionalProperties)) {
      for (const key of Object.keys(value)) {
        if (!schema.properties || !Object.hasOwn(schema.properties, key)) {
          errors.push(...rawErrors(schema.additionalProperties as OpenApiSchema, value[key]!, child(path, key)));
        }
      }
    }
  } else if (Array.isArray(value) && schema.items) {
    value.forEach((item, i) => errors.push(...rawErrors(schema.items!, item, index(path, i))));
  }
  return errors;
}

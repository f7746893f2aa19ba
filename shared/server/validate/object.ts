/** Validation of a whole object, beyond its metadata. @module */
import { isObject, type JsonObject, type JsonValue } from "../../json/mod.ts";
import type { SchemaNode } from "../../ssa/mod.ts";
import type { FieldError } from "../contract.ts";
import type { Served } from "../registry.ts";
import { child, index } from "../schema/path.ts";
import { validateCel } from "./cel.ts";
import { crdErrors } from "./crd.ts";
import { invalidValue, notSupported, required } from "./field_error.ts";
import { validateBySchema } from "./schema.ts";

/** Errors of an object of a kind; `old` is undefined on create. */
export function validateObject(served: Served, object: JsonObject, old: JsonObject | undefined): FieldError[] {
  const { kind, version } = served;
  const errors: FieldError[] = [];
  const strategy = kind.def.strategy;
  if (kind.custom) {
    if (object.kind !== kind.def.kind) return [invalidValue("kind", object.kind, `must be ${kind.def.kind}`)];
    errors.push(...validateBySchema(version.node, object, old));
    // Rules are written for values that fit the schema.
    if (errors.length === 0) errors.push(...validateCel(version.node, object, old));
    errors.push(...strategy?.validate?.(object, old) ?? []);
    return errors;
  }
  if (kind.def.group === "apiextensions.k8s.io" && kind.def.kind === "CustomResourceDefinition") {
    errors.push(...crdErrors(object, old));
  }
  errors.push(...strategy?.validate?.(object, old) ?? []);
  const known = new Set(errors.map((e) => e.field));
  for (const error of builtinErrors(version.node, object)) if (!known.has(error.field)) errors.push(error);
  return errors;
}

/** What the schema of a built-in kind says that its server checks too: required fields, enums. */
function builtinErrors(node: SchemaNode, object: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  for (const key of Object.keys(object)) {
    const field = node.fields?.get(key);
    if (field && key !== "metadata") walk(field, object[key]!, key, errors);
  }
  return errors;
}

function walk(node: SchemaNode, value: JsonValue, path: string, errors: FieldError[]): void {
  if (Array.isArray(value)) {
    if (node.element) value.forEach((v, i) => walk(node.element!, v, index(path, i), errors));
  } else if (isObject(value)) {
    for (const name of node.required ?? []) {
      const v = Object.hasOwn(value, name) ? value[name] : undefined;
      if (v === undefined || v === null || (v === "" && mayNotBeEmpty(node, name))) {
        errors.push(required(child(path, name)));
      }
    }
    for (const key of Object.keys(value)) {
      const field = node.fields?.get(key) ?? node.element;
      if (field) walk(field, value[key]!, child(path, key), errors);
    }
  } else if (node.source.enum && typeof value === "string" && value !== "" && !node.source.enum.includes(value)) {
    errors.push(
      notSupported(path, value, node.source.enum.filter((e): e is string => typeof e === "string" && e !== "")),
    );
  }
}

/** A required text without a default of its own. */
function mayNotBeEmpty(node: SchemaNode, name: string): boolean {
  const field = node.fields?.get(name);
  return field?.kind === "scalar" && field.scalar === "string" &&
    (field.default === undefined || field.default === "") &&
    (name === "name" || name === "image" || name === "type" || name === "key" || name === "kind");
}

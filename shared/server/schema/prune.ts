/** Pruning: fields that a schema does not declare, and nulls that it does not allow, are dropped. @module */
import { isObject, type JsonValue } from "../../json/mod.ts";
import type { SchemaNode } from "../../ssa/contract.ts";
import { child, index } from "./path.ts";

/** Keys that an embedded resource always keeps. */
const EMBEDDED = new Set(["apiVersion", "kind", "metadata"]);

/**
 * Deletes undeclared fields from `value` in place. Below `x-kubernetes-preserve-unknown-fields` they stay, but declared
 * fields there are still walked. Paths of what was dropped go to `dropped`, sorted by walk order.
 */
export function prune(node: SchemaNode | undefined, value: JsonValue, dropped: string[], path = ""): void {
  if (!node || node.kind === "any" || typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    if (node.element) value.forEach((v, i) => prune(node.element, v, dropped, index(path, i)));
    return;
  }
  if (node.closed) {
    for (const key of Object.keys(value)) {
      delete value[key];
      dropped.push(child(path, key));
    }
    return;
  }
  if (node.kind === "map") {
    for (const key of Object.keys(value)) prune(node.element, value[key]!, dropped, child(path, key));
    return;
  }
  if (node.kind !== "struct") return;
  const embedded = node.source["x-kubernetes-embedded-resource"] === true;
  for (const key of Object.keys(value)) {
    const field = node.fields?.get(key);
    if (field) prune(field, value[key]!, dropped, child(path, key));
    else if (node.element) prune(node.element, value[key]!, dropped, child(path, key));
    else if (!node.preserveUnknown && !(embedded && EMBEDDED.has(key))) {
      delete value[key];
      dropped.push(child(path, key));
    }
  }
}

/** Deletes nulls at fields that are neither nullable nor have a default (ssa.md rule 30: POST, PUT and patches). */
export function pruneNulls(node: SchemaNode | undefined, value: JsonValue): void {
  if (!node || typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    if (node.element) { for (const v of value) pruneNulls(node.element, v); }
    return;
  }
  if (!isObject(value)) return;
  for (const key of Object.keys(value)) {
    const field = node.fields?.get(key) ?? node.element;
    if (!field) continue;
    if (value[key] === null) {
      if (refusesNull(field) && field.default === undefined) delete value[key];
    } else pruneNulls(field, value[key]!);
  }
}

/** A node below preserve-unknown without a type takes null as a value. */
export function refusesNull(node: SchemaNode): boolean {
  return !node.nullable && !(node.kind === "any" && node.source.type === undefined);
}

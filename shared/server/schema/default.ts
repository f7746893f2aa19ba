/** Defaulting by schema, as apiextensions does it. @module */
import { cloneJson, isObject, type JsonValue, setKey } from "../../json/mod.ts";
import type { SchemaNode } from "../../ssa/contract.ts";
import { refusesNull } from "./prune.ts";

/** Whether anything below a node has a default: most walks end at once. Cached, as schemas never change. */
const hasDefaults = new WeakMap<SchemaNode, boolean>();

function worthIt(node: SchemaNode): boolean {
  const known = hasDefaults.get(node);
  if (known !== undefined) return known;
  // A recursive schema counts as worth walking until proved otherwise.
  hasDefaults.set(node, true);
  let found = node.element !== undefined && (node.element.default !== undefined || worthIt(node.element));
  if (!found) {
    for (const field of node.fields?.values() ?? []) {
      if (field.default !== undefined || worthIt(field)) {
        found = true;
        break;
      }
    }
  }
  hasDefaults.set(node, found);
  return found;
}

/** Fills absent fields with their defaults, in place; a null at a non-nullable field with a default counts as absent. */
export function applyDefaults(node: SchemaNode | undefined, value: JsonValue): void {
  if (!node || typeof value !== "object" || value === null || !worthIt(node)) return;
  if (Array.isArray(value)) {
    const item = node.element;
    if (!item) return;
    for (let i = 0; i < value.length; i++) {
      if (value[i] === null && item.default !== undefined && refusesNull(item)) {
        value[i] = cloneJson(item.default) as JsonValue;
      }
      applyDefaults(item, value[i]!);
    }
    return;
  }
  if (!isObject(value)) return;
  for (const [key, field] of node.fields ?? []) {
    if (field.default === undefined) continue;
    const has = Object.hasOwn(value, key);
    if (!has || (value[key] === null && refusesNull(field))) setKey(value, key, cloneJson(field.default) as JsonValue);
  }
  for (const key of Object.keys(value)) {
    const field = node.fields?.get(key);
    if (field) applyDefaults(field, value[key]!);
    else if (node.element) {
      if (value[key] === null && node.element.default !== undefined && refusesNull(node.element)) {
        setKey(value, key, cloneJson(node.element.default) as JsonValue);
      }
      applyDefaults(node.element, value[key]!);
    }
  }
}

/** Test support: what an API server does to a body by schema. Not exported from mod.ts. @module */
import type { Obj, SchemaNode, Value } from "./contract.ts";
import { childOf } from "./schema.ts";
import { copyValue, getKey, isObj, putKey } from "./value.ts";

/** RFC 7396. */
export function mergePatch(target: Obj, patch: Obj): Obj {
  const out: Obj = { ...target };
  for (const key of Object.keys(patch)) {
    const value = patch[key]!;
    const old = getKey(out, key);
    if (value === null) delete out[key];
    else putKey(out, key, isObj(value) ? mergePatch(isObj(old) ? old : {}, value) : value);
  }
  return out;
}

/** Drops fields that the schema does not declare. */
export function pruneObject(node: SchemaNode, object: Obj): Obj {
  const out: Obj = {};
  for (const key of Object.keys(object)) {
    const child = node.closed ? undefined : childOf(node, key);
    if (child) putKey(out, key, pruneValue(child, object[key]!));
  }
  return out;
}

function pruneValue(node: SchemaNode, value: Value): Value {
  if (node.kind === "any") return value;
  if (Array.isArray(value)) return node.kind === "list" ? value.map((v) => pruneValue(node.element!, v)) : value;
  return isObj(value) && node.kind !== "scalar" ? pruneObject(node, value) : value;
}

/** Defaults in place; `dropNulls`: nulls of non-nullable fields go first, as in POST and PUT. */
export function fill(node: SchemaNode, value: Value, dropNulls: boolean): void {
  if (Array.isArray(value)) {
    if (node.kind === "list") value.forEach((v) => fill(node.element!, v, dropNulls));
    return;
  }
  if (!isObj(value) || node.kind === "scalar" || node.kind === "any") return;
  for (const key of Object.keys(value)) {
    const child = childOf(node, key);
    if (value[key] === null && child && !child.nullable && (dropNulls || child.default !== undefined)) {
      delete value[key];
    }
  }
  for (const [key, child] of node.fields ?? []) {
    if (!Object.hasOwn(value, key) && child.default !== undefined) putKey(value, key, copyValue(child.default));
  }
  for (const key of Object.keys(value)) {
    const child = childOf(node, key);
    if (child) fill(child, value[key]!, dropNulls);
  }
}

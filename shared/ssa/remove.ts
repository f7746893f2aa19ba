/** Takes paths out of a value, or takes a value down to some paths. @module */
import type { Obj, SchemaNode, Value } from "./contract.ts";
import type { FieldSet } from "./field_set.ts";
import { itemElement } from "./list_items.ts";
import { fieldElement } from "./path_element.ts";
import { childOf } from "./schema.ts";
import { isEmptyObj, isObj, putKey } from "./value.ts";

/** What stands for a container that removal emptied; `path` leads to it. */
export type WhenEmptied = (path: readonly string[], empty: Obj | Value[]) => Value;

/**
 * The object without the members of `paths`. Unchanged subtrees are shared. Removing below an atomic value removes all
 * of it.
 */
export function removeItems(node: SchemaNode, object: Obj, paths: FieldSet, whenEmptied: WhenEmptied): Obj {
  return new Remover(whenEmptied).map(node, object, paths) ?? {};
}

class Remover {
  private readonly path: string[] = [];
  constructor(private readonly whenEmptied: WhenEmptied) {}

  private value(node: SchemaNode | undefined, value: Value, paths: FieldSet): Value {
    if (!node || node.kind === "scalar") return value;
    if (isObj(value) && node.kind !== "list") {
      return this.map(node, value, paths) ?? this.whenEmptied(this.path, {});
    }
    if (Array.isArray(value) && node.kind !== "map" && node.kind !== "struct") {
      return this.list(node, value, paths) ?? this.whenEmptied(this.path, []);
    }
    return value;
  }

  map(node: SchemaNode, map: Obj, paths: FieldSet): Obj | undefined {
    if (node.atomic) return undefined;
    const out: Obj = {};
    for (const key of Object.keys(map)) {
      const element = fieldElement(key);
      const at = paths.nodes.get(element);
      if (at?.member) continue;
      putKey(out, key, at?.below ? this.below(element, childOf(node, key), map[key]!, at.below) : map[key]!);
    }
    return isEmptyObj(out) ? undefined : out;
  }

  private list(node: SchemaNode, list: Value[], paths: FieldSet): Value[] | undefined {
    if (node.kind === "any" || node.listType === "atomic") return undefined;
    const out: Value[] = [];
    for (const item of list) {
      const element = itemElement(node, item);
      const at = paths.nodes.get(element);
      if (at?.member) continue;
      out.push(at?.below ? this.below(element, node.element, item, at.below) : item);
    }
    return out.length === 0 ? undefined : out;
  }

  private below(element: string, node: SchemaNode | undefined, value: Value, paths: FieldSet): Value {
    this.path.push(element);
    const out = this.value(node, value, paths);
    this.path.pop();
    return out;
  }
}

/**
 * The part of an object that `paths` own: what an applier's own configuration would look like. Items of list maps keep
 * the fields that identify them only if those are owned, as upstream's extraction does.
 */
export function extractItems(node: SchemaNode, object: Obj, paths: FieldSet): Obj {
  return extractMap(node, object, paths);
}

function extractMap(node: SchemaNode, map: Obj, paths: FieldSet): Obj {
  const out: Obj = {};
  for (const key of Object.keys(map)) {
    const at = paths.nodes.get(fieldElement(key));
    if (at) putKey(out, key, extract(childOf(node, key), map[key]!, at.below));
  }
  return out;
}

function extract(node: SchemaNode | undefined, value: Value, paths: FieldSet | undefined): Value {
  if (!node || !paths || node.atomic) return value;
  if (isObj(value) && node.kind !== "list") return extractMap(node, value, paths);
  if (!Array.isArray(value) || node.kind !== "list" || node.listType === "atomic") return value;
  const out: Value[] = [];
  for (const item of value) {
    const at = paths.nodes.get(itemElement(node, item));
    if (at) out.push(extract(node.element, item, at.below));
  }
  return out;
}

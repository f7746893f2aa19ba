/** The paths that a value owns when it is applied (rule 27). @module */
import type { Obj, SchemaNode, Value } from "./contract.ts";
import { FieldSet } from "./field_set.ts";
import { itemElement } from "./list_items.ts";
import { fieldElement } from "./path_element.ts";
import { childOf } from "./schema.ts";
import { isEmptyObj, isObj } from "./value.ts";

/**
 * Scalars and atomics: their path. Items of list maps and sets: item path and what is below; duplicates: only the item
 * path. A field of a map: its path when it is null, an empty map or a free-form key.
 *
 * @throws ItemError when the value does not type
 */
export function toFieldSet(node: SchemaNode, value: Value): FieldSet {
  const out = new FieldSet();
  if (isObj(value)) fill(node, value, out);
  return out;
}

/** Whether the node is one leaf for this value. */
export function isLeaf(node: SchemaNode, value: Value): boolean {
  switch (node.kind) {
    case "scalar":
      return true;
    case "list":
      return node.listType === "atomic";
    case "any":
      return value !== null && !isObj(value);
    default:
      return node.atomic === true;
  }
}

function fill(node: SchemaNode, map: Obj, out: FieldSet): void {
  for (const key of Object.keys(map)) {
    const value = map[key]!;
    const child = childOf(node, key);
    const free = !node.fields?.has(key);
    place(child, fieldElement(key), value, free || value === null || (isObj(value) && isEmptyObj(value)), out);
  }
}

function place(
  node: SchemaNode | undefined,
  element: string,
  value: Value,
  member: boolean,
  out: FieldSet,
): void {
  // A field without a schema (it was removed from the kind) is one leaf.
  if (!node || isLeaf(node, value)) {
    out.add(element);
    return;
  }
  let below: FieldSet | undefined;
  if (isObj(value)) {
    below = new FieldSet();
    if (node.kind !== "list") fill(node, value, below);
  } else if (Array.isArray(value) && node.kind === "list") {
    below = new FieldSet();
    fillList(node, value, below);
  }
  out.attach(element, member, below);
}

function fillList(node: SchemaNode, list: Value[], out: FieldSet): void {
  const duplicates = new Set<string>();
  for (const item of list) {
    const element = itemElement(node, item);
    if (out.nodes.has(element)) duplicates.add(element);
    else place(node.element, element, item, true, out);
  }
  for (const element of duplicates) out.nodes.set(element, { member: true, below: undefined });
}

/** What changed between two objects, as sets of paths. @module */
import type { Obj, SchemaNode, Value } from "./contract.ts";
import { FieldSet } from "./field_set.ts";
import { itemElement } from "./list_items.ts";
import { fieldElement } from "./path_element.ts";
import { childOf } from "./schema.ts";
import { equalValue, getKey, isEmptyObj, isObj } from "./value.ts";

/** Paths that the new object added, changed and removed. Containers that appear or vanish count themselves (rule 36). */
export interface Comparison {
  added: FieldSet;
  modified: FieldSet;
  removed: FieldSet;
}

/**
 * Compares two objects. Equal references are not looked into.
 *
 * @throws ItemError when an associative list has an item that is no element
 */
export function compareObjects(node: SchemaNode, before: Obj, after: Obj): Comparison {
  const comparer = new Comparer();
  comparer.maps(node, before, after);
  return comparer.result;
}

class Comparer {
  readonly result: Comparison = { added: new FieldSet(), modified: new FieldSet(), removed: new FieldSet() };
  private readonly path: string[] = [];

  private note(set: "added" | "modified" | "removed"): void {
    this.result[set].insert(this.path);
  }

  private leaf(before: Value | undefined, after: Value | undefined): void {
    if (before === undefined) this.note("added");
    else if (after === undefined) this.note("removed");
    else if (!equalValue(before, after)) this.note("modified");
  }

  private below(
    element: string,
    node: SchemaNode | undefined,
    before: Value | undefined,
    after: Value | undefined,
  ): void {
    if (before === after) return;
    this.path.push(element);
    this.visit(node, before, after);
    this.path.pop();
  }

  /** At least one side is present. */
  private visit(node: SchemaNode | undefined, before: Value | undefined, after: Value | undefined): void {
    if (!node || node.kind === "scalar") return this.leaf(before, after);
    if (node.kind === "any" && before !== undefined && after !== undefined) {
      // Deduced values of two shapes: the old one goes as what it was, the new one comes as what it is.
      const x = shapeOf(before), y = shapeOf(after);
      if (x !== y) {
        const leafBefore = this.one(node, x, before, after);
        if (!this.one(node, y, before, after) && leafBefore) this.note("modified");
        return;
      }
    }
    const shape = node.kind === "any" ? shapeOf(after ?? before!) : node.kind === "list" ? "list" : "map";
    if (this.one(node, shape, before, after)) return this.leaf(before, after);
    if (before === undefined) this.note("added");
    else if (after === undefined) this.note("removed");
  }

  /** Compares as one shape; true = both sides together are a leaf, and nothing was noted. */
  private one(node: SchemaNode, shape: Shape, before: Value | undefined, after: Value | undefined): boolean {
    if (shape === "scalar") return true;
    if (shape === "list") {
      const x = Array.isArray(before) ? before : [], y = Array.isArray(after) ? after : [];
      if (node.kind === "any" || node.listType === "atomic" || (x.length === 0 && y.length === 0)) return true;
      this.lists(node, x, y);
      return false;
    }
    const x = isObj(before) && !isEmptyObj(before) ? before : undefined;
    const y = isObj(after) && !isEmptyObj(after) ? after : undefined;
    if (node.atomic || (!x && !y)) return true;
    this.maps(node, x ?? {}, y ?? {});
    return false;
  }

  maps(node: SchemaNode, before: Obj, after: Obj): void {
    for (const key of Object.keys(before)) {
      this.below(fieldElement(key), childOf(node, key), before[key], getKey(after, key));
    }
    for (const key of Object.keys(after)) {
      if (!Object.hasOwn(before, key)) this.below(fieldElement(key), childOf(node, key), undefined, after[key]);
    }
  }

  private lists(node: SchemaNode, before: Value[], after: Value[]): void {
    const x = index(node, before), y = index(node, after);
    for (const [element, items] of x) this.items(node, element, items, y.get(element));
    for (const [element, items] of y) if (!x.has(element)) this.items(node, element, undefined, items);
  }

  /** Items of one key on both sides. Several on one side are compared as one value at the item path (rule 23). */
  private items(node: SchemaNode, element: string, before: Items | undefined, after: Items | undefined): void {
    const many = before instanceof Duplicates, manyAfter = after instanceof Duplicates;
    if (!many && !manyAfter) return this.below(element, node.element, before, after);
    if (many && !manyAfter && after !== undefined) this.below(element, node.element, undefined, after);
    if (!many && manyAfter && before !== undefined) this.below(element, node.element, before, undefined);
    this.path.push(element);
    if (!many) this.note("added");
    else if (!manyAfter) this.note("removed");
    else if (!equalValue(before.items, after.items)) this.note("modified");
    this.path.pop();
  }
}

type Shape = "scalar" | "list" | "map";

/** Deduced shape; null counts as a map. */
function shapeOf(value: Value): Shape {
  return value === null || isObj(value) ? "map" : Array.isArray(value) ? "list" : "scalar";
}

class Duplicates {
  constructor(readonly items: Value[]) {}
}
type Items = Value | Duplicates;

function index(node: SchemaNode, list: Value[]): Map<string, Items> {
  const out = new Map<string, Items>();
  for (const item of list) {
    const element = itemElement(node, item);
    const known = out.get(element);
    if (known === undefined) out.set(element, item);
    else if (known instanceof Duplicates) known.items.push(item);
    else out.set(element, new Duplicates([known, item]));
  }
  return out;
}

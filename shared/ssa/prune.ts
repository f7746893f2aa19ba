/** Pruning: what an applier owned, no longer sends, and nobody else owns, goes (rules 33 to 35). @module */
import type { Obj, SchemaNode, Value } from "./contract.ts";
import { FieldSet } from "./field_set.ts";
import { itemElement } from "./list_items.ts";
import { childOf, isNamedField } from "./schema.ts";
import { removeItems } from "./remove.ts";
import { isLeaf } from "./to_field_set.ts";
import { getKey, isObj } from "./value.ts";

/** Someone's set together with the schema of the version it is at. */
export interface Owned {
  node: SchemaNode;
  set: FieldSet;
}

/**
 * The merged object without what `last` owned and none of `owners` owns.
 *
 * @param owners all sets that count after this apply, the applier's new one among them
 * @param config the apply body: containers that it names stay, empty, when pruning takes all they had (ssa.md §11, 35)
 */
export function prune(merged: Obj, last: Owned, owners: readonly Owned[], config: Obj): Obj {
  const gone = new FieldSet();
  collect(last, owners, merged, { underLast: false, cut: false }, gone);
  if (gone.empty) return merged;
  return removeItems(last.node, merged, gone, (path, empty) => {
    const named = valueAt(last.node, config, path);
    // A config that says null wants null, whatever validation makes of that (rule 30).
    if (named !== undefined) return named === null ? null : empty;
    return owners.some((o) => o.set.has(path)) ? empty : null;
  });
}

interface Place {
  /** An element above was in the last set. */
  underLast: boolean;
  /** An item or free-form key above is owned by nobody and was not in the last set: nothing below it is kept. */
  cut: boolean;
  /** Fields that make this map the item it is: they stay as long as the item does. */
  keys?: readonly string[] | undefined;
}

/**
 * Walks the last set along the merged value. A named field counts as a member when something below it is (rule 11), in the
 * last set as in those of the owners.
 */
function collect(last: Owned, owners: readonly Owned[], value: Value, place: Place, gone: FieldSet): void {
  let items: Map<string, Value> | undefined;
  for (const [element, at] of last.set.nodes) {
    const field = element.startsWith("f:");
    const name = element.slice(2);
    let child: Value | undefined;
    let childNode: SchemaNode | undefined;
    if (field) {
      if (!isObj(value) || last.node.kind === "list") continue;
      child = getKey(value, name);
      childNode = childOf(last.node, name);
    } else {
      if (!Array.isArray(value) || last.node.kind !== "list" || last.node.listType === "atomic") continue;
      items ??= new Map(value.map((item) => [itemElement(last.node, item), item]));
      child = items.get(element);
      childNode = last.node.element;
    }
    if (child === undefined) continue;
    if (field && place.keys?.includes(name)) continue;
    const named = field && isNamedField(last.node, name);
    const wasLast = at.member || (named && at.below !== undefined);
    let owned = false;
    const below: Owned[] = [];
    for (const owner of owners) {
      const theirs = owner.set.nodes.get(element);
      if (!theirs) continue;
      if (theirs.member || (theirs.below && field && isNamedField(owner.node, name))) owned = true;
      const node = field ? childOf(owner.node, name) : owner.node.element;
      if (theirs.below && node) below.push({ node, set: theirs.below });
    }
    if (wasLast && (!owned || place.cut) && counts(childNode, child)) {
      gone.add(element);
      continue;
    }
    if (!at.below || !childNode) continue;
    const inner = new FieldSet();
    collect({ node: childNode, set: at.below }, below, child, {
      underLast: place.underLast || wasLast,
      cut: place.cut || (!owned && !named && !wasLast && place.underLast),
      keys: field ? undefined : last.node.keys,
    }, inner);
    gone.attach(element, false, inner);
  }
}

/** Whether a value has any path of its own: a granular list without items has none, so it cannot be pruned by itself. */
function counts(node: SchemaNode | undefined, value: Value): boolean {
  if (!node || value === null || isLeaf(node, value)) return true;
  if (Array.isArray(value)) return value.length > 0;
  if (!isObj(value)) return true;
  const keys = Object.keys(value);
  return keys.length === 0 || keys.some((k) => !isNamedField(node, k) || counts(childOf(node, k), value[k]!));
}

function valueAt(node: SchemaNode, object: Obj, path: readonly string[]): Value | undefined {
  let value: Value | undefined = object;
  let at: SchemaNode | undefined = node;
  for (const element of path) {
    if (isObj(value) && element.startsWith("f:")) {
      value = getKey(value, element.slice(2));
      at = at && childOf(at, element.slice(2));
    } else if (Array.isArray(value) && at?.kind === "list" && at.listType !== "atomic") {
      const list: SchemaNode = at;
      value = value.find((item) => itemElement(list, item) === element);
      at = list.element;
    } else return undefined;
  }
  return value;
}

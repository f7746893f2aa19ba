/** Adapts a set to a schema that changed since it was written (rule 25). @module */
import type { SchemaNode } from "./contract.ts";
import { FieldSet } from "./field_set.ts";
import { childOf } from "./schema.ts";

/**
 * Where the schema is atomic now and the set has paths below, the atomic's own path stands for them. A set that owns only
 * the parent of what is granular now stays as it is. Unknown and deduced parts stay. Returns `set` itself when nothing
 * changes.
 */
export function reconcileSet(node: SchemaNode, set: FieldSet): FieldSet {
  let out: FieldSet | undefined;
  for (const [element, at] of set.nodes) {
    if (!at.below) continue;
    const child = element.startsWith("f:")
      ? (node.kind === "list" ? undefined : childOf(node, element.slice(2)))
      : node.element;
    if (!child || child.kind === "scalar" || child.kind === "any") continue;
    const atomic = child.kind === "list" ? child.listType === "atomic" : child.atomic === true;
    const below = atomic ? undefined : reconcileSet(child, at.below);
    if (below === at.below) continue;
    if (!out) {
      out = new FieldSet();
      for (const [e, n] of set.nodes) out.nodes.set(e, n);
    }
    out.nodes.set(element, { member: at.member || atomic, below });
  }
  return out ?? set;
}

/** How a write moves ownership between entries (rules 25, 36 to 38, 42, 50). @module */
import type { KindInfo, Obj, SchemaNode } from "./contract.ts";
import { compareObjects, type Comparison } from "./compare.ts";
import { ConflictError } from "./errors.ts";
import { EMPTY, FieldSet } from "./field_set.ts";
import { goQuote } from "./go_text.ts";
import type { Entry, Managed } from "./managed.ts";
import { pathText } from "./path_element.ts";
import { reconcileSet } from "./reconcile.ts";
import { compareBytes, isObj } from "./value.ts";
import { withZeroValues } from "./zero_value.ts";

/** Never owned by who writes (rule 17). */
export const STRIPPED: FieldSet = setOf(
  ["apiVersion"],
  ["kind"],
  ["metadata"],
  ...[
    "name",
    "namespace",
    "creationTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "uid",
    "selfLink",
    "clusterName",
  ].map((name) => ["metadata", name]),
);

const STATUS = setOf(["status"]);
const ALL_BUT_STATUS = setOf(["metadata"], ["spec"]);

function setOf(...paths: string[][]): FieldSet {
  const out = new FieldSet();
  for (const path of paths) out.insert(path.map((name) => "f:" + name));
  return out;
}

/** What a write to this subresource cannot change, and hence neither owns nor conflicts on (rule 50). */
export function ignoredFields(kind: KindInfo, subresource: string | undefined): FieldSet {
  if (!kind.statusSubresource) return EMPTY;
  return subresource === "status" ? ALL_BUT_STATUS : subresource ? EMPTY : STATUS;
}

/** The schema of a version, or undefined when the kind no longer has it. */
export function schemaOf(kind: KindInfo, apiVersion: string): SchemaNode | undefined {
  return kind.schemas.get(apiVersion);
}

/**
 * Entries as they count for this write: those at versions that the kind no longer has are dropped (rule 55 and ssa.md §11),
 * the others fit today's schema (rule 25).
 */
export function currentEntries(kind: KindInfo, managed: Managed): Managed {
  const out: Managed = new Map();
  for (const [id, entry] of managed) {
    const node = schemaOf(kind, entry.apiVersion);
    if (!node) continue;
    const set = reconcileSet(node, entry.set);
    out.set(id, set === entry.set ? entry : { ...entry, set });
  }
  return out;
}

/** The object without managedFields, which nobody owns. Shares everything else. */
export function withoutManagedFields(object: Obj): Obj {
  const metadata = object.metadata;
  if (!isObj(metadata) || !Object.hasOwn(metadata, "managedFields")) return object;
  const { managedFields: _gone, ...rest } = metadata;
  return { ...object, metadata: rest };
}

/** A write: what it changes from and to, at which version. */
export interface Change {
  kind: KindInfo;
  apiVersion: string;
  before: Obj;
  after: Obj;
  ignored: FieldSet;
}

/**
 * Takes from all entries but `self` what the change adds, modifies and removes.
 *
 * @param managed changed in place: entries left without a path vanish (rule 16)
 * @returns what changed at the version of the write
 * @throws ConflictError without `force`, when another entry owns an added or modified path (rule 36)
 */
export function takeOwnership(managed: Managed, self: string, change: Change, force: boolean): Comparison {
  const byNode = new Map<SchemaNode, Comparison>();
  const compare = (node: SchemaNode): Comparison => {
    let found = byNode.get(node);
    if (!found) {
      const form = change.kind.flavour === "builtin"
        ? (object: Obj) => withZeroValues(node, object)
        : (object: Obj) => object;
      const raw = compareObjects(node, form(change.before), form(change.after));
      found = {
        added: raw.added.recursiveDifference(change.ignored),
        modified: raw.modified.recursiveDifference(change.ignored),
        removed: raw.removed.recursiveDifference(change.ignored),
      };
      byNode.set(node, found);
    }
    return found;
  };
  const own = compare(schemaOf(change.kind, change.apiVersion)!);
  const conflicts: [id: string, entry: Entry, set: FieldSet][] = [];
  const removals: [id: string, set: FieldSet][] = [];
  for (const [id, entry] of managed) {
    if (id === self) continue;
    const at = compare(schemaOf(change.kind, entry.apiVersion)!);
    const set = entry.set.intersection(at.modified.union(at.added));
    if (!set.empty) conflicts.push([id, entry, set]);
    if (!at.removed.empty) removals.push([id, at.removed]);
  }
  if (conflicts.length > 0 && !force) throw conflictError(conflicts);
  for (const [id, , set] of conflicts) subtract(managed, id, set);
  for (const [id, set] of removals) subtract(managed, id, set);
  for (const [id, entry] of managed) if (entry.set.empty) managed.delete(id);
  return own;
}

function subtract(managed: Managed, id: string, set: FieldSet): void {
  const entry = managed.get(id)!;
  const rest = entry.set.difference(set);
  if (!rest.equals(entry.set)) managed.set(id, { ...entry, set: rest });
}

/** The 409 (rule 56): managers sorted, each with its paths in order. */
function conflictError(conflicts: [id: string, entry: Entry, set: FieldSet][]): ConflictError {
  conflicts.sort(([a], [b]) => compareBytes(a, b));
  const causes: { field: string; message: string }[] = [];
  const blocks: string[] = [];
  for (const [, entry, set] of conflicts) {
    const paths = set.paths().map(pathText);
    const name = managerText(entry);
    for (const field of paths) causes.push({ field, message: `conflict with ${name}` });
    blocks.push(`conflicts with ${name}:`, ...paths.map((p) => `- ${p}`));
  }
  const message = causes.length === 1
    ? `Apply failed with 1 conflict: ${causes[0]!.message}: ${causes[0]!.field}`
    : `Apply failed with ${causes.length} conflicts: ${blocks.join("\n")}`;
  return new ConflictError(message, causes);
}

function managerText(entry: Entry): string {
  let out = goQuote(entry.manager);
  if (entry.subresource !== "") out += ` with subresource ${goQuote(entry.subresource)}`;
  if (entry.operation === "Update") out += ` using ${entry.apiVersion}`;
  return out;
}

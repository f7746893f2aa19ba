/** Tracks a create, PUT or non-apply patch (rules 41 to 45, 48, 49). @module */
import type { KindInfo, ManagedEntry, Obj, UpdateRequest, UpdateResult, Value } from "./contract.ts";
import { ItemError } from "./list_items.ts";
import {
  capUpdates,
  decodeManaged,
  encodeManaged,
  type Entry,
  identity,
  isReset,
  type Managed,
  managedFieldsOf,
  type ManagerId,
} from "./managed.ts";
import { currentEntries, ignoredFields, schemaOf, STRIPPED, takeOwnership, withoutManagedFields } from "./ownership.ts";
import { isObj } from "./value.ts";

/** What an update owns before anything else: stands for the writer while entries are compared with the change. */
const SELF = "";

/**
 * Computes managedFields for a create, PUT or non-apply patch: the writer owns what it added and changed, the others lose
 * what it changed and removed. Never conflicts, never throws for what clients can send.
 */
export function updateManagedFields(request: UpdateRequest): UpdateResult {
  const { kind, live, next } = request;
  const base = entriesToStartFrom(request);
  const foreign = foreignEntry(request, base);
  if (foreign) return keepLive(request, `no version "${foreign.apiVersion}" of this kind is known`);
  // An untracked object stays so until its first apply; a create is always tracked (rule 49).
  if (base.size === 0 && live) return { object: withManagedFields(next, undefined) };
  try {
    const managed = trackUpdate(request, base, live ? withoutManagedFields(live) : {}, withoutManagedFields(next));
    return { object: withManagedFields(next, encodeManaged(managed, kind.flavour)) };
  } catch (error) {
    if (!(error instanceof ItemError)) throw error;
    return keepLive(request, error.message);
  }
}

/** Rule 45, as ssa.md §11 has it: ownership stays as it was, and the client is told. */
function keepLive({ kind, live, next }: UpdateRequest, why: string): UpdateResult {
  const kept = decodeManaged(managedFieldsOf(live));
  return {
    object: withManagedFields(next, kept && encodeManaged(kept, kind.flavour)),
    warning: `metadata.managedFields was left as it is: ${why}`,
  };
}

/** A posted entry at a version that the kind does not have and that live has no such entry of. Built-in kinds drop those. */
function foreignEntry({ kind, live }: UpdateRequest, base: Managed): Entry | undefined {
  if (kind.flavour === "builtin") return undefined;
  let known: Managed | undefined;
  for (const [id, entry] of base) {
    if (kind.schemas.has(entry.apiVersion)) continue;
    known ??= decodeManaged(managedFieldsOf(live)) ?? new Map();
    if (known.get(id)?.apiVersion !== entry.apiVersion) return entry;
  }
  return undefined;
}

/** Rule 41: the body's entries if there are any and all decode, else live's; on subresources always live's. */
function entriesToStartFrom({ kind, subresource, live, next }: UpdateRequest): Managed {
  const fromLive = () => decodeManaged(managedFieldsOf(live)) ?? new Map();
  if (subresource) return fromLive();
  const posted = managedFieldsOf(next);
  if (isReset(posted, kind.flavour)) return new Map();
  const decoded = decodeManaged(posted);
  return decoded && decoded.size > 0 ? decoded : fromLive();
}

/**
 * The entries after an update from `before` to `after`.
 *
 * @throws ItemError when an associative list has an item that is no element
 */
export function trackUpdate(
  request: { kind: KindInfo; apiVersion: string; subresource?: string; manager: string; now: string },
  base: Managed,
  before: Obj,
  after: Obj,
): Managed {
  const { kind, apiVersion, now } = request;
  if (!schemaOf(kind, apiVersion)) throw new Error(`Cannot track "${apiVersion}": the kind has no such version`);
  const managed = currentEntries(kind, base);
  const ignored = ignoredFields(kind, request.subresource);
  const change = takeOwnership(managed, SELF, { kind, apiVersion, before, after, ignored }, true);
  const taken = change.modified.union(change.added).difference(STRIPPED);
  if (!taken.empty) {
    const id: ManagerId = {
      manager: request.manager === "" ? "unknown" : request.manager,
      operation: "Update",
      apiVersion,
      subresource: request.subresource ?? "",
    };
    const key = identity(id);
    const previous = managed.get(key);
    managed.set(key, { ...id, set: previous ? taken.union(previous.set) : taken, time: now });
  }
  capUpdates(managed);
  return managed;
}

/** The object with other managedFields (none: the key is absent). Shares everything else. */
export function withManagedFields(object: Obj, entries: ManagedEntry[] | undefined): Obj {
  const bare = withoutManagedFields(object);
  if (!entries) return bare;
  const metadata = isObj(bare.metadata) ? bare.metadata : {};
  return { ...bare, metadata: { ...metadata, managedFields: entries as unknown as Value } };
}

/** Tracks a create, PUT or non-apply patch (rules 41 to 45, 48, 49). @module */
import type { KindInfo, ManagedEntry, Obj, UpdateRequest, UpdateResult, Value } from "./contract.ts";
import { ItemError } from "./list_items.ts";
import {
  capUpdates,
  decodeManaged,
  encodeManaged,
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
  // An untracked object stays so until its first apply; a create is always tracked (rule 49).
  if (base.size === 0 && live) return { object: withManagedFields(next, undefined) };
  try {
    const managed = trackUpdate(request, base, live ? withoutManagedFields(live) : {}, withoutManagedFields(next));
    return { object: withManagedFields(next, encodeManaged(managed, kind.flavour)) };
  } catch (error) {
    if (!(error instanceof ItemError)) throw error;
    const kept = decodeManaged(managedFieldsOf(live));
    return {
      object: withManagedFields(next, kept && encodeManaged(kept, kind.flavour)),
      warning: `metadata.managedFields was left as it is: ${error.message}`,
    };
  }
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

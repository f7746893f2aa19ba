/** Server-Side Apply of one object (rules 26 to 40). @module */
import type { ApplyRequest, ApplyResult, Obj } from "./contract.ts";
import { ConflictError, TypedError } from "./errors.ts";
import { LAST_APPLIED_MANAGER, lastAppliedAllows, withLastApplied } from "./last_applied.ts";
import { ItemError } from "./list_items.ts";
import { decodeManaged, encodeManaged, identity, type Managed, managedFieldsOf, type ManagerId } from "./managed.ts";
import { mergeObjects } from "./merge.ts";
import { currentEntries, ignoredFields, schemaOf, STRIPPED, takeOwnership, withoutManagedFields } from "./ownership.ts";
import { type Owned, prune } from "./prune.ts";
import { toFieldSet } from "./to_field_set.ts";
import { typingErrors } from "./typing.ts";
import { trackUpdate, withManagedFields } from "./update.ts";
import { copyValue, getKey, isObj } from "./value.ts";

/** Manager of the entry that stands for everything written before the first apply (rule 32). */
export const BEFORE_FIRST_APPLY = "before-first-apply";

/**
 * Merges an apply body into the live object and moves ownership.
 *
 * @throws TypedError the body does not fit the schema, or a live list cannot be merged
 * @throws ConflictError another manager owns what the body changes, and `force` is not set
 */
export function applyPatch(request: ApplyRequest): ApplyResult {
  const node = schemaOf(request.kind, request.apiVersion);
  if (!node) throw new Error(`Cannot apply at "${request.apiVersion}": the kind has no such version`);
  const live = request.live ? withoutManagedFields(request.live) : {};
  const base = startingEntries(request, live);
  const errors = typingErrors(node, request.config);
  if (errors.length > 0) {
    throw new TypedError(errors, `failed to create typed patch object (${describe(request.config, request)}): `);
  }
  try {
    return applyTyped(request, live, base);
  } catch (error) {
    if (error instanceof ItemError) {
      throw new TypedError(
        [{ field: "", message: error.message }],
        `failed to create typed live object (${describe(live, request)}): `,
      );
    }
    // kubectl may take over what its client-side apply set (rule 65).
    if (!(error instanceof ConflictError) || request.manager !== LAST_APPLIED_MANAGER) throw error;
    const verdict = lastAppliedAllows(node, live, request.apiVersion, error);
    if (verdict) throw verdict;
    return applyTyped({ ...request, force: true }, live, base);
  }
}

/** The live object's entries; without any, one that owns all there is (rule 32). */
function startingEntries(request: ApplyRequest, live: Obj): Managed {
  const { kind, apiVersion, subresource, now } = request;
  const managed = decodeManaged(managedFieldsOf(request.live)) ?? new Map();
  if (managed.size > 0 || !request.live) return managed;
  try {
    const manager = { kind, apiVersion, manager: BEFORE_FIRST_APPLY, now, ...(subresource ? { subresource } : {}) };
    return trackUpdate(manager, managed, {}, live);
  } catch (error) {
    if (!(error instanceof ItemError)) throw error;
    const errors = typingErrors(schemaOf(kind, apiVersion)!, live, true);
    throw new TypedError(
      errors.length > 0 ? errors : [{ field: "", message: error.message }],
      `failed to create manager for existing fields: failed to convert new object (${
        describe(live, request)
      }) to smd typed: `,
    );
  }
}

function applyTyped(request: ApplyRequest, live: Obj, base: Managed): ApplyResult {
  const { kind, apiVersion, config, force, now } = request;
  const node = schemaOf(kind, apiVersion)!;
  const body = withoutManagedFields(config);
  const id: ManagerId = {
    manager: request.manager,
    operation: "Apply",
    apiVersion,
    subresource: request.subresource ?? "",
  };
  const key = identity(id);
  const ignored = ignoredFields(kind, request.subresource);
  const managed = currentEntries(kind, base);
  const last = managed.get(key);
  const own = toFieldSet(node, body).recursiveDifference(ignored);
  managed.set(key, { ...id, set: own, ...(last?.time === undefined ? {} : { time: last.time }) });

  let merged = mergeObjects(node, live, body);
  if (last && !last.set.subsetOf(own)) {
    const owners: Owned[] = [...managed.values()].map((e) => ({ node: schemaOf(kind, e.apiVersion)!, set: e.set }));
    merged = prune(merged, { node: schemaOf(kind, last.apiVersion)!, set: last.set }, owners, body);
  }
  takeOwnership(managed, key, { kind, apiVersion, before: live, after: merged, ignored }, force);
  const unchanged = merged === live && request.live !== undefined;

  const entry = managed.get(key);
  if (entry) {
    const set = entry.set.difference(STRIPPED);
    if (set.empty) managed.delete(key);
    // The set as it was keeps its written form; nothing to write again.
    else {managed.set(key, {
        ...entry,
        set: last && last.set.equals(set) ? last.set : set,
        ...(unchanged ? {} : { time: now }),
      });}
  }
  const object = withManagedFields(copyValue(merged), encodeManaged(managed, kind.flavour));
  return { object: request.manager === LAST_APPLIED_MANAGER ? withLastApplied(object, config) : object, unchanged };
}

/** `NS/NAME; G/V, Kind=K` of an object. */
function describe(object: Obj, request: ApplyRequest): string {
  const metadata = getKey(object, "metadata");
  const text = (key: string) => {
    const value = isObj(metadata) ? getKey(metadata, key) : undefined;
    return typeof value === "string" ? value : "";
  };
  const kind = getKey(object, "kind");
  // Go prints the empty group of core kinds with its slash.
  const version = request.apiVersion.includes("/") ? request.apiVersion : `/${request.apiVersion}`;
  return `${text("namespace")}/${text("name")}; ${version}, Kind=${typeof kind === "string" ? kind : ""}`;
}

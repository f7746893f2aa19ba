/** managedFields entries: identity, decoding, encoding, order, the cap (rules 12 to 16 and 43). @module */
import type { ManagedEntry, Obj, Value } from "./contract.ts";
import type { FieldSet } from "./field_set.ts";
import { fieldsOfEntry, parseFieldsV1, serialiseFieldsV1 } from "./fields_v1.ts";
import { encodeJson, PathElementError } from "./path_element.ts";
import { EMPTY } from "./field_set.ts";
import { compareBytes, getKey, isEmptyObj, isObj } from "./value.ts";

/** Who an entry belongs to. */
export interface ManagerId {
  manager: string;
  operation: "Apply" | "Update";
  apiVersion: string;
  subresource: string;
}

/** A decoded entry. */
export interface Entry extends ManagerId {
  set: FieldSet;
  /** As on the wire; absent for an entry without time. */
  time?: string;
}

/** Entries by {@link identity}. */
export type Managed = Map<string, Entry>;

/** Update entries that an object may have before the oldest are folded (rule 43). */
export const MAX_UPDATE_ENTRIES = 10;
/** Manager of the folded entries. */
export const OLD_UPDATES = "ancient-changes";

/** What makes two entries the same (rule 12): an Apply entry is one over all versions. Sorts as upstream's does. */
export function identity(id: ManagerId): string {
  let out = "{";
  if (id.manager !== "") out += `"manager":${encodeJson(id.manager)},`;
  out += `"operation":"${id.operation}"`;
  if (id.operation === "Update") out += `,"apiVersion":${encodeJson(id.apiVersion)}`;
  if (id.subresource !== "") out += `,"subresource":${encodeJson(id.subresource)}`;
  return out + "}";
}

/** The managedFields of an object as it came: undefined when absent or null. */
export function managedFieldsOf(object: Obj | undefined): Value | undefined {
  const metadata = object && getKey(object, "metadata");
  const fields = isObj(metadata) ? getKey(metadata, "managedFields") : undefined;
  return fields === null ? undefined : fields;
}

/**
 * Decodes a list of entries; of two with one identity the last wins. `undefined` = it cannot be decoded as a whole
 * (rules 9 and 41).
 */
export function decodeManaged(entries: Value | undefined): Managed | undefined {
  const out: Managed = new Map();
  if (entries === undefined || entries === null) return out;
  if (!Array.isArray(entries)) return undefined;
  for (const raw of entries) {
    const entry = isObj(raw) ? decodeEntry(raw) : undefined;
    if (!entry) return undefined;
    out.set(identity(entry), entry);
  }
  return out;
}

function decodeEntry(raw: Obj): Entry | undefined {
  const operation = text(raw, "operation"), apiVersion = text(raw, "apiVersion");
  if (operation !== "Apply" && operation !== "Update") return undefined;
  if (apiVersion === "" || text(raw, "fieldsType") !== "FieldsV1") return undefined;
  const fields = fieldsOfEntry(raw);
  const time = text(raw, "time");
  try {
    return {
      manager: text(raw, "manager"),
      operation,
      apiVersion,
      subresource: text(raw, "subresource"),
      set: fields ? parseFieldsV1(fields) : EMPTY,
      ...(time === "" ? {} : { time }),
    };
  } catch (error) {
    if (error instanceof PathElementError) return undefined;
    throw error;
  }
}

function text(entry: Obj, key: string): string {
  const value = getKey(entry, key);
  return typeof value === "string" ? value : "";
}

/** Whether posted managedFields ask for a reset (rule 48): one empty entry; for built-in kinds also an empty list. */
export function isReset(fields: Value | undefined, flavour: "custom" | "builtin"): boolean {
  if (!Array.isArray(fields)) return false;
  if (fields.length === 0) return flavour === "builtin";
  return fields.length === 1 && isObj(fields[0]) && isEmptyEntry(fields[0]);
}

function isEmptyEntry(entry: Obj): boolean {
  return isEmptyObj(entry) || Object.keys(entry).every((k) => entry[k] === null || entry[k] === "");
}

/** Entries in wire form and order (rules 8 and 13); undefined when there are none (rule 16). */
export function encodeManaged(managed: Managed, flavour: "custom" | "builtin"): ManagedEntry[] | undefined {
  if (managed.size === 0) return undefined;
  return [...managed.values()].sort(compareEntries).map((entry) => ({
    apiVersion: entry.apiVersion,
    fieldsType: "FieldsV1",
    fieldsV1: serialiseFieldsV1(entry.set, flavour),
    ...(entry.manager === "" ? {} : { manager: entry.manager }),
    operation: entry.operation,
    ...(entry.subresource === "" ? {} : { subresource: entry.subresource }),
    ...(entry.time === undefined ? {} : { time: entry.time }),
  }));
}

function compareEntries(a: Entry, b: Entry): number {
  return compareBytes(a.operation, b.operation) || seconds(a.time) - seconds(b.time) ||
    compareBytes(a.manager, b.manager) || compareBytes(a.apiVersion, b.apiVersion) ||
    compareBytes(a.subresource, b.subresource);
}

function seconds(time: string | undefined): number {
  if (time === undefined) return 0;
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1000);
}

/** Folds the oldest Update entries of a version into one until no more than the cap are left, if it can (rule 43). */
export function capUpdates(managed: Managed): void {
  const updates = [...managed].filter(([, e]) => e.operation === "Update");
  let count = updates.length;
  if (count <= MAX_UPDATE_ENTRIES) return;
  updates.sort(([x, a], [y, b]) => seconds(a.time) - seconds(b.time) || compareBytes(x, y));
  const firstOf = new Map<string, string>();
  for (const [id, entry] of updates) {
    if (count <= MAX_UPDATE_ENTRIES) return;
    const first = firstOf.get(entry.apiVersion);
    if (first === undefined) {
      firstOf.set(entry.apiVersion, id);
      continue;
    }
    const bucket: ManagerId = {
      manager: OLD_UPDATES,
      operation: "Update",
      apiVersion: entry.apiVersion,
      subresource: "",
    };
    const bucketId = identity(bucket);
    if (id === bucketId) continue;
    const into = managed.get(bucketId) ?? managed.get(first)!;
    if (!managed.has(bucketId)) managed.delete(first);
    managed.delete(id);
    managed.set(bucketId, {
      ...bucket,
      set: into.set.union(entry.set),
      ...(entry.time === undefined ? {} : { time: entry.time }),
    });
    count--;
  }
}

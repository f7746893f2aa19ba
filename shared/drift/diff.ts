/**
 * What an apply would change: the paths at which the live object and the result of a dry run differ. The server has
 * merged, defaulted and normalised both, so every difference is one that a real apply would make (C03, C08, C15, C20).
 * Only paths come out, never values.
 *
 * @module
 */
import { equalJson, isObject, type JsonObject, type JsonValue } from "../json/mod.ts";
import { advance, formatPath, listKeys, type Pattern, type Step } from "./path.ts";

/** How to compare. */
export interface DiffOptions {
  /** Paths that do not count. */
  ignore?: readonly Pattern[];
  /** Says that two different values mean the same at this place, e.g. quantities in a custom kind. */
  same?(path: readonly Step[], live: JsonValue, wanted: JsonValue): boolean;
}

/** Fields of metadata that the server keeps. */
const SERVER_METADATA = new Set([
  "managedFields",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "uid",
  "selfLink",
]);

/** Sorted paths at which `live` differs from `wanted`, the result of a dry run on it. Neither is changed. */
export function diffPaths(live: object, wanted: object, options: DiffOptions = {}): string[] {
  const out: string[] = [];
  const fields = [...fieldTrees(wanted as JsonObject), ...fieldTrees(live as JsonObject)];
  compare(content(live as JsonObject), content(wanted as JsonObject), fields, [], options.ignore ?? [], options, out);
  return out.sort();
}

/** True when two versions of an object differ in anything but status and what the server keeps. */
export function changedBeyondStatus(old: object, next: object): boolean {
  if (old === next) return false;
  return !equalJson(content(old as JsonObject), content(next as JsonObject));
}

/** The object without status and server metadata; shares all the rest. */
function content(object: JsonObject): JsonObject {
  const { status: _status, metadata, ...rest } = object;
  if (!isObject(metadata)) return rest;
  const kept = Object.entries(metadata).filter(([key]) => !SERVER_METADATA.has(key));
  return { ...rest, metadata: Object.fromEntries(kept) };
}

/** The fieldsV1 trees of an object's managedFields. */
export function fieldTrees(object: JsonObject): JsonObject[] {
  const entries = isObject(object.metadata) ? object.metadata.managedFields : undefined;
  return Array.isArray(entries) ? entries.flatMap((e) => isObject(e) && isObject(e.fieldsV1) ? [e.fieldsV1] : []) : [];
}

/** The subtrees at one member. */
export function under(fields: readonly JsonObject[], member: string): JsonObject[] {
  return fields.flatMap((tree) => {
    const sub = Object.hasOwn(tree, member) ? tree[member] : undefined;
    return isObject(sub) ? [sub] : [];
  });
}

function compare(
  live: JsonValue | undefined,
  wanted: JsonValue | undefined,
  fields: readonly JsonObject[],
  path: Step[],
  ignore: readonly Pattern[],
  options: DiffOptions,
  out: string[],
): void {
  if (ignore.some((p) => p.length === 0) || equalJson(live, wanted)) return;
  const below = ignore.length > 0;
  if (isContainer(live, isObject, wanted, below) && isContainer(wanted, isObject, live, below)) {
    const a: JsonObject = isObject(live) ? live : {}, b: JsonObject = isObject(wanted) ? wanted : {};
    for (const key of new Set([...Object.keys(b), ...Object.keys(a)])) {
      const step = { key };
      compare(
        own(a, key),
        own(b, key),
        under(fields, `f:${key}`),
        [...path, step],
        advance(ignore, step),
        options,
        out,
      );
    }
    return;
  }
  if (Array.isArray(live) && Array.isArray(wanted) && compareLists(live, wanted, fields, path, ignore, options, out)) {
    return;
  }
  if (live !== undefined && wanted !== undefined && options.same?.(path, live, wanted)) return;
  out.push(formatPath(path));
}

/** A map, or nothing beside a map of which some fields are ignored: then the others are named one by one. */
function isContainer(
  value: JsonValue | undefined,
  is: (v: unknown) => boolean,
  other: JsonValue | undefined,
  below: boolean,
): boolean {
  return is(value) || (value === undefined && below && is(other));
}

/** Compares item by item where that is possible; false = the list has to be named as a whole. */
function compareLists(
  live: JsonValue[],
  wanted: JsonValue[],
  fields: readonly JsonObject[],
  path: Step[],
  ignore: readonly Pattern[],
  options: DiffOptions,
  out: string[],
): boolean {
  const keys = listKeys(fields);
  const a = keys && itemsByKey(live, keys), b = keys && itemsByKey(wanted, keys);
  if (!a || !b) {
    // Items without identity: only equal lengths can be compared by index, and only when some part is ignored.
    if (ignore.length === 0 || live.length !== wanted.length) return false;
    live.forEach((item, index) => {
      const step = { index };
      compare(item, wanted[index], [], [...path, step], advance(ignore, step), options, out);
    });
    return true;
  }
  const before = out.length;
  for (const id of new Set([...b.keys(), ...a.keys()])) {
    const found = b.get(id) ?? a.get(id)!;
    const step = { index: found.index, keys: found.keys };
    const sub = under(fields, `k:${id}`);
    compare(a.get(id)?.item, b.get(id)?.item, sub, [...path, step], advance(ignore, step), options, out);
  }
  // The items are the same and their order is not: an apply would reorder them.
  const common = (x: typeof a, y: typeof a) => [...x.keys()].filter((id) => y.has(id)).join("\n");
  if (out.length === before && common(a, b) !== common(b, a)) out.push(formatPath(path));
  return true;
}

interface KeyedItem {
  item: JsonObject;
  index: number;
  keys: [string, JsonValue][];
}

/** Items by their keys in fieldsV1 form; undefined when some have none or share theirs. */
function itemsByKey(list: JsonValue[], keys: readonly string[]): Map<string, KeyedItem> | undefined {
  const out = new Map<string, KeyedItem>();
  for (const [index, item] of list.entries()) {
    if (!isObject(item)) return undefined;
    const pairs = keys.flatMap((k): [string, JsonValue][] => Object.hasOwn(item, k) ? [[k, item[k]!]] : []);
    if (pairs.length === 0) return undefined;
    const id = `{${pairs.map(([k, v]) => `${JSON.stringify(k)}:${text(v)}`).join(",")}}`;
    if (out.has(id)) return undefined;
    out.set(id, { item, index, keys: pairs });
  }
  return out;
}

const text = (v: JsonValue) => typeof v === "bigint" ? String(v) : JSON.stringify(v);

function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

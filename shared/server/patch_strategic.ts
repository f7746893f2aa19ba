/**
 * Strategic merge patch for built-in kinds: lists merge by the keys that the schema names, and directives (`$patch`,
 * `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`) say what merging cannot.
 *
 * @module
 */
import { equalJson, isObject, type JsonObject, type JsonValue, setKey } from "../json/mod.ts";
import { childOf, type SchemaNode } from "../ssa/mod.ts";
import { badRequest } from "./errors.ts";

const ORDER = "$setElementOrder/", DELETE = "$deleteFromPrimitiveList/", PATCH = "$patch", RETAIN = "$retainKeys";

/** Merges `patch` into `target`; both may be changed. @throws StatusError 400 for a directive that makes no sense */
export function strategicMerge(target: JsonObject, patch: JsonObject, node: SchemaNode | undefined): JsonObject {
  const directive = patch[PATCH];
  if (directive !== undefined) {
    delete patch[PATCH];
    if (directive === "replace") return withoutDirectives(patch) as JsonObject;
    if (directive === "delete") return {};
    if (directive !== "merge") throw badRequest(`Unknown patch type found: ${JSON.stringify(directive)}`);
  }
  retainKeys(target, patch);
  const orders = takeOrders(patch).map(([key, order]) => [key, order, target[key]] as const);
  for (const key of Object.keys(patch)) {
    const value = patch[key]!;
    if (key.startsWith(DELETE)) {
      deleteScalars(target, key.slice(DELETE.length), value);
      continue;
    }
    if (value === null) {
      delete target[key];
      continue;
    }
    const child = node ? childOf(node, key) : undefined;
    const had = Object.hasOwn(target, key) ? target[key] : undefined;
    setKey(target, key, mergeValue(had, value, child));
  }
  for (const [key, order, before] of orders) {
    const list = target[key];
    if (!Array.isArray(list)) continue;
    target[key] = inOrder(
      list,
      order,
      Array.isArray(before) ? before : [],
      mergeKeyOf(node ? childOf(node, key) : undefined),
    );
  }
  return target;
}

function mergeValue(had: JsonValue | undefined, value: JsonValue, node: SchemaNode | undefined): JsonValue {
  const strategies = strategiesOf(node);
  if (isObject(value)) {
    if (!isObject(had) || strategies.includes("replace")) {
      return isObject(had) || value[PATCH] === undefined ? withoutDirectives(value) : strategicMerge({}, value, node);
    }
    return strategicMerge(had, value, node);
  }
  if (!Array.isArray(value)) return value;
  if (!Array.isArray(had)) had = [];
  if (!strategies.includes("merge")) return withoutDirectives(dropSpecial(value));
  return mergeList(had, value, node!);
}

function strategiesOf(node: SchemaNode | undefined): string[] {
  return (node?.source["x-kubernetes-patch-strategy"] ?? "").split(",");
}

function mergeKeyOf(node: SchemaNode | undefined): string | undefined {
  return node?.source["x-kubernetes-patch-merge-key"];
}

function mergeList(had: JsonValue[], patch: JsonValue[], node: SchemaNode): JsonValue[] {
  const key = mergeKeyOf(node);
  if (!patch.some(isObject) && !had.some(isObject)) {
    return [...had, ...patch.filter((v) => !had.some((h) => equalJson(h, v)))];
  }
  if (key === undefined) return withoutDirectives(patch) as JsonValue[];
  if (patch.some((item) => isObject(item) && item[PATCH] === "replace")) {
    return withoutDirectives(patch.filter((item) => !(isObject(item) && item[PATCH] === "replace"))) as JsonValue[];
  }
  let list = [...had];
  for (const item of patch) {
    if (!isObject(item)) throw badRequest("The strategic merge patch has a list item that is no object");
    const id = item[key];
    if (id === undefined) {
      throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);
    }
    if (item[PATCH] === "delete") {
      list = list.filter((other) => !(isObject(other) && other[key] === id));
      continue;
    }
    const at = list.findIndex((other) => isObject(other) && other[key] === id);
    if (at < 0) list.push(withoutDirectives(item));
    else list[at] = strategicMerge(list[at] as JsonObject, item, node.element);
  }
  return list;
}

/** Items that are only directives carry no value. */
function dropSpecial(list: JsonValue[]): JsonValue[] {
  return list.filter((item) => !(isObject(item) && item[PATCH] !== undefined && item[PATCH] !== "merge"));
}

/** A value as it is stored when there was none before: directives and nulls mean nothing then. */
function withoutDirectives(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutDirectives);
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (key === PATCH || key === RETAIN || key.startsWith(ORDER) || key.startsWith(DELETE)) continue;
    if (value[key] !== null) setKey(out, key, withoutDirectives(value[key]!));
  }
  return out;
}

/** `$retainKeys`: only these keys stay. */
function retainKeys(target: JsonObject, patch: JsonObject): void {
  const keep = patch[RETAIN];
  if (keep === undefined) return;
  delete patch[RETAIN];
  if (!Array.isArray(keep)) throw badRequest("invalid patch: $retainKeys must be a list");
  const names = new Set(keep);
  for (const key of Object.keys(patch)) {
    if (!key.startsWith("$") && patch[key] !== null && !names.has(key)) {
      throw badRequest(`invalid patch: ${key} is not in $retainKeys`);
    }
  }
  for (const key of Object.keys(target)) if (!names.has(key)) delete target[key];
}

function takeOrders(patch: JsonObject): [string, JsonValue[]][] {
  const orders: [string, JsonValue[]][] = [];
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(ORDER)) continue;
    const order = patch[key];
    if (!Array.isArray(order)) throw badRequest(`invalid patch: ${key} must be a list`);
    orders.push([key.slice(ORDER.length), order]);
    delete patch[key];
  }
  return orders;
}

function deleteScalars(target: JsonObject, key: string, values: JsonValue): void {
  const list = target[key];
  if (!Array.isArray(values)) throw badRequest(`invalid patch: ${DELETE}${key} must be a list`);
  if (Array.isArray(list)) target[key] = list.filter((item) => !values.some((v) => equalJson(v, item)));
}

/** Items named in the order come in that order; the others go before the first of them that was behind them before. */
function inOrder(
  list: JsonValue[],
  order: JsonValue[],
  before: JsonValue[],
  key: string | undefined,
): JsonValue[] {
  const idOf = (item: JsonValue) => isObject(item) && key !== undefined ? item[key] : item;
  const placeIn = (items: JsonValue[], item: JsonValue) => items.findIndex((o) => equalJson(idOf(o), idOf(item)));
  const named = list.filter((item) => placeIn(order, item) >= 0)
    .sort((a, b) => placeIn(order, a) - placeIn(order, b));
  const others = list.filter((item) => placeIn(order, item) < 0);
  const out: JsonValue[] = [];
  while (named.length && others.length) {
    const other = placeIn(before, others[0]!), next = placeIn(before, named[0]!);
    out.push(other >= 0 && next >= 0 && other < next ? others.shift()! : named.shift()!);
  }
  return [...out, ...named, ...others];
}

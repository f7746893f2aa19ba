/** Merges an apply body into the live object (rules 29 and 31). @module */
import type { Obj, SchemaNode, Value } from "./contract.ts";
import { itemElement } from "./list_items.ts";
import { childOf } from "./schema.ts";
import { equalValue, getKey, isEmptyObj, isObj, putKey } from "./value.ts";

/**
 * The merged object. It is `live` itself when nothing changes; otherwise it shares unchanged subtrees with `live` and new
 * ones with `config`: copy before changing.
 *
 * @throws ItemError when a live associative list has an item that is no element
 */
export function mergeObjects(node: SchemaNode, live: Obj, config: Obj): Obj {
  return mergeMaps(node, live, config);
}

/** Both sides are present. */
function merge(node: SchemaNode | undefined, live: Value, config: Value): Value {
  if (!node || node.kind === "scalar") return leaf(live, config);
  const list = node.kind === "list" || (node.kind === "any" && Array.isArray(config));
  if (list) {
    if (node.kind === "any" || node.listType === "atomic") return leaf(live, config);
    const x = Array.isArray(live) ? live : [], y = Array.isArray(config) ? config : [];
    if (x.length === 0 && y.length === 0) return leaf(live, config);
    // null and [] over a non-empty list keep its content (rule 29).
    return y.length === 0 ? live : x.length === 0 ? config : mergeLists(node, x, y);
  }
  if (node.kind === "any" && config !== null && !isObj(config)) return leaf(live, config);
  if (node.atomic) return leaf(live, config);
  const x = isObj(live) ? live : undefined, y = isObj(config) ? config : undefined;
  if ((!x || isEmptyObj(x)) && (!y || isEmptyObj(y))) return leaf(live, config);
  if (!y || isEmptyObj(y)) return live;
  return mergeMaps(node, x ?? {}, y);
}

function leaf(live: Value, config: Value): Value {
  return equalValue(live, config) ? live : config;
}

function mergeMaps(node: SchemaNode, live: Obj, config: Obj): Obj {
  let out: Obj | undefined;
  for (const key of Object.keys(config)) {
    const before = getKey(live, key);
    const after = before === undefined ? config[key]! : merge(childOf(node, key), before, config[key]!);
    if (after === before) continue;
    if (!out) {
      out = {};
      for (const k of Object.keys(live)) putKey(out, k, live[k]!);
    }
    putKey(out, key, after);
  }
  return out ?? live;
}

/**
 * List order (rule 31): items only in the live list keep their places relative to it, items of the config come in the
 * config's order, shared items are the joints.
 */
function mergeLists(node: SchemaNode, live: Value[], config: Value[]): Value[] {
  const liveElements = live.map((item) => itemElement(node, item));
  const configElements = config.map((item) => itemElement(node, item));
  const liveItems = new Map<string, Value>();
  // Of live duplicates none is merged: the config's item stands alone (rule 23).
  liveElements.forEach((e, i) => liveItems.set(e, liveItems.has(e) ? null : live[i]!));
  const configItems = new Map(configElements.map((e, i) => [e, config[i]!]));
  const shared = configElements.filter((e) => liveItems.has(e));

  const out: Value[] = [];
  const emitted = new Set<string>();
  let next = 0, i = 0, j = 0;
  const emit = (element: string) => {
    emitted.add(element);
    const before = liveItems.get(element), after = configItems.get(element)!;
    out.push(before === undefined || before === null ? after : merge(node.element, before, after));
  };
  while (i < live.length || j < config.length) {
    const l = liveElements[i], c = configElements[j];
    if (l !== undefined && c !== undefined) {
      if (l === c) {
        emit(c);
        i++;
        j++;
        next++;
        continue;
      }
      if (configItems.has(l) && next < shared.length && shared[next] !== l) {
        i++;
        continue;
      }
    }
    if (l !== undefined) {
      if (!configItems.has(l)) {
        out.push(live[i++]!);
        continue;
      }
      if (emitted.has(l)) i++;
    }
    if (c !== undefined) {
      emit(c);
      if (shared[next] === c) next++;
      j++;
    }
  }
  return out.length === live.length && out.every((item, k) => item === live[k]) ? live : out;
}

/**
 * JSON patch (RFC 6902) as kube-apiserver applies it (ssa.md rule 62). Written here and not taken from a library: keys such
 * as `constructor` and `__proto__` are labels like any other, integers beyond 2^53 stay exact, and `replace` of a missing
 * key adds it.
 *
 * @module
 */
import { cloneJson, equalJson, isObject, type JsonObject, type JsonValue, setKey, stringifyJson } from "../json/mod.ts";
import type { JsonPatchOp } from "./body.ts";
import { tooLarge, unprocessablePatch } from "./errors.ts";

/** Characters that `copy` operations may add in all: a few of them can double an object each. */
const MAX_COPIED = 3 * 1024 * 1024;

/** Applies the operations to `object` in place. @throws StatusError 422 when one cannot be applied, 413 */
export function jsonPatch(object: JsonObject, ops: readonly JsonPatchOp[]): void {
  let copied = 0;
  for (const op of ops) {
    const at = pointer(op.path);
    switch (op.op) {
      case "add":
        add(object, at, valueOf(op));
        break;
      case "remove":
        take(object, at);
        break;
      case "replace":
        replace(object, at, valueOf(op));
        break;
      case "test":
        // As upstream: a missing value is equal to null.
        if (!equalJson(find(object, at) ?? null, valueOf(op))) throw unprocessablePatch();
        break;
      case "move":
        add(object, at, take(object, pointer(op.from)));
        break;
      case "copy": {
        const value = find(object, pointer(op.from));
        if (value === undefined) throw unprocessablePatch();
        copied += stringifyJson(value).length;
        if (copied > MAX_COPIED) throw tooLarge(`limit is ${MAX_COPIED}`);
        add(object, at, cloneJson(value));
        break;
      }
      default:
        throw unprocessablePatch();
    }
  }
}

/** The keys of a JSON pointer (RFC 6901). The whole document cannot be named. */
function pointer(path: JsonValue | undefined): string[] {
  if (typeof path !== "string" || !path.startsWith("/")) throw unprocessablePatch();
  return path.slice(1).split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function valueOf(op: JsonPatchOp): JsonValue {
  if (!Object.hasOwn(op, "value")) throw unprocessablePatch();
  return cloneJson(op.value!);
}

function child(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (Array.isArray(value)) {
    const i = indexIn(value, key);
    return i === undefined ? undefined : value[i];
  }
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Index of an item; negative ones count from the end, as upstream allows. */
function indexIn(list: JsonValue[], key: string): number | undefined {
  if (!/^(0|-?[1-9]\d*)$/.test(key)) return undefined;
  const i = Number(key) < 0 ? list.length + Number(key) : Number(key);
  return i >= 0 && i < list.length ? i : undefined;
}

function find(root: JsonValue, keys: string[]): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const key of keys) value = child(value, key);
  return value;
}

/** The container of the last key. */
function parentOf(root: JsonValue, keys: string[]): JsonObject | JsonValue[] {
  const parent = find(root, keys.slice(0, -1));
  if (isObject(parent) || Array.isArray(parent)) return parent;
  throw unprocessablePatch();
}

function add(root: JsonValue, keys: string[], value: JsonValue): void {
  const parent = parentOf(root, keys), key = keys.at(-1)!;
  if (!Array.isArray(parent)) {
    setKey(parent, key, value);
    return;
  }
  const i = key === "-" || key === String(parent.length) ? parent.length : indexIn(parent, key);
  if (i === undefined) throw unprocessablePatch();
  parent.splice(i, 0, value);
}

function replace(root: JsonValue, keys: string[], value: JsonValue): void {
  const parent = parentOf(root, keys), key = keys.at(-1)!;
  if (!Array.isArray(parent)) {
    setKey(parent, key, value);
    return;
  }
  const i = indexIn(parent, key);
  if (i === undefined) throw unprocessablePatch();
  parent[i] = value;
}

/** Removes and gives what is there. */
function take(root: JsonValue, keys: string[]): JsonValue {
  const parent = parentOf(root, keys), key = keys.at(-1)!;
  if (Array.isArray(parent)) {
    const i = indexIn(parent, key);
    if (i === undefined) throw unprocessablePatch();
    return parent.splice(i, 1)[0]!;
  }
  if (!Object.hasOwn(parent, key)) throw unprocessablePatch();
  const value = parent[key]!;
  delete parent[key];
  return value;
}

/** JSON patch (RFC 6902) as kube-apiserver applies it (ssa.md rule 62). @module */
import { applyPatch, type Operation, Pointer } from "rfc6902";
import { isObject, type JsonObject, type JsonValue, stringifyJson } from "../json/mod.ts";
import type { JsonPatchOp } from "./body.ts";
import { tooLarge, unprocessablePatch } from "./errors.ts";

/** Bytes that `copy` operations may add in all: a few of them can double an object each. */
const MAX_COPIED = 3 * 1024 * 1024;

const NEEDS_VALUE = new Set(["add", "replace", "test"]);
const NEEDS_FROM = new Set(["move", "copy"]);

/** Applies the operations to `object` in place. @throws StatusError 422 when one cannot be applied, 413 */
export function jsonPatch(object: JsonObject, ops: readonly JsonPatchOp[]): void {
  let copied = 0;
  for (const op of ops) {
    const operation = checked(op);
    if (operation.op === "copy") {
      copied += stringifyJson(valueAt(object, operation.from) ?? null).length;
      if (copied > MAX_COPIED) throw tooLarge(`limit is ${MAX_COPIED}`);
    }
    const [error] = applyPatch(object, [addWhereMissing(object, operation)]);
    if (error) throw unprocessablePatch();
  }
}

function checked(op: JsonPatchOp): Operation {
  const kind = op.op, path = op.path;
  if (typeof kind !== "string" || typeof path !== "string" || !path.startsWith("/")) throw unprocessablePatch();
  if (NEEDS_VALUE.has(kind)) {
    if (!Object.hasOwn(op, "value")) throw unprocessablePatch();
    return { op: kind, path, value: op.value } as Operation;
  }
  if (NEEDS_FROM.has(kind)) {
    if (typeof op.from !== "string" || !op.from.startsWith("/")) throw unprocessablePatch();
    return { op: kind, path, from: op.from } as Operation;
  }
  if (kind === "remove") return { op: kind, path };
  throw unprocessablePatch();
}

/** Upstream: `replace` of a missing map key adds it. */
function addWhereMissing(object: JsonObject, operation: Operation): Operation {
  if (operation.op === "replace") {
    const slash = operation.path.lastIndexOf("/");
    const parent = slash === 0 ? object : valueAt(object, operation.path.slice(0, slash));
    if (isObject(parent)) return { ...operation, op: "add" };
  }
  if (operation.op === "add" || operation.op === "move" || operation.op === "copy") checkIndex(object, operation.path);
  return operation;
}

/** An index beyond the end of a list is an error, not a hole. */
function checkIndex(object: JsonObject, path: string): void {
  const slash = path.lastIndexOf("/");
  const parent = slash === 0 ? object : valueAt(object, path.slice(0, slash));
  if (!Array.isArray(parent)) return;
  const key = path.slice(slash + 1);
  if (key !== "-" && !(/^(0|[1-9]\d*)$/.test(key) && Number(key) <= parent.length)) throw unprocessablePatch();
}

function valueAt(object: JsonObject, path: string): JsonValue | undefined {
  try {
    return Pointer.fromJSON(path).get(object) as JsonValue | undefined;
  } catch {
    return undefined;
  }
}

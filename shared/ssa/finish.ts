/** The end of every write: fields that the subresource cannot change, and the no-op check (rules 50 and 53). @module */
import type { KindInfo, Obj, Value } from "./contract.ts";
import { equalValue, getKey, isObj } from "./value.ts";

/**
 * Puts back what a write to this subresource cannot change: main writes keep live's status (a create drops it), /status
 * writes keep everything of live but status and managedFields. Returns `next` itself when nothing is to be put back.
 *
 * @param live undefined on create
 */
export function resetFields(
  kind: KindInfo,
  subresource: string | undefined,
  live: Obj | undefined,
  next: Obj,
): Obj {
  if (!kind.statusSubresource) return next;
  if (!subresource) {
    const status = live && getKey(live, "status");
    if (status === getKey(next, "status")) return next;
    const { status: _status, ...rest } = next;
    return status === undefined ? rest : { ...rest, status };
  }
  if (subresource !== "status" || !live) return next;
  const { status: _old, ...rest } = live;
  const status = getKey(next, "status");
  const { managedFields: _fields, ...metadata } = isObj(live.metadata) ? live.metadata : {} as Obj;
  const fields = isObj(next.metadata) ? getKey(next.metadata, "managedFields") : undefined;
  return {
    ...rest,
    ...(isObj(live.metadata)
      ? { metadata: fields === undefined ? metadata : { ...metadata, managedFields: fields } }
      : {}),
    ...(status === undefined ? {} : { status }),
  };
}

/** Whether a write has to be stored, and what. */
export interface FinishResult {
  object: Obj;
  /** Nothing changed: store nothing, keep the resourceVersion, send no watch event. */
  noop: boolean;
}

/**
 * The no-op check, after defaulting, admission and validation: when only entry times differ from live, they are restored.
 * `next` must have live's resourceVersion, generation and other server-set metadata.
 */
export function finishWrite(live: Obj | undefined, next: Obj): FinishResult {
  if (!live) return { object: next, noop: false };
  const before = entriesOf(live), after = entriesOf(next);
  if (!equalButMetadata(live, next) || !equalMetadata(live.metadata, next.metadata)) {
    return { object: next, noop: false };
  }
  if (equalValue(before, after)) return { object: next, noop: true };
  if (!sameButTimes(before, after)) return { object: next, noop: false };
  return { object: { ...next, metadata: { ...next.metadata as Obj, managedFields: before! } }, noop: true };
}

/** True when storing `next` over `live` would change nothing but, perhaps, entry times. */
export function isNoOp(live: Obj | undefined, next: Obj): boolean {
  return finishWrite(live, next).noop;
}

function entriesOf(object: Obj): Value | undefined {
  return isObj(object.metadata) ? getKey(object.metadata, "managedFields") : undefined;
}

function sameButTimes(before: Value | undefined, after: Value | undefined): boolean {
  if (!Array.isArray(before) || !Array.isArray(after) || before.length !== after.length) return false;
  return before.every((entry, i) => {
    const other = after[i];
    if (!isObj(entry) || !isObj(other)) return false;
    const { time: _x, ...x } = entry, { time: _y, ...y } = other;
    return equalValue(x, y);
  });
}

function equalMetadata(a: Value | undefined, b: Value | undefined): boolean {
  return isObj(a) && isObj(b) ? equalExcept(a, b, "managedFields") : equalValue(a, b);
}

function equalButMetadata(a: Obj, b: Obj): boolean {
  return equalExcept(a, b, "metadata");
}

function equalExcept(a: Obj, b: Obj, except: string): boolean {
  let n = 0;
  for (const key of Object.keys(a)) {
    if (key === except) continue;
    n++;
    if (!Object.hasOwn(b, key) || !equalValue(a[key], b[key])) return false;
  }
  return n === Object.keys(b).length - (Object.hasOwn(b, except) ? 1 : 0);
}

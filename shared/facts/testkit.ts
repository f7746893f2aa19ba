/** For the tests of the facts: kinds, objects as a create makes them, partial comparison. @module */
import assert from "node:assert/strict";
import type { JsonObject } from "../json/mod.ts";
import type { KindDefinition } from "../server/contract.ts";
import { builtinKinds } from "./mod.ts";

/** A built-in kind. */
export function kindOf(kind: string, group?: string): KindDefinition {
  const found = builtinKinds((k) => k.kind === kind && (group === undefined || k.group === group))[0];
  assert.ok(found, kind);
  return found;
}

/** The object after `prepare` and `allocate`, as a create does it. */
export function created(kind: string, object: JsonObject): JsonObject {
  const copy = structuredClone(object);
  const { strategy } = kindOf(kind);
  strategy?.prepare?.(copy, undefined);
  strategy?.allocate?.(copy, undefined);
  return copy;
}

/** `field: message` of each error. */
export function errorsOf(kind: string, object: JsonObject, old?: JsonObject): string[] {
  return (kindOf(kind).strategy?.validate?.(object, old) ?? []).map((e) => `${e.field}: ${e.message}`);
}

/** True when all that `part` says is also in `whole`. */
export function assertHolds(whole: unknown, part: unknown, path = ""): void {
  if (Array.isArray(part)) {
    assert.ok(Array.isArray(whole), path);
    assert.equal(whole.length, part.length, path);
    part.forEach((p, i) => assertHolds(whole[i], p, `${path}[${i}]`));
  } else if (part !== null && typeof part === "object") {
    assert.ok(whole !== null && typeof whole === "object", path);
    for (const [key, value] of Object.entries(part)) {
      assertHolds((whole as Record<string, unknown>)[key], value, `${path}.${key}`);
    }
  } else assert.equal(whole, part, path);
}

/** A workload with one container. */
export const workload = (kind: string, spec: JsonObject = {}, pod: JsonObject = {}): JsonObject => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name: "x", namespace: "default", uid: "u1" },
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i:1" }], ...pod } },
    ...spec,
  },
});

import assert from "node:assert/strict";
import fc from "fast-check";
import type { KubeObject } from "../kube/types.ts";
import { shouldEnqueueOnUpdate, SYNC_ANNOTATION } from "./mod.ts";

function release(resourceVersion: string, generation: number, annotations?: Record<string, string>): KubeObject {
  return {
    apiVersion: "convoy.kumodo.io/v1alpha1",
    kind: "Release",
    metadata: { name: "shop", namespace: "team", resourceVersion, generation, ...(annotations ? { annotations } : {}) },
  };
}

Deno.test("rule 10: an update with an unchanged resource version, the resync, enqueues", () => {
  assert.equal(shouldEnqueueOnUpdate(release("5", 1), release("5", 1)), true);
});

Deno.test("rule 10: a change of the generation enqueues", () => {
  assert.equal(shouldEnqueueOnUpdate(release("5", 1), release("6", 2)), true);
});

Deno.test("rule 10: a status write, which changes the resource version alone, does not enqueue", () => {
  assert.equal(shouldEnqueueOnUpdate(release("5", 1), release("6", 1)), false);
  assert.equal(shouldEnqueueOnUpdate(release("5", 1), release("6", 1), SYNC_ANNOTATION), false);
});

Deno.test("rule 10: a change of the sync annotation enqueues for the Release controller only", () => {
  const at = (time: string) => ({ [SYNC_ANNOTATION]: time });
  const pairs: [Record<string, string> | undefined, Record<string, string> | undefined][] = [
    [undefined, at("1")],
    [at("1"), at("2")],
    [at("1"), undefined],
    [at("1"), { other: "x" }],
  ];
  for (const [before, after] of pairs) {
    assert.equal(shouldEnqueueOnUpdate(release("5", 1, before), release("6", 1, after), SYNC_ANNOTATION), true);
    assert.equal(shouldEnqueueOnUpdate(release("5", 1, before), release("6", 1, after)), false);
  }
  const other = shouldEnqueueOnUpdate(release("5", 1, { a: "1" }), release("6", 1, { a: "2" }), SYNC_ANNOTATION);
  assert.equal(other, false);
});

Deno.test("rule 10: nothing but the three cases enqueues", () => {
  const meta = fc.record({
    resourceVersion: fc.constantFrom("1", "2"),
    generation: fc.constantFrom(1, 2),
    sync: fc.constantFrom(undefined, "a", "b"),
    label: fc.constantFrom("x", "y"),
  });
  fc.assert(fc.property(meta, meta, fc.boolean(), (a, b, own) => {
    const make = (m: typeof a) => {
      const object = release(m.resourceVersion, m.generation, m.sync ? { [SYNC_ANNOTATION]: m.sync } : undefined);
      return { ...object, metadata: { ...object.metadata, labels: { l: m.label } }, status: { l: m.label } };
    };
    const expected = a.resourceVersion === b.resourceVersion || a.generation !== b.generation ||
      (own && a.sync !== b.sync);
    assert.equal(shouldEnqueueOnUpdate(make(a), make(b), own ? SYNC_ANNOTATION : undefined), expected);
  }));
});

import assert from "node:assert/strict";
import { finishWrite, isNoOp, type Obj, resetFields } from "./mod.ts";
import { kindOf } from "./test_support.ts";

const kind = kindOf();

function object(spec: Obj, times: (string | undefined)[], more: Obj = {}): Obj {
  const managedFields = times.map((time, i) => ({ manager: `m${i}`, fieldsV1: {}, ...(time ? { time } : {}) }));
  return { metadata: { name: "x", ...(times.length ? { managedFields } : {}) }, spec, ...more };
}

Deno.test("rule 53: finishWrite() restores times when nothing else changed", () => {
  const live = object({ a: 1 }, ["1", "2"]);
  const { object: stored, noop } = finishWrite(live, object({ a: 1 }, ["1", "9"]));
  assert.equal(noop, true);
  assert.deepEqual(stored, live);
});

const CHANGES: [what: string, live: Obj, next: Obj][] = [
  ["another value", object({ a: 1 }, ["1"]), object({ a: 2 }, ["9"])],
  ["another entry", object({ a: 1 }, ["1"]), object({ a: 1 }, ["1", "9"])],
  ["a label", object({}, ["1"]), {
    ...object({}, ["9"]),
    metadata: { ...object({}, ["9"]).metadata as Obj, labels: {} },
  }],
  ["a field less", object({}, ["1"], { status: {} }), object({}, ["9"])],
  ["entries in another order", object({}, ["1", "2"]), {
    ...object({}, []),
    metadata: { name: "x", managedFields: [{ manager: "m1", fieldsV1: {} }, { manager: "m0", fieldsV1: {} }] },
  }],
  ["null for absent", object({}, []), object({ a: null }, [])],
];
for (const [what, live, next] of CHANGES) {
  Deno.test(`rule 53: finishWrite() stores ${what}`, () => {
    const result = finishWrite(live, next);
    assert.equal(result.noop, false);
    assert.equal(result.object, next, "with its new times");
    assert.equal(isNoOp(live, next), false);
  });
}

Deno.test("rule 53: a create is never a no-op; equal objects are one whatever the order of their keys", () => {
  assert.equal(isNoOp(undefined, object({}, [])), false);
  assert.equal(isNoOp({ a: 1, b: { c: 1, d: 2n ** 60n } }, { b: { d: 2n ** 60n, c: 1 }, a: 1 }), true);
});

Deno.test("rule 50: resetFields() on main keeps live's status; a create drops it", () => {
  const next = { spec: {}, status: { phase: "new" } };
  assert.deepEqual(resetFields(kind, "", { status: { phase: "old" } }, next), { spec: {}, status: { phase: "old" } });
  assert.deepEqual(resetFields(kind, "", {}, next), { spec: {} });
  assert.deepEqual(resetFields(kind, undefined, undefined, next), { spec: {} });
  assert.deepEqual(resetFields(kind, "", { status: { a: 1 } }, { spec: {} }), { spec: {}, status: { a: 1 } });
});

Deno.test("rule 50: resetFields() on status keeps everything else of live, with the new managedFields", () => {
  const live = {
    apiVersion: "v",
    spec: { a: 1 },
    metadata: { name: "x", labels: { l: "1" }, managedFields: [1] },
    status: { p: 1 },
  };
  const next = { apiVersion: "v", spec: { a: 2 }, metadata: { name: "x", managedFields: [2] }, status: { p: 2 } };
  assert.deepEqual(resetFields(kind, "status", live, next), {
    ...live,
    metadata: { name: "x", labels: { l: "1" }, managedFields: [2] },
    status: { p: 2 },
  });
  const { status: _s, ...without } = next;
  assert.equal(Object.hasOwn(resetFields(kind, "status", live, without), "status"), false);
  const bare = resetFields(kind, "status", live, { metadata: { name: "x" }, status: {} });
  assert.deepEqual(bare.metadata, { name: "x", labels: { l: "1" } });
});

Deno.test("rule 50: resetFields() leaves a kind without status subresource alone", () => {
  const next = { status: { phase: "new" } };
  assert.equal(resetFields({ ...kind, statusSubresource: false }, "", { status: {} }, next), next);
});

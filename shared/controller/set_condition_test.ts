import assert from "node:assert/strict";
import type { Condition } from "../kube/types.ts";
import { findCondition, setCondition } from "./mod.ts";

const T0 = Date.UTC(2026, 0, 1), T1 = T0 + 60_999;
const first = { type: "A", status: "True", reason: "R", message: "m", observedGeneration: 1 } as const;

Deno.test("setCondition() adds at the end with the time of now, in whole seconds", () => {
  const other: Condition = { type: "Z", status: "False", reason: "R", message: "", lastTransitionTime: "x" };
  assert.deepEqual(setCondition([other], first, T1), [
    other,
    { ...first, lastTransitionTime: "2026-01-01T00:01:00Z" },
  ]);
  assert.equal(setCondition(undefined, first, T0).length, 1);
});

Deno.test("setCondition() keeps lastTransitionTime while the status is the same, and moves it when it changes", () => {
  const list = setCondition(undefined, first, T0);
  const told = setCondition(list, { ...first, reason: "Other", message: "n", observedGeneration: 2 }, T1);
  assert.equal(findCondition(told, "A")?.lastTransitionTime, "2026-01-01T00:00:00Z");
  assert.equal(findCondition(told, "A")?.reason, "Other");
  const turned = setCondition(told, { ...first, status: "Unknown" }, T1);
  assert.equal(findCondition(turned, "A")?.lastTransitionTime, "2026-01-01T00:01:00Z");
});

Deno.test("setCondition() gives back the same list when nothing changes, and never changes its argument", () => {
  const list = Object.freeze(setCondition(undefined, first, T0).map((c) => Object.freeze(c)));
  assert.equal(setCondition(list, { ...first }, T1), list);
  const next = setCondition(list, { ...first, status: "False" }, T1);
  assert.notEqual(next, list);
  assert.equal(list[0]!.status, "True");
  assert.equal(next.length, 1);
});

Deno.test("setCondition() replaces in place", () => {
  let list = setCondition(undefined, first, T0);
  list = setCondition(list, { ...first, type: "B" }, T0);
  list = setCondition(list, { ...first, status: "False" }, T1);
  assert.deepEqual(list.map((c) => c.type), ["A", "B"]);
});

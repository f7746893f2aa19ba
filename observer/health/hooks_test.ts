import assert from "node:assert/strict";
import type { HookRecord } from "../../shared/api/mod.ts";
import type { Unstructured } from "../../shared/kube/mod.ts";
import { assessHooks, hooksOf } from "./hooks.ts";

const NOW = Date.UTC(2026, 0, 1, 0, 5);
const hook = (more: Partial<HookRecord> = {}): HookRecord => ({
  name: "migrate",
  phase: "PreApply",
  renderRef: "R1",
  startedAt: "2026-01-01T00:00:00Z",
  ...more,
});
const job = (status: object): Unstructured => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "migrate", namespace: "t1", annotations: { "convoy.kumodo.io/hook": "PreApply, PostApply" } },
  status,
} as unknown as Unstructured);
const found = (h: HookRecord, object: Unstructured | undefined) =>
  assessHooks([h], new Map([[hooksOf(job({}))[0]!, object]]), NOW);
const ended = (type: string) => ({
  startTime: "2026-01-01T00:00:00Z",
  conditions: [{ type, status: "True", reason: "Why", lastTransitionTime: "2026-01-01T00:02:00Z" }],
});

Deno.test("hooksOf reads the phases of the annotation", () => {
  assert.deepEqual(hooksOf(job({})), ["PreApply|migrate", "PostApply|migrate"]);
  assert.deepEqual(hooksOf({ apiVersion: "v1", kind: "Pod", metadata: { name: "x" } }), []);
});

Deno.test("assessHooks: running, succeeded, failed, with the time that the Job tells", () => {
  assert.equal(found(hook(), job({ startTime: "x", active: 1 }))[0]!.state, "Running");
  assert.deepEqual(found(hook(), job(ended("Complete")))[0], {
    name: "migrate",
    phase: "PreApply",
    state: "Succeeded",
    finishedAt: "2026-01-01T00:02:00Z",
    message: "completed, 0 succeeded",
  });
  assert.equal(found(hook(), job(ended("Failed")))[0]!.state, "Failed");
});

Deno.test("assessHooks: a finished hook keeps what is recorded, also when its Job is gone", () => {
  assert.deepEqual(found(hook({ state: "Succeeded", finishedAt: "2026-01-01T00:02:00Z" }), undefined), []);
});

Deno.test("assessHooks: a Job that was deleted before its end has failed; one that was never seen is waited for", () => {
  assert.deepEqual(found(hook(), undefined)[0]!.state, "Failed");
  assert.equal(found(hook(), undefined)[0]!.finishedAt, "2026-01-01T00:05:00Z");
  assert.deepEqual(assessHooks([hook()], new Map(), NOW), []);
});

Deno.test("assessHooks: a hook that was not started is left alone", () => {
  const { startedAt: _, ...idle } = hook();
  assert.deepEqual(found(idle, job(ended("Complete"))), []);
});

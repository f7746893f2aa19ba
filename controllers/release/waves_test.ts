import assert from "node:assert/strict";
import { computeWaves, judgeRollout, type RolloutEntry, rolloutStart, withStates } from "./waves.ts";

const NOW = Date.UTC(2026, 0, 1, 12);
const entry = (name: string, more: Partial<RolloutEntry> = {}): RolloutEntry => ({
  group: "apps",
  kind: "Deployment",
  namespace: "t1",
  name,
  wave: 0,
  applied: true,
  ...more,
});

Deno.test("rule 6: waves[].healthy counts the inventory's states of this render alone", () => {
  const entries = withStates(
    [entry("a"), entry("b"), entry("c"), entry("d", { wave: 1, applied: false })],
    [
      { ...entry("a"), state: "Healthy", assessedRenderRef: "new" },
      { ...entry("b"), state: "Healthy", assessedRenderRef: "old" },
      { ...entry("c"), state: "Suspended", assessedRenderRef: "new" },
    ],
    "new",
  );
  assert.deepEqual(computeWaves(entries, [], NOW), [
    { wave: 0, objects: 3, applied: 3, healthy: 2, startedAt: "2026-01-01T12:00:00Z" },
    { wave: 1, objects: 1, applied: 0, healthy: 0, startedAt: "2026-01-01T12:00:00Z" },
  ]);
});

Deno.test("computeWaves() keeps startedAt, and finishedAt once a wave was done", () => {
  const done = computeWaves([entry("a", { state: "Healthy" })], [], NOW);
  assert.equal(done[0]!.finishedAt, "2026-01-01T12:00:00Z");
  const later = computeWaves([entry("a", { state: "Degraded" })], done, NOW + 60_000);
  assert.equal(later[0]!.startedAt, "2026-01-01T12:00:00Z");
  assert.equal(later[0]!.finishedAt, "2026-01-01T12:00:00Z");
  assert.equal(later[0]!.healthy, 0);
  assert.equal(rolloutStart(later), NOW);
});

const base = {
  applied: { status: "True" as const, message: "all applied" },
  succeeded: false,
  startedAt: NOW,
  timeout: 300_000,
  now: NOW + 1000,
};

Deno.test("judgeRollout() succeeds when all is applied and healthy or suspended", () => {
  const verdict = judgeRollout({
    ...base,
    entries: [entry("a", { state: "Healthy" }), entry("b", { state: "Suspended" })],
  });
  assert.deepEqual(verdict, { status: "True", reason: "Succeeded", message: "2 objects applied and healthy" });
});

Deno.test("judgeRollout() goes on, names what it waits for and when it times out", () => {
  const verdict = judgeRollout({ ...base, entries: [entry("a", { state: "Healthy" }), entry("b")] })!;
  assert.equal(verdict.status, "Unknown");
  assert.match(verdict.message, /1 of 2 objects healthy; waiting for Deployment t1\/b \(not assessed yet\)/);
  assert.equal(verdict.after, 299_000);
});

Deno.test("judgeRollout() times out, and becomes a success when all gets well after all", () => {
  const late = { ...base, now: NOW + 300_000 };
  assert.equal(judgeRollout({ ...late, entries: [entry("a", { state: "Progressing" })] })!.reason, "TimedOut");
  assert.equal(judgeRollout({ ...late, entries: [entry("a", { state: "Healthy" })] })!.reason, "Succeeded");
});

Deno.test("C21: judgeRollout() fails on a degraded object, but not at once on one that was so before", () => {
  const degraded = { state: "Degraded" as const, message: "crash loop" };
  const failed = judgeRollout({ ...base, entries: [entry("a", degraded)] })!;
  assert.deepEqual([failed.status, failed.reason], ["False", "Failed"]);
  assert.match(failed.message, /Deployment t1\/a \(Degraded: crash loop\)/);
  const excused = judgeRollout({ ...base, entries: [entry("a", { ...degraded, excused: true })] })!;
  assert.equal(excused.reason, "Progressing");
  assert.equal(
    judgeRollout({ ...base, now: NOW + 300_000, entries: [entry("a", { ...degraded, excused: true })] })!.reason,
    "TimedOut",
  );
});

Deno.test("judgeRollout() does not change a success", () => {
  assert.equal(judgeRollout({ ...base, succeeded: true, entries: [entry("a", { state: "Degraded" })] }), undefined);
});

Deno.test("judgeRollout() fails when the apply failed, and waits while it goes on", () => {
  const entries = [entry("a", { state: "Healthy", applied: false })];
  assert.equal(judgeRollout({ ...base, applied: { status: "False", message: "no" }, entries })!.reason, "Failed");
  assert.equal(judgeRollout({ ...base, applied: { status: "Unknown", message: "later" }, entries })!.message, "later");
});

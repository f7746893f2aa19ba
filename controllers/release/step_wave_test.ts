import assert from "node:assert/strict";
import type { Release } from "../../shared/api/mod.ts";
import { notThereYet, waitForLowerWaves } from "./step_wave.ts";
import { Stop } from "./stop.ts";

function release(name: string, clusterWave: number, applied?: string, healthy?: string, more: object = {}): Release {
  const condition = (type: string, status?: string) =>
    status ? [{ type, status, reason: "X", message: "", observedGeneration: 2, lastTransitionTime: "" }] : [];
  return {
    metadata: { name, generation: 2, ...more },
    spec: { clusterWave },
    status: { conditions: [...condition("Applied", applied), ...condition("Healthy", healthy)] },
  } as unknown as Release;
}

Deno.test("waitForLowerWaves() goes on when all lower waves are Applied and Healthy", () => {
  const me = release("me", 2);
  waitForLowerWaves(me, [me, release("a", 0, "True", "True"), release("same", 2), release("higher", 3)]);
});

Deno.test("waitForLowerWaves() names who is waited for, lowest wave first", () => {
  const me = release("me", 2);
  const others = [release("b", 1, "True", "False"), release("a", 0, "False"), release("c", 1)];
  assert.throws(() => waitForLowerWaves(me, others), (error: unknown) => {
    assert.ok(error instanceof Stop);
    assert.equal(error.reason, "WaitingForClusterWave");
    assert.match(
      error.message,
      /^Wave 2 waits for a \(wave 0: Applied is False, X\); b \(wave 1: Healthy is False, X\); c/,
    );
    return true;
  });
});

Deno.test("waitForLowerWaves() does not wait for a Release that is being deleted", () => {
  waitForLowerWaves(release("me", 1), [release("a", 0, "False", "False", { deletionTimestamp: "x" })]);
});

Deno.test("notThereYet() takes no answer about an old spec or an old render", () => {
  assert.match(notThereYet(release("a", 0, "True", "True", { generation: 3 }))!, /new spec/);
  const stale = release("a", 0, "True", "True");
  stale.status!.waves = [{ wave: 0, objects: 2, applied: 2, healthy: 1 }];
  assert.match(notThereYet(stale)!, /1 of 2/);
});

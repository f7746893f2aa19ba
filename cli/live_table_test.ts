import assert from "node:assert/strict";
import type { Release } from "../shared/api/mod.ts";
import { allTrue, releaseTable, SIGNALS } from "./live_table.ts";

function release(statuses: Record<string, string>, generation = 1, observed = 1): Release {
  return {
    apiVersion: "convoy.kumodo.io/v1alpha1",
    kind: "Release",
    metadata: { name: "web", namespace: "default", generation },
    spec: { cluster: { name: "east" } } as Release["spec"],
    status: {
      observedGeneration: observed,
      source: { revision: "main@sha1:0123456789abcdef", digest: "sha256:x" },
      conditions: Object.entries(statuses).map(([type, status]) => ({
        type,
        status: status as "True",
        reason: "Because",
        message: `${type} says`,
        lastTransitionTime: "2026-01-01T00:00:00Z",
      })),
    },
  };
}

const good = Object.fromEntries(SIGNALS.map((s) => [s, "True"]));

Deno.test("allTrue() needs all four signals at the generation asked for", () => {
  assert.equal(allTrue(release(good)), true);
  for (const signal of SIGNALS) {
    const { [signal]: _, ...rest } = good;
    assert.equal(allTrue(release(rest)), false, `without ${signal}`);
    assert.equal(allTrue(release({ ...good, [signal]: "False" })), false, `${signal} False`);
  }
  assert.equal(allTrue(release(good, 2, 1)), false);
});

Deno.test("releaseTable() shows the signals, a short revision, and why the first one is not True", () => {
  const [head, row] = releaseTable([release({ ...good, Healthy: "False" })]).split("\n");
  assert.match(head!, /^RELEASE +CLUSTER +APPLIED +INSYNC +HEALTHY +ROLLOUT +REVISION +MESSAGE$/);
  assert.match(row!, /^web +east +True +True +False +True +main@sha1:01234567 +Because: Healthy says$/);
});

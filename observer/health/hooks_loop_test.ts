import assert from "node:assert/strict";
import { members, putHooks } from "../../shared/inventory/mod.ts";
import { createMetrics } from "../../shared/runtime/mod.ts";
import { writerDeps } from "../../shared/status/mod.ts";
import { configMap, NS, resourceOf, world } from "../../tests/kit/observer_world.ts";
import { healthRole } from "./mod.ts";

const job = (name: string) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name, namespace: NS, annotations: { "convoy.kumodo.io/hook": "PreApply" } },
  spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "x" }] } } },
});
const done = {
  startTime: "2026-01-01T00:00:00Z",
  completionTime: "2026-01-01T00:00:09Z",
  succeeded: 1,
  conditions: [
    { type: "SuccessCriteriaMet", status: "True" },
    { type: "Complete", status: "True", lastTransitionTime: "2026-01-01T00:00:09Z" },
  ],
};

Deno.test("rule 7: a hook that finished keeps its finishedAt while others run, and when its Job is gone", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(healthRole);
  const renderRef = await w.rollOut("shop", configMap("cfg", {}));
  await w.untilCondition("shop", "Healthy", "True/Healthy");
  const writer = writerDeps({ client: w.client, metrics: createMetrics({ process: false }) });
  const startedAt = "2026-01-01T00:00:00Z", phase = "PreApply" as const;
  const hook = async (name: string) =>
    (await w.inventory("shop")).hooks?.find((h) => h.name === name) ??
      { name, state: undefined, finishedAt: undefined };

  await putHooks(writer, await w.inventory("shop"), [{ name: "one", phase, renderRef, startedAt }, {
    name: "two",
    phase,
    renderRef,
  }]);
  await w.apply("shop", job("one"));
  await w.until("one runs", async () => (await hook("one")).state === "Running");
  await w.report(job("one"), done);
  await w.until("one is finished", async () => (await hook("one")).finishedAt === "2026-01-01T00:00:09Z");
  assert.equal((await hook("one")).state, "Succeeded");

  // The next pass polls only the second hook; the first one's record is sent along.
  await putHooks(writer, await w.inventory("shop"), [
    { name: "one", phase, renderRef, startedAt },
    { name: "two", phase, renderRef, startedAt },
  ]);
  await w.apply("shop", job("two"));
  await w.target.delete(resourceOf(job("one")), { namespace: NS, name: "one" });
  await w.until("two runs", async () => (await hook("two")).state === "Running");
  await w.report(job("two"), {
    ...done,
    conditions: [{ type: "FailureTarget", status: "True" }, {
      type: "Failed",
      status: "True",
      reason: "BackoffLimitExceeded",
    }],
    succeeded: 0,
  });
  await w.until("two has failed", async () => (await hook("two")).state === "Failed");
  assert.deepEqual([(await hook("one")).state, (await hook("one")).finishedAt], ["Succeeded", "2026-01-01T00:00:09Z"]);
  assert.equal(members(await w.inventory("shop")).length, 1, "the membership is not touched");
  assert.equal((await w.condition("shop", "Healthy"))?.text, "True/Healthy", "hooks are no members");
});

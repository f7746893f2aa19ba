import assert from "node:assert/strict";
import type { Release, ReleaseStatus } from "../api/mod.ts";
import { failure } from "../kube/status.ts";
import type { KubeClient } from "../kube/contract.ts";
import type { KubeObject } from "../kube/types.ts";
import { createMetrics } from "../runtime/mod.ts";
import {
  ownedStatusApplyConfig,
  statusChanged,
  writeHealth,
  writeInSync,
  writerDeps,
  writeReleaseStatus,
} from "./mod.ts";

const NOW = Date.UTC(2026, 0, 1, 12);
const EARLIER = "2025-12-31T00:00:00Z";

function release(status?: ReleaseStatus): Release {
  return {
    apiVersion: "convoy.kumodo.io/v1alpha1",
    kind: "Release",
    metadata: { name: "web", namespace: "t1", uid: "u1", resourceVersion: "7", generation: 3 },
    spec: { cluster: { name: "c" }, source: { git: { repository: "r", path: "." } } } as Release["spec"],
    ...(status ? { status } : {}),
  };
}

const condition = (type: string, status: "True" | "False" | "Unknown" = "True", generation = 3) => ({
  type,
  status,
  reason: "Because",
  message: "so",
  observedGeneration: generation,
  lastTransitionTime: EARLIER,
});

interface Sent {
  body: KubeObject & { status?: ReleaseStatus };
  options: Record<string, unknown>;
}

/** A client that keeps what is applied; `answer` may refuse. */
function recorder(answer: () => void = () => {}) {
  const sent: Sent[] = [];
  const client = {
    async apply(_r: unknown, body: Sent["body"], options: Record<string, unknown>) {
      sent.push({ body, options });
      answer();
      return { ...body, metadata: { ...body.metadata, resourceVersion: String(100 + sent.length) } };
    },
    async get() {
      return release();
    },
  } as unknown as KubeClient;
  return { sent, deps: writerDeps({ client, metrics: createMetrics() }) };
}

const full: ReleaseStatus = {
  conditions: ["Applied", "InSync", "Healthy", "RolloutSucceeded", "LifecycleSucceeded"].map((t) => condition(t)),
  observedGeneration: 3,
  reconciledAt: EARLIER,
  source: { revision: "main@1", digest: "sha256:1" },
  renderRef: "r1",
  waves: [{ wave: 0, objects: 1, applied: 1, healthy: 1 }],
  renders: [{ renderRef: "r1", revision: "main@1", time: EARLIER, size: 1, objects: 1 }],
  pin: { renderRef: "r1", reason: "hold" },
  lifecycle: { action: "Restart", id: "1" },
  resolvedRetentionPolicy: { count: 3 },
  healthSummary: { healthy: 1, progressing: 0, degraded: 0, suspended: 0, missing: 0, unknown: 0 },
};

Deno.test("ownedStatusApplyConfig() sends the controller's fields and none of the others'", () => {
  const { status } = ownedStatusApplyConfig(release(full), full);
  assert.deepEqual(status.conditions?.map((c) => c.type), ["Applied", "RolloutSucceeded", "LifecycleSucceeded"]);
  assert.deepEqual(Object.keys(status).sort(), [
    "conditions",
    "lifecycle",
    "observedGeneration",
    "pin",
    "reconciledAt",
    "renderRef",
    "renders",
    "resolvedRetentionPolicy",
    "source",
    "waves",
  ]);
});

Deno.test("ownedStatusApplyConfig() leaves pin, lifecycle and LifecycleSucceeded out when they have no value", () => {
  const { status } = ownedStatusApplyConfig(release(), { conditions: [condition("Applied")] });
  assert.deepEqual(Object.keys(status).sort(), ["conditions", "resolvedRetentionPolicy"]);
  assert.deepEqual(status.resolvedRetentionPolicy, { count: 10 });
});

Deno.test("ownedStatusApplyConfig() does not send fields that a later version adds to the status", () => {
  const odd = { ...full, somethingNew: 1 } as ReleaseStatus;
  assert.ok(!("somethingNew" in ownedStatusApplyConfig(release(), odd).status));
});

Deno.test("statusChanged() ignores reconciledAt and the fields of other writers", () => {
  const other = {
    ...full,
    reconciledAt: "2026-01-01T00:00:00Z",
    healthSummary: { ...full.healthSummary!, degraded: 9 },
    conditions: full.conditions!.map((c) => c.type === "Healthy" ? condition("Healthy", "False") : c),
  };
  assert.equal(statusChanged(full, other), false);
  const { pin: _, ...unpinned } = full;
  assert.equal(statusChanged(full, unpinned), true);
  assert.equal(statusChanged(undefined, {}), false);
  assert.equal(statusChanged(full, { ...full, source: { revision: "main@2", digest: "sha256:1" } }), true);
});

Deno.test("writeReleaseStatus() sets reconciledAt only when it writes", async () => {
  const { sent, deps } = recorder();
  assert.equal(await writeReleaseStatus(deps, release(full), full, NOW), "skipped");
  assert.equal(sent.length, 0);
  assert.equal(await writeReleaseStatus(deps, release(full), { ...full, renderRef: "r2" }, NOW), "written");
  assert.equal(sent[0]!.body.status?.reconciledAt, "2026-01-01T12:00:00Z");
  assert.deepEqual(sent[0]!.options, { fieldManager: "convoy-release-controller", force: true, subresource: "status" });
  assert.equal(sent[0]!.body.metadata.uid, "u1");
});

Deno.test("writeInSync() skips on equal status, reason, message and generation, and keeps the transition time", async () => {
  const { sent, deps } = recorder();
  const verdict = { status: "True" as const, reason: "Because", message: "so" };
  assert.equal(await writeInSync(deps, release(full), verdict, NOW), "skipped");
  assert.equal(await writeInSync(deps, release(full), { ...verdict, message: "other" }, NOW), "written");
  assert.equal(sent[0]!.body.status?.conditions?.[0]?.lastTransitionTime, EARLIER);
  assert.deepEqual(Object.keys(sent[0]!.body.status!), ["conditions"]);
  const { sent: second, deps: fresh } = recorder();
  assert.equal(await writeInSync(fresh, release(full), { ...verdict, status: "False" }, NOW), "written");
  assert.equal(second[0]!.body.status?.conditions?.[0]?.lastTransitionTime, "2026-01-01T12:00:00Z");
  const { deps: third } = recorder();
  const moved = { ...release(full), metadata: { ...release().metadata, generation: 4 } };
  assert.equal(await writeInSync(third, moved, verdict, NOW), "written");
});

Deno.test("writeHealth() also compares healthSummary", async () => {
  const { sent, deps } = recorder();
  const verdict = { status: "True" as const, reason: "Because", message: "so" };
  assert.equal(await writeHealth(deps, release(full), verdict, full.healthSummary!, NOW), "skipped");
  const summary = { ...full.healthSummary!, healthy: 2 };
  assert.equal(await writeHealth(deps, release(full), verdict, summary, NOW), "written");
  assert.deepEqual(sent[0]!.body.status?.healthSummary, summary);
});

Deno.test("writers() take a Release that is gone for no error", async () => {
  const { deps } = recorder(() => {
    throw failure(404, "NotFound", "gone");
  });
  const verdict = { status: "False" as const, reason: "X", message: "" };
  assert.equal(await writeInSync(deps, release(full), verdict, NOW), "skipped");
});

Deno.test("writers() take a Release that was made anew for no error, and other conflicts for one", async () => {
  const { deps } = recorder(() => {
    throw failure(422, "Invalid", "uid: field is immutable");
  });
  const verdict = { status: "False" as const, reason: "X", message: "" };
  const old = { ...release(full), metadata: { ...release().metadata, uid: "u0" } };
  assert.equal(await writeInSync(deps, old, verdict, NOW), "skipped");
  await assert.rejects(writeInSync(deps, release(full), verdict, NOW), /immutable/);
});

Deno.test("writeInSync() compares with what it wrote itself while the cache lags", async () => {
  const { sent, deps } = recorder();
  const cached = release(full);
  const good = { status: "True" as const, reason: "Because", message: "so" };
  await writeInSync(deps, cached, { ...good, status: "False" }, NOW);
  assert.equal(await writeInSync(deps, cached, good, NOW), "written");
  assert.equal(sent.length, 2);
});

Deno.test("writers() count what they did", async () => {
  const { deps } = recorder();
  await writeReleaseStatus(deps, release(full), full, NOW);
  await writeReleaseStatus(deps, release(full), { ...full, renderRef: "r2" }, NOW);
  const text = await deps.metrics.text();
  assert.match(text, /convoy_status_writes_total\{writer="convoy-release-controller",result="skipped"\} 1/);
  assert.match(text, /convoy_status_writes_total\{writer="convoy-release-controller",result="written"\} 1/);
});

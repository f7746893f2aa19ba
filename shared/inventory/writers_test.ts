import assert from "node:assert/strict";
import type { Release, ReleaseInventory } from "../api/mod.ts";
import type { KubeClient } from "../kube/contract.ts";
import { createMetrics } from "../runtime/mod.ts";
import { writerDeps } from "../status/mod.ts";
import { entryId, members, put, putDrift, putHealth, putHooks } from "./mod.ts";

const release = {
  apiVersion: "convoy.kumodo.io/v1alpha1",
  kind: "Release",
  metadata: { name: "web", namespace: "t1", uid: "u1" },
  spec: {},
} as unknown as Release;

const key = (name: string) => ({ group: "apps", kind: "Deployment", namespace: "t1", name });
const entry = (name: string, more: object = {}) => ({ ...key(name), version: "v1", renderRef: "r1", wave: 0, ...more });

function inventory(parts: Partial<ReleaseInventory>): ReleaseInventory {
  return {
    apiVersion: "convoy.kumodo.io/v1alpha1",
    kind: "ReleaseInventory",
    metadata: { name: "web", namespace: "t1", uid: "i1", resourceVersion: "5" },
    ...parts,
  };
}

function recorder() {
  const sent: { body: ReleaseInventory; options: Record<string, unknown> }[] = [];
  const client = {
    async apply(_r: unknown, body: ReleaseInventory, options: Record<string, unknown>) {
      sent.push({ body, options });
      return { ...body, metadata: { ...body.metadata, resourceVersion: String(100 + sent.length) } };
    },
  } as unknown as KubeClient;
  return { sent, deps: writerDeps({ client, metrics: createMetrics() }) };
}

Deno.test("put() sends the full membership with an owner reference and without hooks", async () => {
  const { sent, deps } = recorder();
  assert.equal(await put(deps, release, undefined, [entry("a"), entry("b")]), "written");
  const { body, options } = sent[0]!;
  assert.deepEqual(options, { fieldManager: "convoy-release-inventory", force: true });
  assert.deepEqual(body.inventory, [entry("a"), entry("b")]);
  assert.equal("hooks" in body, false);
  assert.equal(body.metadata.ownerReferences?.[0]?.uid, "u1");
});

Deno.test("put() skips when the membership is the same in another order", async () => {
  const { sent, deps } = recorder();
  const cached = inventory({ inventory: [entry("b", { state: "Healthy" }), entry("a")] });
  assert.equal(await put(deps, release, cached, [entry("a"), entry("b")]), "skipped");
  assert.equal(await put(deps, release, cached, [entry("a"), entry("b", { renderRef: "r2" })]), "written");
  assert.equal(await put(deps, release, inventory({ inventory: [entry("a")] }), []), "written");
  assert.equal(sent.length, 2);
});

Deno.test("putHooks() sends hooks without inventory, and needs the inventory to exist", async () => {
  const { sent, deps } = recorder();
  const hook = { name: "migrate", phase: "PreApply" as const, renderRef: "r1", startedAt: "2026-01-01T00:00:00Z" };
  assert.equal(await putHooks(deps, inventory({}), [hook]), "written");
  assert.deepEqual(sent[0]!.body.hooks, [hook]);
  assert.equal("inventory" in sent[0]!.body, false);
  assert.equal(sent[0]!.body.metadata.uid, "i1");
  assert.equal(sent[0]!.options.fieldManager, "convoy-release-hooks");
  const { deps: again } = recorder();
  assert.equal(await putHooks(again, inventory({ hooks: [{ ...hook, state: "Running" }] }), [hook]), "skipped");
});

Deno.test("putHealth() sends every member's state, also of those that it did not look at now", async () => {
  const { sent, deps } = recorder();
  const cached = inventory({
    inventory: [entry("a", { state: "Healthy", assessedRenderRef: "r1" }), entry("b"), entry("c")],
  });
  const found = { ...key("b"), state: "Degraded" as const, message: "crash", assessedRenderRef: "r1" };
  assert.equal(await putHealth(deps, cached, { entries: [found] }), "written");
  assert.deepEqual(sent[0]!.body.inventory, [
    { ...key("a"), state: "Healthy", assessedRenderRef: "r1" },
    found,
  ]);
});

Deno.test("putHealth() sends every hook that has a state, not only those polled now", async () => {
  const { sent, deps } = recorder();
  const done = {
    name: "h1",
    phase: "PreApply" as const,
    renderRef: "r1",
    state: "Succeeded" as const,
    finishedAt: "2026-01-01T00:00:00Z",
  };
  const cached = inventory({ hooks: [done, { name: "h2", phase: "PreApply", renderRef: "r1" }] });
  await putHealth(deps, cached, { hooks: [{ name: "h2", phase: "PreApply", state: "Running" }] });
  assert.deepEqual(sent[0]!.body.hooks, [
    { name: "h1", phase: "PreApply", state: "Succeeded", finishedAt: done.finishedAt },
    { name: "h2", phase: "PreApply", state: "Running" },
  ]);
});

Deno.test("putHealth() drops entries that are no members, and skips when nothing changes", async () => {
  const { sent, deps } = recorder();
  const gone = { ...key("gone"), state: "Healthy" as const, assessedRenderRef: "r0" };
  const a = entry("a", { state: "Healthy", assessedRenderRef: "r1" });
  assert.equal(await putHealth(deps, inventory({ inventory: [a, gone] }), {}), "written");
  assert.deepEqual(sent[0]!.body.inventory?.map((e) => e.name), ["a"]);
  const { deps: again } = recorder();
  assert.equal(await putHealth(again, inventory({ inventory: [a] }), {}), "skipped");
});

Deno.test("putHealth() does not send an entry back from a cache that lags behind its own write", async () => {
  const { sent, deps } = recorder();
  const cached = inventory({ inventory: [entry("a"), entry("b")] });
  const found = (name: string) => ({ ...key(name), state: "Healthy" as const, assessedRenderRef: "r1" });
  await putHealth(deps, cached, { entries: [found("a")] });
  // What the server answered: a as written, b a member still.
  deps.memory.remember(inventory({
    metadata: { ...cached.metadata, resourceVersion: "200" },
    inventory: [entry("a", { state: "Healthy", assessedRenderRef: "r1" }), entry("b")],
  }));
  await putHealth(deps, cached, { entries: [found("b")] });
  assert.deepEqual(sent[1]!.body.inventory?.map((e) => [e.name, e.state]), [["a", "Healthy"], ["b", "Healthy"]]);
});

Deno.test("putDrift() sends drift of all members and nothing else", async () => {
  const { sent, deps } = recorder();
  const drift = { state: "Drifted" as const, fields: ["/spec/replicas"], checkedRenderRef: "r1" };
  const cached = inventory({ inventory: [entry("a", { drift, state: "Healthy" }), entry("b")] });
  const found = { ...key("b"), drift: { state: "InSync" as const, checkedRenderRef: "r1" } };
  assert.equal(await putDrift(deps, cached, [found]), "written");
  assert.deepEqual(sent[0]!.body.inventory, [{ ...key("a"), drift }, found]);
  assert.equal(sent[0]!.options.fieldManager, "convoy-drift");
});

Deno.test("members() leaves out what has no renderRef", () => {
  const list = members(inventory({ inventory: [entry("a"), { ...key("b"), state: "Healthy" }] }));
  assert.deepEqual(list.map(entryId), ["apps|Deployment|t1|a"]);
});

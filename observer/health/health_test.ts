import assert from "node:assert/strict";
import { healthRole } from "./mod.ts";
import { configMap, deployment, NS, up, world } from "../../tests/kit/observer_world.ts";

Deno.test("health: objects that were applied are assessed at their render and summed up", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(healthRole);
  const web = deployment("web", "web:1");
  const ref = await w.rollOut("shop", configMap("cfg", { a: "1" }), web);
  await w.untilCondition("shop", "Healthy", "Unknown/Progressing");
  await w.until("web is seen", async () => (await w.entry("shop", "Deployment/web"))?.state === "Progressing");
  await w.report(web, up(1));
  assert.equal(await w.untilCondition("shop", "Healthy", "True/Healthy"), "2 objects healthy");
  const entry = await w.entry("shop", "Deployment/web");
  assert.equal(entry?.state, "Healthy");
  assert.equal(entry?.message, "2 of 2 available");
  assert.equal(entry?.assessedRenderRef, ref);
  assert.equal((await w.entry("shop", "ConfigMap/cfg"))?.assessedRenderRef, ref);
  assert.deepEqual((await w.get("shop")).status?.healthSummary, {
    healthy: 2,
    progressing: 0,
    degraded: 0,
    suspended: 0,
    missing: 0,
    unknown: 0,
  });
});

Deno.test("health: a broken Deployment makes Healthy False and nothing else moves", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(healthRole);
  const web = deployment("web", "web:1");
  await w.rollOut("shop", web);
  await w.report(web, up(1));
  await w.untilCondition("shop", "Healthy", "True/Healthy");
  await w.report(web, { ...up(1), readyReplicas: 0, availableReplicas: 0 });
  const message = await w.untilCondition("shop", "Healthy", "False/Degraded");
  assert.equal(message, "1 of 1 object: Deployment t1/web (0 of 2 available)");
  assert.equal((await w.condition("shop", "Applied"))?.text, "True/Applied");
  await w.report(web, up(1));
  await w.untilCondition("shop", "Healthy", "True/Healthy");
});

Deno.test("health: an entry is not assessed at a new render before the apply, however healthy the old object is", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(healthRole);
  const old = deployment("web", "web:1"), next = deployment("web", "web:2");
  const first = await w.rollOut("shop", old);
  await w.report(old, up(1));
  await w.untilCondition("shop", "Healthy", "True/Healthy");

  const second = await w.put("shop", next);
  await w.untilCondition("shop", "Healthy", "Unknown/Progressing");
  await w.pass(5000);
  let entry = await w.entry("shop", "Deployment/web");
  assert.deepEqual([entry?.renderRef, entry?.assessedRenderRef, entry?.state], [second, first, "Healthy"]);

  // Applied, and yet the status of the object is about the old spec (C21).
  await w.apply("shop", next);
  await w.applied("shop", second);
  await w.until("it is seen at the new render", async () => {
    entry = await w.entry("shop", "Deployment/web");
    return entry?.assessedRenderRef === second;
  });
  assert.equal(entry?.state, "Progressing");
  await w.report(next, up(2));
  await w.untilCondition("shop", "Healthy", "True/Healthy");
});

Deno.test("health: a stale watch does not make the old object count as the new one", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(healthRole);
  const old = deployment("web", "web:1"), next = deployment("web", "web:2");
  await w.rollOut("shop", old);
  await w.report(old, up(1));
  await w.untilCondition("shop", "Healthy", "True/Healthy");
  // The target's watches stand still from now on; requests go on.
  w.freezeWatches();
  const second = await w.rollOut("shop", next);
  await w.until(
    "it is seen at the new render",
    async () => (await w.entry("shop", "Deployment/web"))?.assessedRenderRef === second,
  );
  assert.equal((await w.entry("shop", "Deployment/web"))?.state, "Progressing");
});

Deno.test("health: a wave that is applied is assessed while the next one waits", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(healthRole);
  const one = configMap("one", {}), two = configMap("two", {}, 1);
  const ref = await w.put("shop", one, two);
  await w.apply("shop", one);
  await w.status("shop", (status) => {
    status.waves = [{ wave: 0, objects: 1, applied: 1, healthy: 0 }, { wave: 1, objects: 1, applied: 0, healthy: 0 }];
  });
  await w.until("wave 0 is seen", async () => (await w.entry("shop", "ConfigMap/one"))?.assessedRenderRef === ref);
  await w.pass(3000);
  assert.equal((await w.entry("shop", "ConfigMap/two"))?.state, undefined, "not applied, not missing");
  assert.equal((await w.condition("shop", "Healthy"))?.text, "Unknown/Progressing");
});

Deno.test("health: an object deleted by hand is Missing within seconds, and Healthy again when it is back", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(healthRole);
  const cfg = configMap("cfg", { a: "1" });
  const ref = await w.rollOut("shop", cfg);
  await w.untilCondition("shop", "Healthy", "True/Healthy");
  await w.target.delete({ group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true }, {
    namespace: NS,
    name: "cfg",
  });
  assert.match(await w.untilCondition("shop", "Healthy", "False/Degraded"), /ConfigMap t1\/cfg \(not on the cluster\)/);
  assert.equal((await w.entry("shop", "ConfigMap/cfg"))?.state, "Missing");
  await w.apply("shop", cfg);
  await w.untilCondition("shop", "Healthy", "True/Healthy");
  assert.equal((await w.entry("shop", "ConfigMap/cfg"))?.assessedRenderRef, ref);
});

Deno.test("health: an object whose mark was taken off is still there", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(healthRole);
  const cfg = configMap("cfg", { a: "1" });
  await w.rollOut("shop", cfg);
  await w.untilCondition("shop", "Healthy", "True/Healthy");
  await w.edit(cfg, { metadata: { labels: { "convoy.kumodo.io/release-uid": null } } });
  await w.pass(3000);
  assert.equal((await w.condition("shop", "Healthy"))?.text, "True/Healthy");
});

Deno.test("health: an unreachable cluster makes everything Unknown, and it recovers by itself", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(healthRole);
  const ref = await w.rollOut("shop", configMap("cfg", {}));
  await w.untilCondition("shop", "Healthy", "True/Healthy");
  w.down = true;
  await w.untilCondition("shop", "Healthy", "Unknown/ClusterUnreachable");
  let entry = await w.entry("shop", "ConfigMap/cfg");
  assert.deepEqual([entry?.state, entry?.assessedRenderRef], ["Unknown", ref]);
  assert.equal((await w.get("shop")).status?.healthSummary?.unknown, 1);
  w.down = false;
  await w.untilCondition("shop", "Healthy", "True/Healthy");
  entry = await w.entry("shop", "ConfigMap/cfg");
  assert.equal(entry?.state, "Healthy");
});

Deno.test("health: C22 a claim of a WaitForFirstConsumer class is Healthy by looking the class up on the target, once", async () => {
  await using w = await world();
  const storageClass = (name: string, volumeBindingMode: string, isDefault = false) =>
    w.target.create({
      group: "storage.k8s.io",
      version: "v1",
      plural: "storageclasses",
      kind: "StorageClass",
      namespaced: false,
    }, {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: {
        name,
        ...(isDefault ? { annotations: { "storageclass.kubernetes.io/is-default-class": "true" } } : {}),
      },
      provisioner: "x.example",
      volumeBindingMode,
    } as never);
  await storageClass("std", "WaitForFirstConsumer", true);
  await storageClass("now", "Immediate");
  const claim = (name: string, storageClassName?: string) => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace: NS },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
      ...(storageClassName ? { storageClassName } : {}),
    },
  });
  await w.release("shop");
  w.start(healthRole);
  await w.rollOut("shop", claim("a", "std"), claim("b"), claim("c", "now"), claim("d", "std"));
  await w.untilCondition("shop", "Healthy", "Unknown/Progressing");
  await w.until("all are seen", async () => (await w.entry("shop", "PersistentVolumeClaim/d"))?.state);
  for (const name of ["a", "b", "d"]) {
    const entry = await w.entry("shop", `PersistentVolumeClaim/${name}`);
    assert.deepEqual([entry?.state, entry?.message], ["Healthy", "waiting for the first consumer"], name);
  }
  assert.equal((await w.entry("shop", "PersistentVolumeClaim/c"))?.state, "Progressing");
  assert.equal(w.asked.filter((r) => r.endsWith("/storageclasses/std")).length, 1);
});

Deno.test("health: spec.healthRules judge a custom kind, and a change of them judges anew", async () => {
  await using w = await world();
  const cfg = configMap("cfg", { phase: "Broken" });
  await w.release("shop", {
    healthRules: [{ group: "", kind: "ConfigMap", degraded: "object.data.phase == 'Broken'" }],
  });
  w.start(healthRole);
  await w.rollOut("shop", cfg);
  assert.match(await w.untilCondition("shop", "Healthy", "False/Degraded"), /by its health rule/);
  const release = await w.get("shop");
  release.spec.healthRules = [{ group: "", kind: "ConfigMap", degraded: "nonsense(" }];
  await w.client.update({
    group: "convoy.kumodo.io",
    version: "v1alpha1",
    plural: "releases",
    kind: "Release",
    namespaced: true,
  }, release);
  assert.match(await w.untilCondition("shop", "Healthy", "Unknown/NotAssessed"), /Cannot evaluate the rule "degraded"/);
});

Deno.test("health: writes of one Release are batched, at most one pass a second", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(healthRole);
  const web = deployment("web", "web:1", 50);
  await w.rollOut("shop", web);
  await w.until("it is seen", async () => (await w.entry("shop", "Deployment/web"))?.state === "Progressing");
  await w.pass(2000);
  const version = async () => Number((await w.inventory("shop")).metadata.resourceVersion);
  let last = await version(), writes = 0;
  for (let i = 1; i <= 30; i++) {
    await w.report(web, { observedGeneration: 1, replicas: 50, updatedReplicas: i });
    await w.pass(100);
    const now = await version();
    if (now !== last) writes++;
    last = now;
  }
  assert.ok(writes >= 2 && writes <= 4, `${writes} writes in 3 s`);
});

Deno.test("health: a steady state writes nothing and asks the target nothing", async () => {
  await using w = await world();
  w.start(healthRole);
  for (const name of ["a", "b", "c"]) {
    await w.release(name);
    await w.rollOut(name, configMap(name, {}), configMap(`${name}2`, {}));
  }
  for (const name of ["a", "b", "c"]) await w.untilCondition(name, "Healthy", "True/Healthy");
  await w.pass(5000);
  const before = await Promise.all(["a", "b", "c"].map(async (n) => [await w.get(n), await w.inventory(n)]));
  w.requests.length = 0;
  await w.pass(60_000);
  assert.deepEqual(w.asked, []);
  assert.deepEqual(await Promise.all(["a", "b", "c"].map(async (n) => [await w.get(n), await w.inventory(n)])), before);
});

Deno.test("health: a restart of the observer takes no word back and asks for nothing", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(healthRole);
  await w.rollOut("shop", configMap("cfg", {}));
  await w.untilCondition("shop", "Healthy", "True/Healthy");
  await w.pass(3000);
  await w.stop();
  const before = await w.get("shop");
  w.requests.length = 0;
  w.start(healthRole);
  await w.pass(10_000);
  assert.deepEqual(await w.get("shop"), before);
  assert.deepEqual(w.asked, []);
});

Deno.test("health: what left the render is not counted while it waits to be deleted", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(healthRole);
  await w.rollOut("shop", configMap("a", {}), configMap("b", {}));
  await w.untilCondition("shop", "Healthy", "True/Healthy");
  const second = await w.rollOut("shop", configMap("a", { x: "1" }));
  await w.until("a is seen", async () => (await w.entry("shop", "ConfigMap/a"))?.assessedRenderRef === second);
  await w.target.delete({ group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true }, {
    namespace: NS,
    name: "b",
  });
  await w.pass(3000);
  assert.equal((await w.condition("shop", "Healthy"))?.text, "True/Healthy");
  assert.equal((await w.get("shop")).status?.healthSummary?.healthy, 1);
});

Deno.test("health: a Release without objects, without a cluster, and one that is being deleted", async () => {
  await using w = await world();
  await w.release("empty");
  await w.release("lost", { cluster: { name: "nowhere" } });
  w.start(healthRole);
  await w.untilCondition("empty", "Healthy", "Unknown/NotAssessed");
  await w.put("lost", configMap("x", {}));
  await w.until(
    "the missing cluster is told",
    async () => (await w.condition("lost", "Healthy"))?.message.includes("nowhere"),
  );
});

Deno.test("health: a finished Job that was removed by its time limit stays Healthy", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(healthRole);
  const job = {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "once", namespace: NS },
    spec: {
      ttlSecondsAfterFinished: 1,
      template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "x" }] } },
    },
  };
  await w.rollOut("shop", job);
  await w.report(job, {
    startTime: "2026-01-01T00:00:00Z",
    completionTime: "2026-01-01T00:00:01Z",
    succeeded: 1,
    conditions: [
      { type: "SuccessCriteriaMet", status: "True" },
      { type: "Complete", status: "True" },
    ],
  });
  await w.untilCondition("shop", "Healthy", "True/Healthy");
  await w.target.delete({ group: "batch", version: "v1", plural: "jobs", kind: "Job", namespaced: true }, {
    namespace: NS,
    name: "once",
  });
  await w.pass(4000);
  assert.equal((await w.condition("shop", "Healthy"))?.text, "True/Healthy");
});

/** Rules 9 to 11 of design.md §3: who wakes whom, and the writes that are no apply. */
import assert from "node:assert/strict";
import {
  CLUSTERS,
  type HealthState,
  type Release,
  RELEASE_INVENTORIES,
  RELEASES,
  SYNC_REQUESTED_AT,
} from "../../shared/api/mod.ts";
import { runController, SYNC_ANNOTATION } from "../../shared/controller/mod.ts";
import { entryKey, members, putHealth } from "../../shared/inventory/mod.ts";
import { createInformer, keyOf } from "../../shared/kube/mod.ts";
import { createMetrics, FakeClock, silentLogger, systemClock } from "../../shared/runtime/mod.ts";
import { writeHealth, writeInSync, writerDeps } from "../../shared/status/mod.ts";
import { eventually } from "../../shared/testing/mod.ts";
import { condition, CONFIG_MAPS, configMap, NS, Server, World } from "./kit.ts";
import { ownersOf } from "./owners.ts";

const verdict = (status: "True" | "False") => ({ status, reason: "Because", message: "" });
const summary = { healthy: 1, progressing: 0, degraded: 0, suspended: 0, missing: 0, unknown: 0 };
const deps = (server: Server) => writerDeps({ client: server.client, metrics: createMetrics({ process: false }) });

/** Plays the health loop: all members are in that state, judged against their render. */
async function assess(server: Server, name: string, state: HealthState): Promise<void> {
  const inventory = await server.inventory(name);
  const entries = members(inventory).map((m) => ({ ...entryKey(m), state, assessedRenderRef: m.renderRef }));
  await putHealth(deps(server), inventory, { entries });
}

/** A loop that counts how often it is woken for each Release. */
async function counting(server: Server, o: { syncAnnotation?: string; resyncMs?: number; clock?: FakeClock } = {}) {
  const abort = new AbortController();
  const counts = new Map<string, number>();
  const informer = createInformer<Release>({
    client: server.client,
    resource: RELEASES,
    clock: o.clock ?? systemClock,
    logger: silentLogger,
    signal: abort.signal,
    resyncMs: o.resyncMs ?? 0,
  });
  const done = runController<Release>({
    name: "count",
    informer,
    clock: systemClock,
    logger: silentLogger,
    signal: abort.signal,
    ...(o.syncAnnotation ? { syncAnnotation: o.syncAnnotation } : {}),
    reconcile(key) {
      counts.set(key, (counts.get(key) ?? 0) + 1);
      return Promise.resolve({ await: "change" });
    },
  });
  informer.start();
  await informer.whenSynced();
  return {
    count: (name: string) => counts.get(`${NS}/${name}`) ?? 0,
    /** Resolves when the informer has seen that version. */
    async seen(release: Release) {
      await eventually(() =>
        informer.get(keyOf(release))?.metadata.resourceVersion === release.metadata.resourceVersion
      );
    },
    async [Symbol.asyncDispose]() {
      abort.abort();
      await Promise.all([done, informer.done]);
    },
  };
}

Deno.test("rule 10: status writes of the three loops wake no loop on Releases", async () => {
  await using server = await Server.start();
  const release = await server.addRelease("web");
  await using loop = await counting(server, { syncAnnotation: SYNC_ANNOTATION });
  await eventually(() => loop.count("web") === 1);
  await writeInSync(deps(server), release, verdict("True"), 0);
  await writeHealth(deps(server), release, verdict("True"), summary, 0);
  await loop.seen(await server.release("web"));
  // A change of spec wakes it, and only that: the count is 2, not more.
  const body = { spec: { interval: "7m" } };
  await loop.seen(
    await server.client.patch<Release>(RELEASES, { namespace: NS, name: "web" }, { type: "merge", body }),
  );
  await eventually(() => loop.count("web") >= 2);
  assert.equal(loop.count("web"), 2);
});

Deno.test("rule 10: the annotation of a sync request wakes the Release controller alone", async () => {
  await using server = await Server.start();
  await server.addRelease("web");
  await using release = await counting(server, { syncAnnotation: SYNC_ANNOTATION });
  await using other = await counting(server);
  await eventually(() => release.count("web") === 1 && other.count("web") === 1);
  await server.client.raw({
    method: "POST",
    path: `/apis/convoy.kumodo.io/v1alpha1/namespaces/${NS}/releases/web/sync`,
  });
  const asked = await server.release("web");
  await other.seen(asked);
  await eventually(() => release.count("web") === 2);
  assert.equal(other.count("web"), 1);
  // Labels and other annotations wake nobody.
  const body = { metadata: { labels: { a: "b" }, annotations: { note: "c" } } };
  const noted = await server.client.patch<Release>(RELEASES, { namespace: NS, name: "web" }, { type: "merge", body });
  await release.seen(noted);
  await server.client.raw({
    method: "POST",
    path: `/apis/convoy.kumodo.io/v1alpha1/namespaces/${NS}/releases/web/sync`,
  });
  await eventually(() => release.count("web") === 3);
  assert.equal(release.count("web"), 3);
});

Deno.test("rule 10: the periodic resync wakes a loop", async () => {
  await using server = await Server.start();
  await server.addRelease("web");
  const clock = new FakeClock();
  await using loop = await counting(server, { resyncMs: 60_000, clock });
  await eventually(() => loop.count("web") === 1);
  await clock.advance(70_000);
  await eventually(() => loop.count("web") >= 2);
});

Deno.test("rule 10: the beginning of a deletion moves the generation and wakes the loop", async () => {
  await using server = await Server.start();
  const release = await server.addRelease("web");
  await server.client.update(RELEASES, { ...release, metadata: { ...release.metadata, finalizers: ["a.example/b"] } });
  await using loop = await counting(server);
  await eventually(() => loop.count("web") === 1);
  await server.client.delete(RELEASES, { namespace: NS, name: "web" });
  await eventually(() => loop.count("web") === 2);
  const going = await server.release("web");
  assert.equal(going.metadata.generation, release.metadata.generation! + 1);
  await server.client.update(RELEASES, { ...going, metadata: { ...going.metadata, finalizers: [] } });
});

Deno.test("rule 9: the finalizers are added by Update, not by apply, and spec stays as it was", async () => {
  await using world = await World.start();
  world.run();
  await world.push({ "web/a.yaml": configMap("a") });
  const made = await world.server.addRelease("web");
  const release = await world.untilApplied("web");
  assert.deepEqual(release.metadata.finalizers, ["convoy.kumodo.io/finalizer"]);
  assert.deepEqual(release.spec, made.spec);
  assert.equal(release.metadata.generation, made.metadata.generation);
  const byUpdate = [...ownersOf(release, "Update").keys()];
  assert.ok(byUpdate.some((path) => path.startsWith(".metadata.finalizers")), byUpdate.join());
  assert.ok(![...ownersOf(release).keys()].some((path) => path.startsWith(".metadata.finalizers")));
});

Deno.test("rule 9: a sync request changes the annotation and nothing else", async () => {
  await using server = await Server.start();
  const before = await server.addRelease("web");
  await server.client.raw({
    method: "POST",
    path: `/apis/convoy.kumodo.io/v1alpha1/namespaces/${NS}/releases/web/sync`,
  });
  const after = await server.release("web");
  assert.ok(after.metadata.annotations?.[SYNC_REQUESTED_AT]);
  assert.equal(after.metadata.generation, before.metadata.generation);
  assert.deepEqual(after.spec, before.spec);
});

Deno.test("rule 9: the inventory goes when the Release is finalised, and its objects before it", async () => {
  await using world = await World.start();
  world.run();
  await world.push({ "web/a.yaml": configMap("a") });
  await world.server.addRelease("web");
  await world.untilApplied("web");
  await world.server.client.delete(RELEASES, { namespace: NS, name: "web" });
  await eventually(async () => await world.server.release("web").then(() => false, () => true), {
    on: "the Release to go",
  });
  await assert.rejects(world.server.inventory("web"), /not found/);
  const target = await world.target();
  await assert.rejects(target.get(CONFIG_MAPS, { namespace: "default", name: "a" }), /not found/);
  target.close();
});

Deno.test("rule 11: a higher cluster wave waits for the lower one and is woken by its Applied and Healthy", async () => {
  await using world = await World.start();
  world.run();
  await world.push({ "low/a.yaml": configMap("low"), "high/a.yaml": configMap("high") });
  await world.server.addRelease("low");
  await world.server.addRelease("high", { clusterWave: 1 });
  await world.untilApplied("low");
  const waiting = await world.untilApplied("high", "WaitingForClusterWave", /low \(wave 0: Healthy is not known\)/);
  assert.equal(condition(waiting, "Applied")?.status, "Unknown");
  await assess(world.server, "low", "Healthy");
  await world.until("low", (r) => r.status?.waves?.[0]?.healthy === 1, "waves counted");
  await writeHealth(deps(world.server), await world.server.release("low"), verdict("True"), summary, Date.now());
  await world.untilApplied("high");
});

Deno.test("rule 11: a change of state in the inventory wakes its Release, which counts it in waves", async () => {
  await using world = await World.start();
  world.run();
  await world.push({ "web/a.yaml": configMap("a") });
  await world.server.addRelease("web");
  await world.untilApplied("web");
  await assess(world.server, "web", "Progressing");
  await world.until("web", (r) => /Progressing/.test(condition(r, "RolloutSucceeded")?.message ?? ""), "told");
  await assess(world.server, "web", "Healthy");
  const done = await world.until("web", (r) => condition(r, "RolloutSucceeded")?.status === "True", "rollout done");
  assert.deepEqual(done.status?.waves?.map((w) => [w.objects, w.applied, w.healthy]), [[1, 1, 1]]);
  // Degraded later: the result of the rollout stays what it was.
  await assess(world.server, "web", "Degraded");
  const later = await world.until("web", (r) => r.status?.waves?.[0]?.healthy === 0, "waves counted again");
  assert.equal(condition(later, "RolloutSucceeded")?.status, "True");
});

Deno.test("rule 4: a pass without a change writes nothing and sends nothing to the target", async () => {
  await using world = await World.start();
  world.run();
  await world.push({ "web/a.yaml": configMap("a"), "web/b.yaml": configMap("b") });
  await world.server.addRelease("web");
  await world.untilApplied("web");
  const before = await world.server.release("web");
  const log = world.targetLog.get("c1")!;
  const sent = log.length;
  // Wakes it: an assessed state moves waves; then the same again moves nothing.
  await assess(world.server, "web", "Healthy");
  const after = await world.until("web", (r) => condition(r, "RolloutSucceeded")?.status === "True", "done");
  assert.notEqual(after.metadata.resourceVersion, before.metadata.resourceVersion);
  // The same commit as a new revision object: woken, nothing to do.
  const writes = world.server.log.filter((line) => !line.startsWith("GET")).length;
  await world.server.client.patch(CLUSTERS, { namespace: NS, name: "c1" }, {
    type: "merge",
    body: { spec: { qps: 60 } },
  });
  await world.server.addRelease("other");
  await world.untilApplied("other", "SourceFailed");
  assert.equal((await world.server.release("web")).metadata.resourceVersion, after.metadata.resourceVersion);
  const later = world.server.log.filter((line) => !line.startsWith("GET")).slice(writes);
  assert.deepEqual(later.filter((line) => /releases\/web|releaseinventories\/web/.test(line)), []);
  assert.deepEqual(log.slice(sent).filter((line) => /configmaps/.test(line)), []);
});

Deno.test("rule 9: the inventory's owner is its Release", async () => {
  await using world = await World.start();
  world.run();
  await world.push({ "web/a.yaml": configMap("a") });
  const release = await world.server.addRelease("web");
  await world.untilApplied("web");
  const inventory = await world.server.client.get(RELEASE_INVENTORIES, { namespace: NS, name: "web" });
  assert.equal(inventory.metadata.ownerReferences?.[0]?.uid, release.metadata.uid);
});

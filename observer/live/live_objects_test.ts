import assert from "node:assert/strict";
import { failure, type Resource, type Unstructured } from "../../shared/kube/mod.ts";
import { FakeClock } from "../../shared/runtime/mod.ts";
import { type Target, TargetError, type Targets, type TargetWatchHandler } from "../../shared/target/contract.ts";
import { type LiveChange, LiveObjects } from "./mod.ts";

/** Targets whose watches the test plays. */
class FakeTargets {
  readonly handlers = new Map<string, Set<TargetWatchHandler>>();
  readonly objects = new Map<string, Unstructured>();
  asked = 0;
  served = new Set(["ConfigMap", "Secret"]);
  tell: (cluster: string, reachable: boolean) => void = () => {};
  readonly target: Target = {
    key: "t1/c1",
    client: undefined as never,
    resourceFor: (gk) => {
      this.asked++;
      if (!this.served.has(gk.kind)) return Promise.resolve(undefined);
      return Promise.resolve({ ...gk, version: "v1", plural: `${gk.kind.toLowerCase()}s`, namespaced: true });
    },
    invalidateDiscovery: () => {},
    watch: (resource: Resource, handler) => {
      const set = this.handlers.get(resource.plural) ?? new Set();
      this.handlers.set(resource.plural, set.add(handler));
      return () => set.delete(handler);
    },
    cached: (_resource, key) => this.objects.get(key),
  };

  get targets(): Targets {
    return {
      get: (_namespace, cluster) =>
        cluster === "c1"
          ? Promise.resolve(this.target)
          : Promise.reject(new TargetError("ClusterNotFound", `Cluster ${cluster} does not exist`)),
      onChange: (handler) => {
        this.tell = handler;
        return () => {};
      },
      probe: () => Promise.reject(new Error("not here")),
      close: () => {},
    };
  }

  each(plural: string, f: (handler: TargetWatchHandler) => void): void {
    for (const handler of this.handlers.get(plural) ?? []) f(handler);
  }
}

const object = (name: string, release: string, resourceVersion = "1"): Unstructured => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "t1", resourceVersion, annotations: { "convoy.kumodo.io/release": release } },
});
const entry = (kind: string, name = "x") => ({ group: "", kind, namespace: "t1", name, version: "v1" });

function hub() {
  const fake = new FakeTargets(), clock = new FakeClock();
  const changes: LiveChange[] = [], woken: string[] = [];
  const live = new LiveObjects(fake.targets, clock, {
    onChange: (c) => changes.push(c),
    onWake: (r) => woken.push(r),
  });
  const attach = (release: string, ...kinds: string[]) =>
    live.attach(release, "t1", "c1", kinds.map((k) => entry(k)), false);
  return { fake, clock, live, changes, woken, attach };
}

Deno.test("LiveObjects has one watch per kind for all Releases, and discovery is asked once", async () => {
  const h = hub();
  for (let i = 0; i < 100; i++) await h.attach(`t1/r${i}`, "ConfigMap");
  await h.attach("t1/r0", "ConfigMap", "Secret");
  for (let i = 0; i < 100; i++) await h.attach(`t1/r${i}`, "ConfigMap");
  assert.equal(h.fake.handlers.get("configmaps")?.size, 1);
  assert.equal(h.fake.handlers.get("secrets")?.size, 0, "given back with its last Release");
  assert.equal(h.fake.asked, 2);
  for (let i = 0; i < 100; i++) h.live.detach(`t1/r${i}`);
  assert.equal(h.fake.handlers.get("configmaps")?.size, 0);
  assert.equal(h.live.watches, 0);
  h.live.close();
});

Deno.test("LiveObjects finds the Release of an event by its mark, and tells the first list from later changes", async () => {
  const h = hub();
  await h.attach("t1/a", "ConfigMap");
  h.fake.each("configmaps", (w) => w.onChange(object("x", "t1/a"), undefined));
  h.fake.each("configmaps", (w) => w.onSynced?.());
  assert.deepEqual(h.woken, ["t1/a"]);
  h.fake.each("configmaps", (w) => w.onChange(object("x", "t1/a", "2"), object("x", "t1/a")));
  h.fake.each("configmaps", (w) => w.onDelete(object("x", "t1/a", "3")));
  h.fake.each("configmaps", (w) => w.onChange({ ...object("y", ""), metadata: { name: "y" } }, undefined));
  assert.deepEqual(h.changes.map((c) => [c.release, c.entry, c.initial, c.object !== undefined]), [
    ["t1/a", "|ConfigMap|t1|x", true, true],
    ["t1/a", "|ConfigMap|t1|x", false, true],
    ["t1/a", "|ConfigMap|t1|x", false, false],
  ]);
  h.live.close();
});

Deno.test("LiveObjects: a lost watch and a cluster that does not answer make attach fail until they are back", async () => {
  const h = hub();
  await h.attach("t1/a", "ConfigMap");
  h.fake.each("configmaps", (w) => w.onSynced?.());
  h.fake.each("configmaps", (w) => w.onLost?.(new Error("gone")));
  assert.deepEqual(h.woken, ["t1/a", "t1/a"]);
  await assert.rejects(h.attach("t1/a", "ConfigMap"), { reason: "ClusterUnreachable" });
  h.fake.each("configmaps", (w) => w.onSynced?.());
  await h.attach("t1/a", "ConfigMap");
  h.fake.tell("t1/c1", false);
  await assert.rejects(h.attach("t1/a", "ConfigMap"), { reason: "ClusterUnreachable" });
  h.fake.tell("t1/c1", true);
  await h.attach("t1/a", "ConfigMap");
  assert.equal(h.woken.length, 5);
  h.live.close();
});

Deno.test("LiveObjects: a watch that never syncs makes the cluster count as unreachable", async () => {
  const h = hub();
  await h.attach("t1/a", "ConfigMap");
  await h.clock.advance(19_000);
  await h.attach("t1/a", "ConfigMap");
  await h.clock.advance(2_000);
  assert.deepEqual(h.woken, ["t1/a"]);
  await assert.rejects(h.attach("t1/a", "ConfigMap"), { reason: "ClusterUnreachable" });
  h.live.close();
});

Deno.test("LiveObjects: a kind that may not be watched is refused, the others go on", async () => {
  const h = hub();
  const view = await h.attach("t1/a", "ConfigMap", "Secret");
  h.fake.each("secrets", (w) => w.onLost?.(failure(403, "Forbidden", "no")));
  h.fake.each("configmaps", (w) => w.onSynced?.());
  const again = await h.attach("t1/a", "ConfigMap", "Secret");
  assert.deepEqual(again.see(entry("Secret")), { kind: "refused", why: "watching secrets is refused: no" });
  assert.equal(view.see(entry("ConfigMap")).kind, "absent");
  h.live.close();
});

Deno.test("LiveObjects: a kind that is not served is asked for again after a time, soon while a rollout goes on", async () => {
  const h = hub();
  const attach = (eager: boolean) => h.live.attach("t1/a", "t1", "c1", [entry("App")], eager);
  const view = await attach(false);
  assert.equal(view.see(entry("App")).kind, "unserved");
  const asked = h.fake.asked;
  await attach(false);
  assert.equal(h.fake.asked, asked);
  await h.clock.advance(2_000);
  h.fake.served.add("App");
  const eager = await attach(true);
  assert.notEqual(eager.see(entry("App")).kind, "unserved");
  h.live.close();
});

Deno.test("LiveObjects: a Release that moved to another cluster leaves the old one", async () => {
  const h = hub();
  await h.attach("t1/a", "ConfigMap");
  await assert.rejects(h.live.attach("t1/a", "t1", "other", [entry("ConfigMap")], false), {
    reason: "ClusterNotFound",
  });
  assert.equal(h.live.watches, 0);
  h.fake.tell("t1/c1", true);
  h.fake.tell("t1/other", true);
  assert.deepEqual(h.woken, ["t1/a"], "woken when the cluster that it wants comes");
  h.live.close();
});

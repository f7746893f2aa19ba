import assert from "node:assert/strict";
import { driftRole } from "./mod.ts";
import { configMap, deployment, NS, resourceOf, up, world } from "../../tests/kit/observer_world.ts";

const dryRuns = (requests: readonly { method: string; path: string }[]) =>
  requests.filter((r) => r.method === "PATCH" && r.path.includes("dryRun=All")).length;

Deno.test("drift: what matches the render is InSync, with the render it was compared with", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(driftRole);
  const ref = await w.rollOut("shop", configMap("cfg", { a: "1" }), deployment("web", "web:1"));
  assert.equal(await w.untilCondition("shop", "InSync", "True/InSync"), "2 objects match the render");
  for (const name of ["ConfigMap/cfg", "Deployment/web"]) {
    assert.deepEqual((await w.entry("shop", name))?.drift, { state: "InSync", checkedRenderRef: ref });
  }
  assert.ok(w.requests.every((r) => r.method !== "PATCH" || r.path.includes("dryRun=All")), "it changes nothing");
  assert.ok(w.requests.some((r) => r.path.includes("fieldManager=convoy")), "rule 8: the manager of the real apply");
});

Deno.test("drift: a hand edit turns InSync False with the paths in the inventory, and Applied stays", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(driftRole);
  const web = deployment("web", "web:1"), cfg = configMap("cfg", { a: "1" });
  const ref = await w.rollOut("shop", cfg, web);
  await w.untilCondition("shop", "InSync", "True/InSync");
  await w.edit(web, { spec: { replicas: 5, template: { spec: { containers: [{ name: "c", image: "evil:9" }] } } } });
  const message = await w.untilCondition("shop", "InSync", "False/Drifted");
  assert.equal(message, "1 of 2 objects differs from the render: Deployment t1/web");
  assert.deepEqual((await w.entry("shop", "Deployment/web"))?.drift, {
    state: "Drifted",
    fields: ["/spec/replicas", "/spec/template/spec/containers[name=c]/image"],
    checkedRenderRef: ref,
  });
  assert.equal((await w.condition("shop", "Applied"))?.text, "True/Applied");
  assert.equal((await w.entry("shop", "ConfigMap/cfg"))?.drift?.state, "InSync");
  // Undone by hand: in sync again.
  await w.edit(web, { spec: { replicas: 2, template: { spec: { containers: [{ name: "c", image: "web:1" }] } } } });
  await w.untilCondition("shop", "InSync", "True/InSync");
});

Deno.test("drift: what others add beside the manifest is no drift, and status never is", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(driftRole);
  const web = deployment("web", "web:1"), cfg = configMap("cfg", { a: "1" });
  await w.rollOut("shop", cfg, web);
  await w.untilCondition("shop", "InSync", "True/InSync");
  await w.pass(2000);
  w.requests.length = 0;
  await w.report(web, up(1));
  await w.pass(3000);
  assert.equal(dryRuns(w.requests), 0, "a change of status alone asks for no dry run");
  await w.edit(cfg, { data: { theirs: "x" }, metadata: { annotations: { note: "y" } } });
  await w.until("it was checked", () => dryRuns(w.requests) === 1);
  await w.pass(2000);
  assert.equal((await w.condition("shop", "InSync"))?.text, "True/InSync");
  assert.equal(dryRuns(w.requests), 1);
});

Deno.test("drift: an object deleted by hand is Missing within seconds, and counts as drift", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(driftRole);
  const cfg = configMap("cfg", { a: "1" });
  await w.rollOut("shop", cfg);
  await w.untilCondition("shop", "InSync", "True/InSync");
  await w.target.delete(resourceOf(cfg), { namespace: NS, name: "cfg" });
  assert.match(await w.untilCondition("shop", "InSync", "False/Drifted"), /ConfigMap t1\/cfg \(missing\)/);
  assert.equal((await w.entry("shop", "ConfigMap/cfg"))?.drift?.state, "Missing");
  await w.apply("shop", cfg);
  await w.untilCondition("shop", "InSync", "True/InSync");
});

Deno.test("drift: the owner mark taken off by hand is drift, and no Missing", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(driftRole);
  const cfg = configMap("cfg", { a: "1" });
  await w.rollOut("shop", cfg);
  await w.untilCondition("shop", "InSync", "True/InSync");
  await w.edit(cfg, { metadata: { labels: { "convoy.kumodo.io/release-uid": null } } });
  await w.untilCondition("shop", "InSync", "False/Drifted");
  const { drift } = (await w.entry("shop", "ConfigMap/cfg"))!;
  assert.equal(drift?.state, "Drifted");
  assert.ok(drift?.fields?.every((f) => f.startsWith("/metadata/labels")), drift?.fields?.join());
});

Deno.test("drift: a rollout never turns InSync False; it speaks about what was applied", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(driftRole);
  const old = configMap("cfg", { a: "1" }), next = configMap("cfg", { a: "2" });
  const first = await w.rollOut("shop", old);
  await w.untilCondition("shop", "InSync", "True/InSync");
  const seen = new Set<string>();
  const look = async () => seen.add((await w.condition("shop", "InSync"))!.text);
  const second = await w.put("shop", next);
  for (let i = 0; i < 30; i++) await w.pass(100).then(look);
  assert.deepEqual((await w.entry("shop", "ConfigMap/cfg"))?.drift, { state: "InSync", checkedRenderRef: first });
  await w.apply("shop", next);
  for (let i = 0; i < 10; i++) await w.pass(100).then(look);
  await w.applied("shop", second);
  await w.until("it was compared with the new render", async () => {
    await look();
    return (await w.entry("shop", "ConfigMap/cfg"))?.drift?.checkedRenderRef === second;
  });
  await w.untilCondition("shop", "InSync", "True/InSync");
  assert.deepEqual([...seen].filter((s) => s.startsWith("False")), []);
});

Deno.test("drift: a stale watch makes no false drift after an apply", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(driftRole);
  await w.rollOut("shop", configMap("cfg", { a: "1" }));
  await w.untilCondition("shop", "InSync", "True/InSync");
  w.freezeWatches();
  const second = await w.rollOut("shop", configMap("cfg", { a: "2" }));
  await w.until(
    "it was compared with the new render",
    async () => (await w.entry("shop", "ConfigMap/cfg"))?.drift?.checkedRenderRef === second,
  );
  assert.equal((await w.entry("shop", "ConfigMap/cfg"))?.drift?.state, "InSync");
  await w.pass(5000);
  w.requests.length = 0;
  await w.pass(10_000);
  assert.equal(dryRuns(w.requests), 0, "a check that is ahead of the cache holds");
});

Deno.test("drift: spec.drift.ignore leaves paths out, and a change of it checks again", async () => {
  await using w = await world();
  await w.release("shop", { drift: { mode: "Report", ignore: [{ kind: "Deployment", paths: ["/spec/replicas"] }] } });
  w.start(driftRole);
  const web = deployment("web", "web:1");
  await w.rollOut("shop", web);
  await w.untilCondition("shop", "InSync", "True/InSync");
  await w.edit(web, { spec: { replicas: 7 } });
  await w.pass(3000);
  assert.equal((await w.condition("shop", "InSync"))?.text, "True/InSync");
  const release = await w.get("shop");
  release.spec.drift = { mode: "Report" };
  await w.client.update(RELEASES, release);
  await w.untilCondition("shop", "InSync", "False/Drifted");
});

Deno.test("drift: a path of spec.drift.ignore that cannot be read is told in an event, once, and ignores nothing", async () => {
  await using w = await world();
  const ignore = [{ paths: ["spec/replicas"] }];
  await w.release("shop", { drift: { mode: "Report", ignore } });
  w.start(driftRole);
  const cfg = configMap("cfg", { a: "1" });
  await w.rollOut("shop", cfg);
  await w.untilCondition("shop", "InSync", "True/InSync");
  await w.edit(cfg, { data: { a: "2" } });
  await w.untilCondition("shop", "InSync", "False/Drifted");
  assert.equal(w.events.length, 1);
  assert.match(
    w.events[0]!,
    /^IgnoreUnreadable: spec.drift.ignore: Cannot read the path "spec\/replicas": write it like/,
  );
});

const RELEASES = {
  group: "convoy.kumodo.io",
  version: "v1alpha1",
  plural: "releases",
  kind: "Release",
  namespaced: true,
};

Deno.test("C16: a drifted Secret is told by its paths; no value gets anywhere, and the target is not touched", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(driftRole);
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "key", namespace: NS },
    data: { token: btoa("period: 12h\n") },
  };
  await w.rollOut("shop", secret);
  await w.untilCondition("shop", "InSync", "True/InSync");
  await w.edit(secret, { data: { token: btoa("period: 6h\n") } });
  await w.untilCondition("shop", "InSync", "False/Drifted");
  const inventory = await w.inventory("shop"), release = await w.get("shop");
  assert.deepEqual(inventory.inventory?.[0]?.drift?.fields, ["/data/token"]);
  const text = JSON.stringify([inventory, release]);
  for (const value of ["period: 12h\n", "period: 6h\n"]) {
    assert.ok(!text.includes(btoa(value)) && !text.includes(value.trim()), "a value got into the status");
  }
  const live = await w.target.get<never>(resourceOf(secret), { namespace: NS, name: "key" });
  assert.equal((live as { data: { token: string } }).data.token, btoa("period: 6h\n"));
});

const crd = (kind: string, spec: object) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${kind.toLowerCase()}s.demo.example` },
  spec: {
    group: "demo.example",
    scope: "Namespaced",
    names: { kind, plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase() },
    versions: [{
      name: "v1",
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
    }],
  },
});
const custom = (kind: string, spec: object) => ({
  apiVersion: "demo.example/v1",
  kind,
  metadata: { name: "x", namespace: NS },
  spec,
});

Deno.test("C15: a change inside a field without schema is drift, what a webhook adds there is not", async () => {
  await using w = await world();
  await w.addCrd(crd("Loose", { type: "object", "x-kubernetes-preserve-unknown-fields": true }));
  await w.release("shop");
  w.start(driftRole);
  const before = custom("Loose", { run: { image: "app:1" } });
  const wanted = custom("Loose", { run: { image: "app:2", args: ["a", "b"] } });
  await w.rollOut("shop", wanted);
  await w.untilCondition("shop", "InSync", "True/InSync");
  await w.edit(wanted, { spec: { run: { extra: { sidecar: true } } } });
  await w.pass(2000);
  assert.equal((await w.condition("shop", "InSync"))?.text, "True/InSync");
  await w.edit(wanted, { spec: { run: { image: before.spec && "app:1", args: null } } });
  await w.untilCondition("shop", "InSync", "False/Drifted");
  assert.deepEqual((await w.entry("shop", "Loose/x"))?.drift?.fields, ["/spec/run/args", "/spec/run/image"]);
});

Deno.test("C20: quantities of built-in and custom kinds in other spelling are no drift, plain strings are", async () => {
  await using w = await world();
  const pattern =
    "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";
  await w.addCrd(crd("Quota", {
    type: "object",
    properties: {
      quota: { anyOf: [{ type: "integer" }, { type: "string" }], pattern, "x-kubernetes-int-or-string": true },
      plain: { type: "string" },
    },
  }));
  await w.release("shop");
  w.start(driftRole);
  const web = deployment("web", "web:1");
  Object.assign(web.spec.template.spec.containers[0]!, {
    resources: { requests: { cpu: "1000m", memory: "1000M" }, limits: { cpu: 1.5, memory: "3072Mi" } },
  });
  const quota = custom("Quota", { quota: "12000m", plain: "1000m" });
  await w.rollOut("shop", web, quota, configMap("cfg", { cpu: "1000m" }));
  await w.untilCondition("shop", "InSync", "True/InSync");
  // A controller of the custom kind writes the amount in its own way.
  await w.edit(quota, { spec: { quota: "12" } });
  await w.pass(2500);
  assert.equal((await w.condition("shop", "InSync"))?.text, "True/InSync");
  await w.edit(quota, { spec: { plain: "1" } });
  await w.edit(configMap("cfg", {}), { data: { cpu: "1" } });
  await w.until(
    "both plain strings are drift",
    async () =>
      (await w.entry("shop", "ConfigMap/cfg"))?.drift?.state === "Drifted" &&
      (await w.entry("shop", "Quota/x"))?.drift?.state === "Drifted",
  );
  assert.deepEqual((await w.entry("shop", "Quota/x"))?.drift?.fields, ["/spec/plain"]);
  assert.equal((await w.entry("shop", "Deployment/web"))?.drift?.state, "InSync");
});

Deno.test("C03: null and empty values of a manifest are no drift once they are applied", async () => {
  await using w = await world();
  await w.addCrd(crd("App", {
    type: "object",
    properties: {
      limit: { type: "object", nullable: true, properties: { value: { type: "integer" } }, required: ["value"] },
      template: {
        type: "object",
        properties: {
          annotations: { type: "object", additionalProperties: { type: "string" } },
          image: { type: "string" },
        },
      },
    },
  }));
  await w.release("shop");
  w.start(driftRole);
  await w.rollOut("shop", custom("App", { limit: null, template: { annotations: {}, image: "x" } }));
  await w.untilCondition("shop", "InSync", "True/InSync");
});

Deno.test("C08: a default in a list key and one port on two protocols are no drift", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(driftRole);
  const web = deployment("web", "web:1");
  Object.assign(web.spec.template.spec.containers[0]!, {
    ports: [{ containerPort: 53, name: "t" }, { containerPort: 53, protocol: "UDP", name: "u" }],
  });
  await w.rollOut("shop", web);
  await w.untilCondition("shop", "InSync", "True/InSync");
});

Deno.test("drift: a dry run that is refused is CheckFailed with the server's words, is tried again, and heals", async () => {
  await using w = await world();
  await w.release("shop");
  let refuse = true;
  w.refuse = (r) => refuse && r.path.includes("dryRun=All") ? { code: 403, message: "webhook says no" } : undefined;
  w.start(driftRole);
  await w.rollOut("shop", configMap("cfg", { a: "1" }));
  const message = await w.untilCondition("shop", "InSync", "Unknown/CheckFailed");
  assert.match(message, /1 of 1 object not checked: ConfigMap t1\/cfg: the dry run was refused \(403.*webhook says no/);
  assert.equal((await w.entry("shop", "ConfigMap/cfg"))?.drift?.state, "Unknown");
  refuse = false;
  await w.pass(20_000);
  w.requests.length = 0;
  await w.pass(15_000);
  assert.equal((await w.condition("shop", "InSync"))?.text, "True/InSync");
});

Deno.test("drift: what the server says about a Secret is not told", async () => {
  await using w = await world();
  await w.release("shop");
  w.refuse = (r) => r.path.includes("dryRun=All") ? { code: 422, message: 'Invalid value: "hunter2"' } : undefined;
  w.start(driftRole);
  await w.rollOut("shop", { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: NS }, data: {} });
  const message = await w.untilCondition("shop", "InSync", "Unknown/CheckFailed");
  assert.doesNotMatch(message, /hunter2/);
  assert.match(message, /422/);
});

Deno.test("drift: an unreachable cluster makes InSync Unknown; after it only what changed is checked again", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(driftRole);
  const a = configMap("a", { x: "1" }), b = configMap("b", { x: "1" });
  await w.rollOut("shop", a, b);
  await w.untilCondition("shop", "InSync", "True/InSync");
  w.down = true;
  await w.untilCondition("shop", "InSync", "Unknown/ClusterUnreachable");
  assert.equal((await w.entry("shop", "ConfigMap/a"))?.drift?.state, "Unknown");
  await w.edit(b, { data: { x: "2" } });
  w.requests.length = 0;
  w.down = false;
  await w.untilCondition("shop", "InSync", "False/Drifted");
  assert.equal((await w.entry("shop", "ConfigMap/a"))?.drift?.state, "InSync");
  assert.equal((await w.entry("shop", "ConfigMap/b"))?.drift?.state, "Drifted");
  assert.equal(dryRuns(w.requests), 1);
});

Deno.test("drift: a steady state writes nothing and asks the target nothing, also through a sweep", async () => {
  await using w = await world();
  w.start(driftRole);
  for (const name of ["a", "b", "c"]) {
    await w.release(name);
    await w.rollOut(name, configMap(name, { x: "1" }), deployment(name, "x:1"));
  }
  for (const name of ["a", "b", "c"]) await w.untilCondition(name, "InSync", "True/InSync");
  await w.pass(3000);
  const state = () => Promise.all(["a", "b", "c"].map(async (n) => [await w.get(n), await w.inventory(n)]));
  const before = await state();
  w.requests.length = 0;
  await w.clock.advance(1_300_000);
  await w.pass(1000);
  assert.equal(dryRuns(w.requests), 0);
  assert.deepEqual(await state(), before);
});

Deno.test("drift: after a restart what was recorded is believed for a while, changes count at once, all is checked in time", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(driftRole);
  const a = configMap("a", { x: "1" }), b = configMap("b", { x: "1" });
  await w.rollOut("shop", a, b);
  await w.untilCondition("shop", "InSync", "True/InSync");
  await w.pass(2000);
  await w.stop();
  await w.edit(b, { data: { x: "2" } });
  const before = await w.get("shop");
  w.requests.length = 0;
  w.start(driftRole);
  await w.pass(500);
  assert.deepEqual(await w.get("shop"), before, "no word is taken back at the start");
  await w.until(
    "the edit that nobody saw is found",
    async () => (await w.condition("shop", "InSync"))?.text === "False/Drifted",
    1000,
  );
  assert.equal((await w.entry("shop", "ConfigMap/b"))?.drift?.state, "Drifted");
});

Deno.test("drift: objects of a kind that the cluster does not serve are Missing", async () => {
  await using w = await world();
  await w.release("shop");
  w.start(driftRole);
  const ref = await w.put("shop", custom("Nope", {}));
  await w.applied("shop", ref);
  await w.untilCondition("shop", "InSync", "False/Drifted");
  assert.equal((await w.entry("shop", "Nope/x"))?.drift?.state, "Missing");
});

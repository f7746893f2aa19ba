/** The scale subresource, on a custom and a built-in kind. */
import assert from "node:assert/strict";
import { builtinKinds } from "../facts/mod.ts";
import type { JsonObject } from "../json/mod.ts";
import { widget, WIDGETS, withServer } from "./test_kit.ts";

const scale = (replicas: number): JsonObject => ({
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  metadata: { name: "a" },
  spec: { replicas },
});

Deno.test("rule 47: on a custom kind, what was owned moves to an entry of subresource scale, without a time", async () => {
  await withServer(async (s) => {
    const path = `${WIDGETS}/a`;
    await s.create(WIDGETS, widget("a"));
    assert.equal((await s.get(`${path}/scale`)).status, 500);
    assert.equal((await s.put(`${path}/scale`, scale(2))).status, 200);
    assert.doesNotMatch((await s.get(path)).text, /"subresource":"scale"/);
    await s.apply(path, widget("a", { replicas: 2 }), "fieldManager=m");
    const patched = await s.send("PATCH", `${path}/scale?fieldManager=hpa`, {
      body: { spec: { replicas: 3 } },
      type: "application/merge-patch+json",
    });
    assert.deepEqual(patched.body.spec, { replicas: 3 });
    const entries = ((await s.get(path)).body.metadata as JsonObject).managedFields as JsonObject[];
    const own = entries.find((e) => e.subresource === "scale");
    assert.deepEqual([own?.manager, own?.time], ["hpa", undefined]);
    assert.equal((await s.apply(path, widget("a", { replicas: 5 }), "fieldManager=m")).status, 409);
    assert.equal((await s.apply(`${path}/scale`, scale(4))).status, 500);
    assert.equal((await s.put(`${path}/scale`, "{")).status, 400);
    assert.equal((await s.put(`${path}/scale`, { ...scale(1), metadata: { name: "b" } })).status, 400);
  });
});

Deno.test("scale of a Deployment: read, put, apply with ownership and conflicts", async () => {
  const path = "/apis/apps/v1/namespaces/n/deployments/a";
  await withServer(async (s) => {
    await s.apply(path, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "a" },
      spec: {
        replicas: 1,
        selector: { matchLabels: { x: "y" } },
        template: { metadata: { labels: { x: "y" } }, spec: { containers: [{ name: "c", image: "i" }] } },
      },
    });
    assert.deepEqual((await s.get(`${path}/scale`)).body.status, { replicas: 0, selector: "x=y" });
    const conflict = await s.apply(`${path}/scale`, scale(3), "fieldManager=hpa");
    assert.equal(conflict.status, 409);
    const forced = await s.apply(`${path}/scale`, scale(3), "fieldManager=hpa&force=true");
    assert.deepEqual([forced.status, forced.body.kind, forced.body.spec], [200, "Scale", { replicas: 3 }]);
    assert.match((await s.get(path)).text, /"manager":"hpa","operation":"Apply","subresource":"scale"/);
    assert.equal((await s.put(`${path}/scale`, scale(0))).status, 200);
    assert.equal(((await s.get(path)).body.spec as JsonObject).replicas, 0);
  }, { kinds: builtinKinds((k) => k.kind === "Deployment") });
});

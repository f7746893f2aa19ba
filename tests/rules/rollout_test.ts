/** The Release controller end to end: source → render → inventory → target → status. */
import assert from "node:assert/strict";
import { members } from "../../shared/inventory/mod.ts";
import type { KubeObject } from "../../shared/kube/mod.ts";
import { condition, CONFIG_MAPS, configMap, World } from "./kit.ts";

Deno.test("a Release is rolled out, changed and pruned, and its status says so", async () => {
  await using world = await World.start();
  world.run();
  const first = await world.push({ "web/a.yaml": configMap("a"), "web/b.yaml": configMap("b") });
  await world.server.addRelease("web");
  const applied = await world.untilApplied("web");
  assert.equal(applied.status?.source?.revision, first);
  assert.equal(applied.status?.waves?.[0]?.applied, 2);
  assert.equal(condition(applied, "RolloutSucceeded")?.status, "Unknown");
  const target = await world.target();
  const a = await target.get<KubeObject & { data: unknown }>(CONFIG_MAPS, { namespace: "default", name: "a" });
  assert.equal(a.metadata.labels?.["convoy.kumodo.io/release-uid"], applied.metadata.uid);
  assert.equal(a.metadata.annotations?.["convoy.kumodo.io/release"], "default/web");

  const second = await world.push({ "web/a.yaml": configMap("a", { a: "2" }) });
  await world.until("web", (r) => r.status?.source?.revision === second, "second revision");
  await assert.rejects(target.get(CONFIG_MAPS, { namespace: "default", name: "b" }), /not found/);
  assert.deepEqual(members(await world.server.inventory("web")).map((m) => m.name), ["a"]);
  target.close();
});

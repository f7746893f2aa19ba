/** The main job through the public surface: what a person does, and what the four signals then say. */
import assert from "node:assert/strict";
import { RELEASE_INVENTORIES, RELEASES, SYNC_REQUESTED_AT } from "../../shared/api/mod.ts";
import type { Release } from "../../shared/api/mod.ts";
import { hasReason } from "../../shared/kube/status.ts";
import type { KubeObject, Unstructured } from "../../shared/kube/types.ts";
import { eventually } from "../../shared/testing/mod.ts";
import { configMap, deployment, namespace } from "../kit/manifests.ts";
import { condition, CONFIG_MAPS, DEPLOYMENTS, is, NS, startSystem, type System } from "../kit/system.ts";

const WEB = {
  "web/ns.yaml": namespace(),
  "web/app.yaml": deployment("web"),
  "web/config.yaml": configMap("cfg", { a: "1" }),
};
const web = { namespace: "apps", name: "web" }, cfg = { namespace: "apps", name: "cfg" };

async function released(system: System): Promise<Release> {
  await system.repository.commit(WEB);
  await system.addRepository();
  await system.addRelease("web");
  return await system.untilThere("web");
}

Deno.test("a Release from Git becomes Applied, InSync, Healthy and RolloutSucceeded, its objects marked and listed", async () => {
  await using system = await startSystem();
  const release = await released(system);
  const target = await system.cluster().client();
  const live = await target.get<KubeObject>(DEPLOYMENTS, web);
  assert.equal(live.metadata.labels?.["convoy.kumodo.io/release-uid"], release.metadata.uid);
  assert.equal(live.metadata.annotations?.["convoy.kumodo.io/release"], `${NS}/web`);
  const { inventory = [] } = await system.inventory("web");
  assert.deepEqual(
    inventory.map((e) =>
      [e.kind, e.namespace, e.name, e.state, e.drift?.state, e.renderRef === release.status?.renderRef].join(" ")
    )
      .sort(),
    [
      "ConfigMap apps cfg Healthy InSync true",
      "Deployment apps web Healthy InSync true",
      "Namespace  apps Healthy InSync true",
    ],
  );
  assert.equal(release.status?.conditions?.some((c) => c.type === "Ready"), false);
  target.close();
});

Deno.test("a hand edit turns InSync False with the path in the inventory; Applied stays True; sync mends it", async () => {
  await using system = await startSystem();
  const before = await released(system);
  const target = await system.cluster().client();
  await target.patch(CONFIG_MAPS, cfg, { type: "merge", body: { data: { a: "2" } } });
  const drifted = await system.until("web", (r) => is(r, "InSync", "False", "Drifted"), "InSync=False");
  assert.match(condition(drifted, "InSync")!.message, /ConfigMap.*cfg/);
  assert.deepEqual(condition(drifted, "Applied"), condition(before, "Applied"));
  assert.deepEqual(condition(drifted, "Healthy"), condition(before, "Healthy"));
  const entry = (await system.inventory("web")).inventory?.find((e) => e.name === "cfg");
  assert.deepEqual(entry?.drift?.fields, ["/data/a"]);
  await system.client.raw({
    method: "POST",
    path: `/apis/${RELEASES.group}/${RELEASES.version}/namespaces/${NS}/releases/web/sync`,
    body: {},
  });
  const after = await system.untilThere("web");
  assert.notEqual(after.metadata.annotations?.[SYNC_REQUESTED_AT], undefined);
  assert.deepEqual((await target.get<Unstructured>(CONFIG_MAPS, cfg)).data, { a: "1" });
  target.close();
});

Deno.test("a broken Deployment turns Healthy False and nothing else moves", async () => {
  await using system = await startSystem({ delays: { progressDeadline: 30 } });
  const before = await released(system);
  system.cluster().faults.set({ crash: [{ kind: "Deployment", name: "web" }] });
  const broken = await system.until("web", (r) => is(r, "Healthy", "False", "Degraded"), "Healthy=False");
  for (const type of ["Applied", "InSync", "RolloutSucceeded"]) {
    assert.deepEqual(condition(broken, type), condition(before, type), type);
  }
  assert.equal(broken.status?.healthSummary?.degraded, 1);
  // The controller counts the healthy objects of a wave from the inventory, and changes nothing else.
  const counted = await system.until(
    "web",
    (r) => r.status?.waves?.[0]?.healthy === 2,
    "two of three healthy in the wave",
  );
  assert.deepEqual({ ...counted.status?.waves?.[0], healthy: 3 }, before.status?.waves?.[0]);
});

Deno.test("a pushed commit is rolled out, and what left the repository is pruned", async () => {
  await using system = await startSystem();
  const before = await released(system);
  const commit = await system.repository.commit({
    "web/config.yaml": null,
    "web/app.yaml": deployment("web", { image: "img:2" }),
    "web/more.yaml": configMap("more", { x: "y" }),
  });
  const after = await system.until(
    "web",
    (r) =>
      r.status?.source?.revision.endsWith(commit) === true && is(r, "RolloutSucceeded", "True") &&
      is(r, "InSync", "True"),
    "the new commit rolled out",
  );
  assert.notEqual(after.status?.renderRef, before.status?.renderRef);
  const target = await system.cluster().client();
  await assert.rejects(target.get(CONFIG_MAPS, cfg), (e) => hasReason(e, "NotFound"));
  assert.deepEqual((await target.get<Unstructured>(CONFIG_MAPS, { ...cfg, name: "more" })).data, { x: "y" });
  await eventually(async () => (await system.inventory("web")).inventory?.length === 3, { on: "three entries" });
  target.close();
});

Deno.test("an object deleted by hand is Missing and drifted, and comes back with mode Correct", async () => {
  await using system = await startSystem();
  await released(system);
  const target = await system.cluster().client();
  await target.delete(CONFIG_MAPS, cfg);
  await system.until("web", (r) => is(r, "InSync", "False") && is(r, "Healthy", "False"), "InSync and Healthy False");
  const entry = (await system.inventory("web")).inventory?.find((e) => e.name === "cfg");
  assert.deepEqual([entry?.state, entry?.drift?.state], ["Missing", "Missing"]);
  await system.addRelease("web", { spec: { drift: { mode: "Correct" } } });
  await system.untilThere("web");
  assert.deepEqual((await target.get<Unstructured>(CONFIG_MAPS, cfg)).data, { a: "1" });
  // And from now on by itself.
  await target.patch(CONFIG_MAPS, cfg, { type: "merge", body: { data: { a: "9" } } });
  await eventually(async () => {
    const { data } = await target.get<Unstructured>(CONFIG_MAPS, cfg);
    return (data as Record<string, string>).a === "1";
  }, { timeout: 10_000, on: "the edit corrected" });
  await system.untilThere("web");
  target.close();
});

Deno.test("deleting a Release deletes its objects, then its inventory, then the Release", async () => {
  await using system = await startSystem();
  await released(system);
  await system.client.delete(RELEASES, { namespace: NS, name: "web" });
  await eventually(async () => {
    const [r, i] = await Promise.allSettled([system.release("web"), system.inventory("web")]);
    return [r, i].every((x) => x.status === "rejected" && hasReason(x.reason, "NotFound"));
  }, { timeout: 10_000, on: "Release and inventory gone" });
  const target = await system.cluster().client();
  await eventually(
    async () => {
      const all = await Promise.allSettled([target.get(DEPLOYMENTS, web), target.get(CONFIG_MAPS, cfg)]);
      return all.every((x) => x.status === "rejected" && hasReason(x.reason, "NotFound"));
    },
    { on: "the objects gone" },
  );
  target.close();
});

Deno.test("deleting a Release with deletionPolicy Orphan leaves its objects", async () => {
  await using system = await startSystem();
  await released(system);
  await system.addRelease("web", { spec: { deletionPolicy: "Orphan" } });
  await system.client.delete(RELEASES, { namespace: NS, name: "web" });
  await eventually(
    () => system.release("web").then(() => false, (e) => hasReason(e, "NotFound")),
    { timeout: 10_000, on: "the Release gone" },
  );
  const target = await system.cluster().client();
  assert.equal((await target.get<KubeObject>(DEPLOYMENTS, web)).metadata.name, "web");
  await assert.rejects(
    system.client.get(RELEASE_INVENTORIES, { namespace: NS, name: "web" }),
    (e) => hasReason(e, "NotFound"),
  );
  target.close();
});

/** Bad input: a condition with a reason and a message that names the mend; nothing pruned; other Releases go on. */
import assert from "node:assert/strict";
import { API_VERSION, CLUSTERS, GIT_REPOSITORIES, RELEASES, SECRETS } from "../../shared/api/mod.ts";
import type { Cluster, GitRepository, Release } from "../../shared/api/mod.ts";
import { StatusError } from "../../shared/kube/status.ts";
import type { KubeObject } from "../../shared/kube/types.ts";
import { eventually } from "../../shared/testing/mod.ts";
import { configMap, deployment, namespace } from "../kit/manifests.ts";
import { condition, CONFIG_MAPS, is, NS, startSystem, type System } from "../kit/system.ts";

const GOOD = { "good/ns.yaml": namespace(), "good/c.yaml": configMap("good", { a: "1" }) };

async function withGood(system: System, files: Record<string, string> = {}): Promise<void> {
  await system.repository.commit({ ...GOOD, ...files });
  await system.addRepository();
  await system.addRelease("good");
  await system.untilThere("good");
}

/** The bad Release says why, and the good one still rolls out a change. */
async function saysAndOthersGoOn(system: System, reason: string, message: RegExp): Promise<Release> {
  const bad = await system.until("bad", (r) => is(r, "Applied", "False", reason), `Applied=False ${reason}`);
  assert.match(condition(bad, "Applied")!.message, message);
  const commit = await system.repository.commit({ "good/c.yaml": configMap("good", { a: String(Math.random()) }) });
  await system.until(
    "good",
    (r) => r.status?.source?.revision.endsWith(commit) === true && is(r, "RolloutSucceeded", "True"),
    "the good Release goes on",
  );
  return bad;
}

Deno.test("a Release whose GitRepository is missing says SourceFailed and names it", async () => {
  await using system = await startSystem();
  await withGood(system);
  await system.addRelease("bad", { spec: { source: { git: { repository: "nope", path: "x" } } } });
  await saysAndOthersGoOn(system, "SourceFailed", /GitRepository.*nope/);
});

Deno.test("a folder that is not in the repository says SourceFailed or RenderFailed and names it", async () => {
  await using system = await startSystem();
  await withGood(system);
  await system.addRelease("bad", { path: "no/such/folder" });
  const bad = await system.until("bad", (r) => is(r, "Applied", "False"), "Applied=False");
  assert.match(condition(bad, "Applied")!.reason, /^(SourceFailed|RenderFailed)$/);
  assert.match(condition(bad, "Applied")!.message, /no\/such\/folder/);
});

Deno.test("a branch that does not exist shows at the GitRepository and at its Releases", async () => {
  await using system = await startSystem();
  await withGood(system);
  await system.addRepository({ ref: { branch: "nope" } }, "other");
  await system.addRelease("bad", { spec: { source: { git: { repository: "other", path: "good" } } } });
  await saysAndOthersGoOn(system, "SourceFailed", /nope/);
  const source = await system.client.get<GitRepository>(GIT_REPOSITORIES, { namespace: NS, name: "other" });
  const ready = source.status?.conditions?.find((c) => c.type === "Ready");
  assert.equal(ready?.status, "False");
  assert.match(ready!.message, /nope/);
});

Deno.test("YAML that does not parse names file, line and column, and prunes nothing", async () => {
  await using system = await startSystem();
  await withGood(system, { "bad/a.yaml": configMap("kept", { a: "1" }) });
  await system.addRelease("bad");
  await system.untilThere("bad");
  await system.repository.commit({
    "bad/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept\ndata: {a: b}\n",
  });
  await saysAndOthersGoOn(system, "RenderFailed", /a\.yaml:\d+:\d+/);
  const target = await system.cluster().client();
  assert.equal((await target.get<KubeObject>(CONFIG_MAPS, { namespace: "apps", name: "kept" })).metadata.name, "kept");
  target.close();
});

Deno.test("an object of an unknown kind is named, and the others are applied", async () => {
  await using system = await startSystem();
  await withGood(system, {
    "bad/a.yaml": "apiVersion: nope.example/v1\nkind: Nope\nmetadata: {name: one, namespace: apps}\n",
    "bad/b.yaml": configMap("beside", { a: "1" }),
  });
  await system.addRelease("bad");
  await saysAndOthersGoOn(system, "ApplyFailed", /Nope/);
  const target = await system.cluster().client();
  await eventually(() => target.get(CONFIG_MAPS, { namespace: "apps", name: "beside" }), { on: "the other object" });
  target.close();
});

Deno.test("an invalid Release is refused with 422 and the field in the causes", async () => {
  await using system = await startSystem();
  const refused = async (spec: object, field: RegExp) => {
    const error = await system.client.create(RELEASES, {
      apiVersion: API_VERSION,
      kind: "Release",
      metadata: { name: "bad", namespace: NS },
      spec,
    } as KubeObject).then(() => undefined, (e) => e);
    assert.ok(error instanceof StatusError, `refused: ${JSON.stringify(spec)}`);
    assert.equal(error.code, 422);
    assert.ok(
      error.status.details?.causes?.some((c) => field.test(c.field ?? "")),
      JSON.stringify(error.status.details),
    );
  };
  const git = { repository: "r", path: "p" };
  await refused({ source: { git } }, /^spec\.cluster/);
  await refused({ cluster: { name: "c" }, source: {} }, /^spec\.source/);
  await refused({ cluster: { name: "c" }, source: { git, oci: { registry: "r", repository: "x" } } }, /^spec\.source/);
  await refused({ cluster: { name: "c" }, source: { git }, interval: "soon" }, /^spec\.interval/);
  await refused({ cluster: { name: "c" }, source: { git }, deletionPolicy: "Maybe" }, /^spec\.deletionPolicy/);
  await refused({ cluster: { name: "C C" }, source: { git } }, /^spec\.cluster\.name/);
  await refused({ cluster: { name: "c" }, source: { git }, clusterWave: -1 }, /^spec\.clusterWave/);
});

for (
  const [what, data, message] of [
    ["is no kubeconfig", { kubeconfig: "hello: [world" }, /bad-kubeconfig.*kubeconfig/],
    ["lacks the key", { other: "x" }, /bad-kubeconfig.*"?kubeconfig"?/],
  ] as const
) {
  Deno.test(`a Secret that ${what} is named with its key at the Cluster and at its Releases`, async () => {
    await using system = await startSystem();
    await withGood(system);
    await system.apply(SECRETS, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "bad-kubeconfig", namespace: NS },
      stringData: data,
    });
    await system.apply(CLUSTERS, {
      apiVersion: API_VERSION,
      kind: "Cluster",
      metadata: { name: "bad", namespace: NS },
      spec: { kubeconfigSecretRef: { name: "bad-kubeconfig" } },
    });
    await system.addRelease("bad", { cluster: "bad", path: "good" });
    const cluster = await eventually(async () => {
      const c = await system.client.get<Cluster>(CLUSTERS, { namespace: NS, name: "bad" });
      const reachable = c.status?.conditions?.find((x) => x.type === "Reachable");
      return reachable?.status === "False" ? reachable : undefined;
    }, { timeout: 10_000, on: "Reachable=False" });
    assert.match(cluster.message, message);
    const bad = await system.until(
      "bad",
      (r) => condition(r, "Applied") !== undefined && !is(r, "Applied", "True"),
      "Applied is not True",
    );
    assert.match(condition(bad, "Applied")!.message, message);
    assert.equal(JSON.stringify([cluster, bad.status]).includes("hello"), false, "the Secret's value never shows");
  });
}

Deno.test("a cluster that is down turns its Releases Unknown, delays nobody else, and they come back with it", async () => {
  await using system = await startSystem({ clusters: ["c1", "c2"] });
  await withGood(system);
  await system.addRelease("far", { cluster: "c2", path: "good" });
  await system.untilThere("far");
  system.cluster("c2").faults.set({ down: true });
  const far = await system.until(
    "far",
    (r) => is(r, "InSync", "Unknown", "ClusterUnreachable") && is(r, "Healthy", "Unknown", "ClusterUnreachable"),
    "no stale True",
  );
  assert.equal(is(far, "Healthy", "True"), false);
  const commit = await system.repository.commit({ "good/c.yaml": configMap("good", { a: "7" }) });
  await system.until(
    "good",
    (r) => r.status?.source?.revision.endsWith(commit) === true && is(r, "RolloutSucceeded", "True"),
    "c1 goes on",
  );
  await system.until("far", (r) => is(r, "Applied", "Unknown", "ClusterUnreachable"), "Applied=Unknown");
  system.cluster("c2").faults.set({});
  await system.until(
    "far",
    (r) =>
      r.status?.source?.revision.endsWith(commit) === true && is(r, "RolloutSucceeded", "True") &&
      is(r, "InSync", "True") && is(r, "Healthy", "True"),
    "c2 is back",
    60_000,
  );
});

Deno.test("C18: a render without objects says EmptyRender and prunes nothing; with allowEmpty it prunes all", async () => {
  await using system = await startSystem();
  await withGood(system, { "bad/a.yaml": deployment("kept") });
  await system.addRelease("bad");
  await system.untilThere("bad");
  await system.repository.commit({ "bad/a.yaml": "# nothing\n" });
  await saysAndOthersGoOn(system, "EmptyRender", /allowEmpty/);
  assert.equal((await system.inventory("bad")).inventory?.length, 1);
  await system.addRelease("bad", { spec: { allowEmpty: true } });
  await system.until("bad", (r) => is(r, "Applied", "True"), "Applied");
  await eventually(async () => ((await system.inventory("bad")).inventory ?? []).length === 0, {
    timeout: 10_000,
    on: "an empty inventory",
  });
});

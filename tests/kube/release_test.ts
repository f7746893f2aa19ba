/** A Release on a real Kubernetes control plane: real defaulting, real controllers, real Server-Side Apply. */
import assert from "node:assert/strict";
import { customResourceDefinitions, RELEASES } from "../../shared/api/mod.ts";
import { hasReason, StatusError } from "../../shared/kube/status.ts";
import type { KubeObject, Unstructured } from "../../shared/kube/types.ts";
import { eventually } from "../../shared/testing/mod.ts";
import { configMap, deployment, namespace } from "../kit/manifests.ts";
import { condition, CONFIG_MAPS, DEPLOYMENTS, is, NS, startSystem, targetResource } from "../kit/system.ts";
import { realCluster } from "./suite.ts";

const CRDS = targetResource(
  "apiextensions.k8s.io",
  "v1",
  "customresourcedefinitions",
  "CustomResourceDefinition",
  false,
);
const WIDGETS = targetResource("demo.example", "v1", "widgets", "Widget");

const CRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.demo.example}
spec:
  group: demo.example
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`;

const APP = {
  // The custom object comes first in file order and needs the definition and the namespace.
  "app/a-widget.yaml":
    "apiVersion: demo.example/v1\nkind: Widget\nmetadata: {name: w, namespace: kube-e2e}\nspec: {size: 9007199254740993}\n",
  "app/b-crd.yaml": CRD,
  "app/c-app.yaml": deployment("web", { replicas: 2, namespace: "kube-e2e" }),
  "app/d-config.yaml": configMap("cfg", { a: "1" }, "kube-e2e"),
  "app/e-service.yaml": `apiVersion: v1
kind: Service
metadata: {name: web, namespace: kube-e2e}
spec: {selector: {app: web}, ports: [{port: 80}]}
`,
  "app/f-job.yaml": `apiVersion: batch/v1
kind: Job
metadata: {name: once, namespace: kube-e2e}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
`,
  "app/z-ns.yaml": namespace("kube-e2e"),
};

Deno.test("a Release reaches a real cluster: applied in order, in sync without a second write, drift seen, pruned, deleted", async () => {
  await using real = await realCluster();
  await using system = await startSystem({ clusters: [] });
  const { client } = real;
  await system.addCluster("real", real.kubeconfigText);
  await system.repository.commit(APP);
  await system.addRepository();
  await system.addRelease("app", { cluster: "real" });
  await system.untilThere("app", 90_000);
  const ns = "kube-e2e";
  const widget = await client.get<Unstructured>(WIDGETS, { namespace: ns, name: "w" });
  assert.equal((widget.spec as Record<string, unknown>).size, 9007199254740993n);
  const cfg = { namespace: ns, name: "cfg" };
  const live = await client.get<KubeObject>(CONFIG_MAPS, cfg);
  assert.deepEqual(live.metadata.managedFields?.map((m) => [m.manager, m.operation]), [["convoy", "Apply"]]);

  const others = async () =>
    (await Promise.all([
      client.get(DEPLOYMENTS, { namespace: ns, name: "web" }),
      client.get(WIDGETS, { namespace: ns, name: "w" }),
    ]))
      .map((o) => [o.metadata.generation, o.metadata.managedFields?.find((m) => m.manager === "convoy")?.time]);
  const before = await others();
  await client.patch(CONFIG_MAPS, cfg, { type: "merge", body: { data: { a: "2", other: "kept" } } }, {
    fieldManager: "hand",
  });
  const drifted = await system.until("app", (r) => is(r, "InSync", "False", "Drifted"), "InSync=False", 30_000);
  assert.match(condition(drifted, "InSync")!.message, /cfg/);
  const entry = (await system.inventory("app")).inventory?.find((e) => e.name === "cfg");
  assert.deepEqual(entry?.drift?.fields, ["/data/a"], "a key that another manager added is no drift");
  // A sync mends it, leaves the other's key, and writes nothing where nothing differs.
  await system.client.raw({
    method: "POST",
    path: `/apis/${RELEASES.group}/${RELEASES.version}/namespaces/${NS}/releases/app/sync`,
    body: {},
  });
  await system.until("app", (r) => is(r, "InSync", "True"), "InSync again", 30_000);
  const { data } = await client.get<Unstructured>(CONFIG_MAPS, cfg);
  assert.deepEqual(data, { a: "1", other: "kept" });
  assert.deepEqual(await others(), before);

  const commit = await system.repository.commit({
    "app/d-config.yaml": null,
    "app/c-app.yaml": deployment("web", { replicas: 3, image: "img:2", namespace: ns }),
  });
  await system.until(
    "app",
    (r) =>
      r.status?.source?.revision.endsWith(commit) === true && is(r, "RolloutSucceeded", "True") &&
      is(r, "Healthy", "True"),
    "the new commit rolled out",
    60_000,
  );
  await assert.rejects(client.get(CONFIG_MAPS, cfg), (e) => hasReason(e, "NotFound"));

  await system.client.delete(RELEASES, { namespace: NS, name: "app" });
  await eventually(() => system.release("app").then(() => false, (e) => hasReason(e, "NotFound")), {
    timeout: 90_000,
    on: "the Release gone",
  });
  await assert.rejects(client.get(DEPLOYMENTS, { namespace: ns, name: "web" }), (e) => hasReason(e, "NotFound"));
  await assert.rejects(client.get(CRDS, { name: "widgets.demo.example" }), (e) => hasReason(e, "NotFound"));
});

Deno.test("a real kube-apiserver takes the CustomResourceDefinitions and refuses the same invalid Releases", async () => {
  await using real = await realCluster();
  const { client } = real;
  for (const crd of customResourceDefinitions() as unknown as KubeObject[]) {
    await client.apply(CRDS, crd, { fieldManager: "test", force: true });
  }
  await eventually(async () => {
    const { items } = await client.list<
      KubeObject & { status?: { conditions?: { type: string; status: string; message: string }[] } }
    >(CRDS);
    const own = items.filter((c) => c.metadata.name.endsWith(`.${RELEASES.group}`));
    const structural = own.flatMap((c) => c.status?.conditions ?? []).filter((c) =>
      c.type === "NonStructuralSchema" && c.status === "True"
    );
    assert.deepEqual(structural, []);
    return own.length === customResourceDefinitions().length &&
      own.every((c) => c.status?.conditions?.some((x) => x.type === "Established" && x.status === "True"));
  }, { timeout: 30_000, on: "all kinds established" });
  const create = (spec: object, name = "x") =>
    client.create(RELEASES, {
      apiVersion: `${RELEASES.group}/${RELEASES.version}`,
      kind: "Release",
      metadata: { name, namespace: "default" },
      spec,
    } as KubeObject);
  const git = { repository: "r", path: "p" };
  await eventually(() => create({ cluster: { name: "c" }, source: { git } }, "good"), {
    timeout: 10_000,
    on: "the kind served",
  });
  for (
    const [spec, field] of [
      [{ cluster: { name: "c" }, source: {} }, /^spec\.source/],
      [{ cluster: { name: "c" }, source: { git }, interval: "soon" }, /^spec\.interval/],
      [{ source: { git } }, /^spec\.cluster/],
    ] as const
  ) {
    const error = await create(spec).then(() => undefined, (e) => e);
    assert.ok(error instanceof StatusError && error.code === 422, `refused: ${JSON.stringify(spec)}`);
    assert.ok(
      error.status.details?.causes?.some((c) => field.test(c.field ?? "")),
      JSON.stringify(error.status.details?.causes),
    );
  }
});

import assert from "node:assert/strict";
import { FakeClock } from "../runtime/clock.ts";
import { createRestMapper, DiscoveryError, failure, type KubeClient, TransportError } from "./mod.ts";

type Answers = Record<string, unknown>;

/** A client that knows only `raw`; errors among the answers are thrown. */
function clientOf(answers: Answers) {
  const paths: string[] = [];
  const client = {
    raw(request: { path: string }) {
      paths.push(request.path);
      const answer = answers[request.path] ?? failure(404, "NotFound", "not found");
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(structuredClone(answer));
    },
  } as unknown as KubeClient;
  return { client, paths };
}

const aggregated = (items: unknown[]) => ({
  kind: "APIGroupDiscoveryList",
  apiVersion: "apidiscovery.k8s.io/v2",
  items,
});
const resource = (plural: string, kind: string, scope = "Namespaced") => ({
  resource: plural,
  responseKind: { group: "", version: "", kind },
  scope,
  verbs: ["get"],
  subresources: [{ subresource: "status" }],
});

const MODERN: Answers = {
  "/api": aggregated([{
    metadata: {},
    versions: [{ version: "v1", resources: [resource("pods", "Pod"), resource("nodes", "Node", "Cluster")] }],
  }]),
  "/apis": aggregated([
    {
      metadata: { name: "autoscaling" },
      versions: [
        { version: "v2", resources: [resource("horizontalpodautoscalers", "HorizontalPodAutoscaler")] },
        { version: "v1", resources: [resource("horizontalpodautoscalers", "HorizontalPodAutoscaler")] },
      ],
    },
    { metadata: { name: "metrics.k8s.io" }, versions: [{ version: "v1beta1", freshness: "Stale" }] },
  ]),
};

const OLD: Answers = {
  "/api": { kind: "APIVersions", versions: ["v1"] },
  "/apis": {
    kind: "APIGroupList",
    groups: [
      {
        name: "apps",
        versions: [{ version: "v1beta1" }, { version: "v1" }],
        preferredVersion: { groupVersion: "apps/v1", version: "v1" },
      },
      { name: "down.example", versions: [{ version: "v1" }] },
    ],
  },
  "/api/v1": {
    kind: "APIResourceList",
    resources: [
      { name: "pods", kind: "Pod", namespaced: true },
      { name: "pods/status", kind: "Pod", namespaced: true },
    ],
  },
  "/apis/apps/v1": { resources: [{ name: "deployments", kind: "Deployment", namespaced: true }] },
  "/apis/apps/v1beta1": {
    resources: [
      { name: "deployments", kind: "Deployment", namespaced: true },
      { name: "olds", kind: "Old", namespaced: false },
    ],
  },
  "/apis/down.example/v1": failure(503, "ServiceUnavailable", "no endpoints"),
};

Deno.test("createRestMapper() reads aggregated discovery in two requests", async () => {
  const { client, paths } = clientOf(MODERN);
  const mapper = createRestMapper(client, { clock: new FakeClock() });
  assert.deepEqual(await mapper.resourceFor({ group: "", kind: "Node" }), {
    group: "",
    version: "v1",
    plural: "nodes",
    kind: "Node",
    namespaced: false,
  });
  const hpa = { group: "autoscaling", kind: "HorizontalPodAutoscaler" };
  assert.equal((await mapper.resourceFor(hpa))?.version, "v2");
  assert.equal((await mapper.resourceFor({ ...hpa, version: "v1" }))?.version, "v1");
  assert.equal(await mapper.resourceFor({ ...hpa, version: "v3" }), undefined);
  assert.equal((await mapper.resources()).length, 3);
  assert.deepEqual(paths, ["/api", "/apis"]);
});

Deno.test("createRestMapper() falls back to one request for each group version, the preferred version first", async () => {
  const { client } = clientOf(OLD);
  const mapper = createRestMapper(client, { clock: new FakeClock() });
  assert.equal((await mapper.resourceFor({ group: "apps", kind: "Deployment" }))?.version, "v1");
  assert.equal((await mapper.resourceFor({ group: "apps", kind: "Old" }))?.version, "v1beta1");
  assert.equal((await mapper.resourceFor({ group: "", kind: "Pod" }))?.plural, "pods");
});

for (const [name, answers, group] of [["stale", MODERN, "metrics.k8s.io"], ["failed", OLD, "down.example"]] as const) {
  Deno.test(`createRestMapper(): a group whose discovery is ${name} is an error, not an absence; others go on`, async () => {
    const { client } = clientOf(answers);
    const mapper = createRestMapper(client, { clock: new FakeClock() });
    await assert.rejects(mapper.resourceFor({ group, kind: "X" }), DiscoveryError);
    assert.equal(await mapper.resourceFor({ group: "nobody.example", kind: "X" }), undefined);
    assert.notEqual(await mapper.resourceFor({ group: "", kind: "Pod" }), undefined);
  });
}

Deno.test("createRestMapper() asks again on a miss, at most once in its time, and after invalidate()", async () => {
  const clock = new FakeClock();
  const answers: Answers = { ...MODERN, "/apis": aggregated([]) };
  const { client, paths } = clientOf(answers);
  const mapper = createRestMapper(client, { clock, refreshMs: 10_000 });
  const crd = { group: "demo.example", kind: "Widget" };
  for (let i = 0; i < 20; i++) assert.equal(await mapper.resourceFor(crd), undefined);
  assert.equal(paths.length, 2);
  answers["/apis"] = aggregated([{
    metadata: { name: "demo.example" },
    versions: [{ version: "v1", resources: [resource("widgets", "Widget")] }],
  }]);
  assert.equal(await mapper.resourceFor(crd), undefined);
  await clock.advance(10_000);
  assert.equal((await mapper.resourceFor(crd))?.plural, "widgets");
  assert.equal(paths.length, 4);
  answers["/apis"] = aggregated([]);
  assert.equal((await mapper.resourceFor(crd))?.plural, "widgets");
  mapper.invalidate();
  assert.equal(await mapper.resourceFor(crd), undefined);
});

Deno.test("createRestMapper(): many who ask at once make one round; no answer is an error", async () => {
  const { client, paths } = clientOf(MODERN);
  const mapper = createRestMapper(client, { clock: new FakeClock() });
  await Promise.all(Array.from({ length: 10 }, () => mapper.resourceFor({ group: "", kind: "Pod" })));
  assert.equal(paths.length, 2);
  const dead = clientOf({ "/api": new TransportError("down"), "/apis": new TransportError("down") });
  await assert.rejects(
    createRestMapper(dead.client, { clock: new FakeClock() }).resourceFor({ group: "", kind: "Pod" }),
    TransportError,
  );
});

Deno.test("createRestMapper() keeps what it knows when asking anew fails after its age", async () => {
  const clock = new FakeClock();
  const answers: Answers = { ...MODERN };
  const { client } = clientOf(answers);
  const mapper = createRestMapper(client, { clock, maxAgeMs: 1000 });
  await mapper.resources();
  answers["/apis"] = new TransportError("down");
  await clock.advance(2000);
  assert.equal((await mapper.resourceFor({ group: "", kind: "Pod" }))?.plural, "pods");
});

/** get, list, selectors, paging, Table, discovery, OpenAPI: through the handler. */
import assert from "node:assert/strict";
import type { JsonObject } from "../json/mod.ts";
import { type Answer, type TestServer, WIDGET, widget, WIDGETS, withServer } from "./test_kit.ts";

const names = (a: Answer) => (a.body.items as JsonObject[]).map((i) => (i.metadata as JsonObject).name);
const meta = (a: Answer) => a.body.metadata as JsonObject;

async function fill(s: TestServer, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await s.create(
      WIDGETS,
      widget(`w${i}`, { color: i % 2 ? "blue" : "red" }, { labels: { odd: String(i % 2 === 1), n: String(i) } }),
    );
  }
}

Deno.test("list: pages are of one revision, whatever is written between them", async () => {
  await withServer(async (s) => {
    await fill(s, 5);
    const first = await s.get(`${WIDGETS}?limit=2`);
    assert.deepEqual(names(first), ["w0", "w1"]);
    assert.equal(meta(first).remainingItemCount, 3);
    await s.create(WIDGETS, widget("w15"));
    await s.send("DELETE", `${WIDGETS}/w3`);
    const second = await s.get(`${WIDGETS}?limit=2&continue=${meta(first).continue}`);
    assert.deepEqual(names(second), ["w2", "w3"]);
    assert.equal(meta(second).resourceVersion, meta(first).resourceVersion);
    const last = await s.get(`${WIDGETS}?limit=2&continue=${meta(second).continue}`);
    assert.deepEqual(names(last), ["w4"]);
    assert.equal(meta(last).continue, undefined);
  });
});

Deno.test("list: a selector fills its page although most of storage does not match", async () => {
  await withServer(async (s) => {
    await fill(s, 9);
    const first = await s.get(`${WIDGETS}?limit=2&labelSelector=odd%3Dtrue`);
    assert.deepEqual(names(first), ["w1", "w3"]);
    assert.equal(meta(first).remainingItemCount, undefined);
    const second = await s.get(`${WIDGETS}?limit=2&labelSelector=odd%3Dtrue&continue=${meta(first).continue}`);
    assert.deepEqual(names(second), ["w5", "w7"]);
  });
});

Deno.test("list: an old or foreign continue token is 410 or 400", async () => {
  await withServer(async (s) => {
    await fill(s, 3);
    const first = await s.get(`${WIDGETS}?limit=1`);
    await s.create(WIDGETS, widget("z"));
    await s.storage.compact(await s.storage.currentRevision());
    const gone = await s.get(`${WIDGETS}?limit=1&continue=${meta(first).continue}`);
    assert.equal(gone.status, 410);
    assert.equal(gone.body.reason, "Expired");
    for (const token of ["nonsense", btoa(`{"v":"convoy/v1","rv":-1,"after":"x"}`), btoa("[]")]) {
      assert.equal((await s.get(`${WIDGETS}?continue=${encodeURIComponent(token)}`)).status, 400, token);
    }
  });
});

Deno.test("list: resourceVersion and resourceVersionMatch", async () => {
  await withServer(async (s) => {
    await fill(s, 2);
    const then = meta(await s.get(WIDGETS)).resourceVersion;
    await s.create(WIDGETS, widget("z"));
    assert.deepEqual(names(await s.get(`${WIDGETS}?resourceVersion=${then}&resourceVersionMatch=Exact`)), ["w0", "w1"]);
    const newer = `${WIDGETS}?resourceVersion=${then}&resourceVersionMatch=NotOlderThan`;
    assert.deepEqual(names(await s.get(newer)), ["w0", "w1", "z"]);
    assert.equal((await s.get(`${WIDGETS}?resourceVersion=99999`)).status, 504);
    assert.equal((await s.get(`${WIDGETS}?resourceVersion=abc`)).status, 400);
    assert.equal((await s.get(`${WIDGETS}?resourceVersionMatch=Exact`)).status, 422);
    assert.equal((await s.get(`${WIDGETS}?resourceVersionMatch=Some&resourceVersion=1`)).status, 422);
    assert.equal((await s.get(`${WIDGETS}?limit=x`)).status, 400);
  });
});

Deno.test("list: label and field selectors", async () => {
  const cases: [string, string[]][] = [
    ["labelSelector=odd%3Dtrue", ["w1", "w3"]],
    ["labelSelector=odd!%3Dtrue", ["w0", "w2"]],
    ["labelSelector=n in (0,3)", ["w0", "w3"]],
    ["labelSelector=n notin (0,3)", ["w1", "w2"]],
    ["labelSelector=!odd", []],
    ["labelSelector=odd,n%3D%3D2", ["w2"]],
    ["fieldSelector=spec.color%3Dblue", ["w1", "w3"]],
    ["fieldSelector=metadata.name!%3Dw1,metadata.namespace%3Dn", ["w0", "w2", "w3"]],
    ["fieldSelector=metadata.name%3Dw2", ["w2"]],
    ["labelSelector=odd%3Dtrue&fieldSelector=metadata.name%3Dw2", []],
  ];
  await withServer(async (s) => {
    await fill(s, 4);
    for (const [query, expected] of cases) {
      assert.deepEqual(names(await s.get(`${WIDGETS}?${query.replaceAll(" ", "%20")}`)), expected, query);
    }
    for (
      const bad of ["labelSelector=a%3D%3D%3Db", "labelSelector=a in b", "labelSelector=-%3Db", "fieldSelector=x%3Dy"]
    ) {
      const answer = await s.get(`${WIDGETS}?${bad.replaceAll(" ", "%20")}`);
      assert.equal(answer.status, 400, bad);
      assert.equal(answer.body.reason, "BadRequest");
    }
  });
});

Deno.test("list: over all namespaces; the items' versions are those of their last writes", async () => {
  await withServer(async (s) => {
    await s.create(WIDGETS, widget("a"));
    const made = await s.create(WIDGETS.replace("/n/", "/m/"), widget("b"));
    const all = await s.get("/apis/demo.example/v1/widgets");
    assert.deepEqual(names(all), ["b", "a"]);
    assert.equal(all.body.kind, "WidgetList");
    const item = (all.body.items as JsonObject[])[0]!.metadata as JsonObject;
    assert.equal(item.resourceVersion, meta(made).resourceVersion);
    assert.equal(meta(all).resourceVersion, String(await s.storage.currentRevision()));
  });
});

Deno.test("Table: columns, cells by JSONPath with a filter, ages, what rows carry", async () => {
  const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
  await withServer(async (s) => {
    await s.create(WIDGETS, widget("a"));
    await s.send("PATCH", `${WIDGETS}/a/status`, {
      body: { status: { conditions: [{ type: "X", status: "False" }, { type: "Ready", status: "True" }] } },
      type: "application/merge-patch+json",
    });
    await s.clock.advance(90_000);
    const table = await s.get(WIDGETS, accept);
    assert.deepEqual((table.body.columnDefinitions as JsonObject[]).map((c) => c.name), [
      "Name",
      "Color",
      "Ready",
      "Age",
    ]);
    const row = (table.body.rows as JsonObject[])[0]!;
    assert.deepEqual(row.cells, ["a", "red", "True", "90s"]);
    assert.equal((row.object as JsonObject).kind, "PartialObjectMetadata");
    const none = await s.get(`${WIDGETS}/a?includeObject=None`, accept);
    assert.equal((none.body.rows as JsonObject[])[0]!.object, null);
    assert.equal((await s.get(`${WIDGETS}?includeObject=Some`, accept)).status, 400);
  });
});

Deno.test("Accept: PartialObjectMetadata, YAML, protobuf with a JSON alternative, 406 for the rest", async () => {
  await withServer(async (s) => {
    await s.create(WIDGETS, widget("a", { color: "blue" }));
    const list = await s.get(WIDGETS, "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io");
    assert.equal(list.body.kind, "PartialObjectMetadataList");
    assert.equal((list.body.items as JsonObject[])[0]!.spec, undefined);
    const one = await s.get(`${WIDGETS}/a`, "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io");
    assert.equal(one.body.kind, "PartialObjectMetadata");
    const yaml = await s.get(`${WIDGETS}/a`, "application/yaml");
    assert.equal(yaml.headers["content-type"], "application/yaml");
    assert.match(yaml.text, /^apiVersion: demo\.example\/v1$/m);
    const both = await s.get(`${WIDGETS}/a`, "application/vnd.kubernetes.protobuf,application/json");
    assert.equal(both.body.kind, "Widget");
    for (
      const accept of [
        "application/vnd.kubernetes.protobuf",
        "text/html",
        "application/json;as=Nothing;v=v1;g=meta.k8s.io",
      ]
    ) {
      assert.equal((await s.get(`${WIDGETS}/a`, accept)).status, 406, accept);
    }
  });
});

Deno.test("get: not found, unknown paths, unserved versions, pretty", async () => {
  await withServer(async (s) => {
    await s.create(WIDGETS, widget("a"));
    const missing = await s.get(`${WIDGETS}/x`);
    assert.equal(missing.body.message, 'widgets.demo.example "x" not found');
    assert.deepEqual(missing.body.details, { name: "x", group: "demo.example", kind: "widgets" });
    for (
      const path of [
        "/apis/demo.example/v2/namespaces/n/widgets",
        "/apis/demo.example/v1/namespaces/n/gadgets",
        "/nope",
        "/apis/nope",
        "/api/v9",
        `${WIDGETS}/a/status/x`,
        "/%zz",
      ]
    ) {
      const answer = await s.get(path);
      assert.ok(answer.status === 404 || answer.status === 400, `${path} ${answer.status}`);
      assert.equal(answer.body.kind, "Status");
    }
    assert.match((await s.get(`${WIDGETS}/a?pretty=true`)).text, /^\{\n {2}"apiVersion"/);
    assert.equal((await s.send("POST", `${WIDGETS}/a`, { body: widget("a") })).status, 405);
    assert.equal((await s.send("OPTIONS", WIDGETS)).status, 405);
  });
});

Deno.test("discovery: old and aggregated forms tell the same kinds", async () => {
  await withServer(async (s) => {
    const groups = await s.get("/apis");
    assert.equal((groups.body.groups as JsonObject[])[0]!.name, "demo.example");
    const resources = (await s.get("/apis/demo.example/v1")).body.resources as JsonObject[];
    assert.deepEqual(resources.map((r) => r.name), ["widgets", "widgets/status", "widgets/scale"]);
    assert.deepEqual(resources[0]!.shortNames, ["wd"]);
    for (const v of ["v2", "v2beta1"]) {
      const accept = `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList,application/json`;
      const all = await s.get("/apis", accept);
      assert.equal(all.body.kind, "APIGroupDiscoveryList");
      assert.equal(all.body.apiVersion, `apidiscovery.k8s.io/${v}`);
      assert.match(all.headers["content-type"]!, /as=APIGroupDiscoveryList/);
      const version = ((all.body.items as JsonObject[])[0]!.versions as JsonObject[])[0]!;
      assert.equal((version.resources as JsonObject[])[0]!.resource, "widgets");
    }
    assert.equal((await s.get("/api")).body.kind, "APIVersions");
    assert.equal((await s.get("/version")).body.major, "1");
    assert.equal((await s.get("/healthz")).text, "ok");
  });
});

Deno.test("discovery: versions come in Kubernetes' order of priority", async () => {
  const version = WIDGET.versions[0]!;
  const kind = {
    ...WIDGET,
    versions: ["v1alpha1", "v2", "v1beta2", "v10", "foo"].map((name, i) => ({ ...version, name, storage: i === 0 })),
  };
  await withServer(async (s) => {
    const group = (await s.get("/apis/demo.example")).body;
    assert.deepEqual((group.versions as JsonObject[]).map((v) => v.version), [
      "v10",
      "v2",
      "v1beta2",
      "v1alpha1",
      "foo",
    ]);
    await s.create("/apis/demo.example/v2/namespaces/n/widgets", { ...widget("a"), apiVersion: "demo.example/v2" });
    assert.equal((await s.get("/apis/demo.example/v10/namespaces/n/widgets/a")).body.apiVersion, "demo.example/v10");
  }, { kinds: [kind] });
});

Deno.test("OpenAPI: v3 addresses change with the content, and only then", async () => {
  await withServer(async (s) => {
    const address = async () =>
      (((await s.get("/openapi/v3")).body.paths as JsonObject)["apis/demo.example/v1"] as JsonObject)
        .serverRelativeURL as string;
    const before = await address();
    assert.equal(await address(), before);
    const document = await s.get(before);
    const schemas = (document.body.components as JsonObject).schemas as JsonObject;
    assert.ok("example.demo.v1.Widget" in schemas);
    assert.equal(
      (await s.send("GET", before, { headers: { "if-none-match": document.headers["etag"]! } })).status,
      304,
    );
    const version = WIDGET.versions[0]!;
    s.api.setKinds([{ ...WIDGET, versions: [{ ...version, schema: { type: "object" } }] }]);
    assert.notEqual(await address(), before);
    const v2 = await s.get("/openapi/v2");
    assert.equal(v2.body.swagger, "2.0");
    assert.equal((await s.get("/openapi/v3/apis/none/v1")).status, 404);
  });
});

Deno.test("readyz: fails while a check fails, and does not tell why", async () => {
  let ok = false;
  await withServer(async (s) => {
    const failed = await s.get("/readyz");
    assert.equal(failed.status, 500);
    assert.match(failed.text, /\[-\]db failed: reason withheld/);
    assert.equal((await s.get("/livez")).status, 200);
    ok = true;
    assert.equal((await s.get("/readyz")).status, 200);
  }, { readyChecks: { db: async () => void (ok || await Promise.reject(new Error("secret"))) } });
});

/** CustomResourceDefinitions register kinds at run time. */
import assert from "node:assert/strict";
import { builtinKinds } from "../facts/mod.ts";
import type { JsonObject } from "../json/mod.ts";
import { type TestServer, withServer } from "./test_kit.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const options = { kinds: builtinKinds(), serveCrds: true, checkNamespaces: false };

function crd(schema: JsonObject = {}, extra: JsonObject = {}): JsonObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "foos.demo.example" },
    spec: {
      group: "demo.example",
      scope: "Namespaced",
      names: { plural: "foos", kind: "Foo", shortNames: ["fo"] },
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", ...schema } },
      }],
      ...extra,
    },
  };
}

const foo = (name: string, spec: JsonObject = {}): JsonObject => ({
  apiVersion: "demo.example/v1",
  kind: "Foo",
  metadata: { name },
  spec,
});
const FOOS = "/apis/demo.example/v1/namespaces/n/foos";
const specOf = (properties: JsonObject): JsonObject => ({
  properties: { spec: { type: "object", properties } },
});

async function statusOf(s: TestServer): Promise<JsonObject> {
  await s.api.settled();
  return (await s.get(`${CRDS}/foos.demo.example`)).body.status as JsonObject;
}

Deno.test("CRD: its kind is served as soon as the create is answered, and it becomes Established", async () => {
  await withServer(async (s) => {
    assert.equal((await s.create(FOOS, foo("a"))).status, 404);
    assert.equal((await s.create(CRDS, crd(specOf({ a: { type: "string", default: "d" } })))).status, 201);
    const made = await s.create(FOOS, foo("a"));
    assert.equal(made.status, 201);
    assert.deepEqual(made.body.spec, { a: "d" });
    const status = await statusOf(s);
    assert.deepEqual(
      (status.conditions as JsonObject[]).map((c) => `${c.type}=${c.status}`).sort(),
      ["Established=True", "NamesAccepted=True"],
    );
    assert.deepEqual(status.storedVersions, ["v1"]);
    const discovery = await s.get("/apis/demo.example/v1");
    assert.equal((discovery.body.resources as JsonObject[])[0]!.name, "foos");
    const openapi = await s.get("/openapi/v3");
    assert.ok("apis/demo.example/v1" in (openapi.body.paths as JsonObject));
  }, options);
});

Deno.test("CRD: a new schema is in force at once, also for what is stored already", async () => {
  await withServer(async (s) => {
    await s.create(CRDS, crd(specOf({ a: { type: "string" }, gone: { type: "string" } })));
    await s.create(FOOS, foo("x", { a: "1", gone: "2" }));
    const changed = crd(specOf({ a: { type: "string" }, b: { type: "string", default: "new" } }));
    assert.equal((await s.merge(`${CRDS}/foos.demo.example`, { spec: changed.spec })).status, 200);
    assert.deepEqual((await s.get(`${FOOS}/x`)).body.spec, { a: "1", b: "new" });
  }, options);
});

Deno.test("CRD: deleting it deletes its objects, waits for their finalizers, and ends the kind", async () => {
  await withServer(async (s) => {
    await s.create(CRDS, crd());
    await s.create(FOOS, foo("a"));
    await s.create(FOOS, { ...foo("b"), metadata: { name: "b", finalizers: ["demo.example/f"] } });
    await s.send("DELETE", `${CRDS}/foos.demo.example`);
    await s.api.settled();
    assert.equal((await s.get(`${FOOS}/a`)).status, 404);
    assert.equal((await s.get(`${CRDS}/foos.demo.example`)).status, 200);
    await s.merge(`${FOOS}/b`, { metadata: { finalizers: null } });
    await s.api.settled();
    assert.equal((await s.get(`${CRDS}/foos.demo.example`)).status, 404);
    assert.equal((await s.get(FOOS)).status, 404);
  }, options);
});

Deno.test("CRD: a second definition of the same kind is not accepted", async () => {
  await withServer(async (s) => {
    await s.create(CRDS, crd());
    const other = crd({}, { names: { plural: "bars", kind: "Foo", listKind: "BarList" } });
    other.metadata = { name: "bars.demo.example" };
    assert.equal((await s.create(CRDS, other)).status, 201);
    await s.api.settled();
    const status = (await s.get(`${CRDS}/bars.demo.example`)).body.status as JsonObject;
    const accepted = (status.conditions as JsonObject[]).find((c) => c.type === "NamesAccepted");
    assert.equal(accepted?.status, "False");
    assert.equal((await s.get("/apis/demo.example/v1/bars")).status, 404);
  }, options);
});

Deno.test("CRD: kinds are there again after a restart", async () => {
  await withServer(async (s) => {
    await s.create(CRDS, crd());
    await s.create(FOOS, foo("a"));
    await s.api.settled();
    const { createApiHandler } = await import("./handler.ts");
    const second = createApiHandler({ ...options, storage: s.storage, clock: s.clock });
    const answer = await second.handle({
      method: "GET",
      path: `${FOOS}/a`,
      headers: {},
      user: { name: "x", groups: ["system:masters"] },
    });
    assert.equal(answer.status, 200);
    await second.close();
  }, options);
});

Deno.test("CRD: what could not be served is refused with the field", async () => {
  const cases: [JsonObject, string][] = [
    [crd({}, { group: "nodot" }), "spec.group"],
    [crd({}, { scope: "Other" }), "spec.scope"],
    [crd({}, { versions: [] }), "spec.versions"],
    [crd({ type: "string" }), "spec.versions[0].schema.openAPIV3Schema.type"],
    [
      crd(specOf({ a: {} })),
      "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.a.type",
    ],
    [
      crd(specOf({ a: { type: "string", pattern: "(" } })),
      "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.a.pattern",
    ],
    [
      crd(specOf({ a: { type: "string", "x-kubernetes-validations": [{ rule: "self ==" }] } })),
      "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.a.x-kubernetes-validations[0].rule",
    ],
    [
      crd(specOf({ a: { type: "array", items: { type: "object" }, "x-kubernetes-list-type": "map" } })),
      "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.a.x-kubernetes-list-map-keys",
    ],
  ];
  await withServer(async (s) => {
    for (const [body, field] of cases) {
      const answer = await s.create(CRDS, body);
      assert.equal(answer.status, 422, JSON.stringify(answer.body));
      const causes = ((answer.body.details as JsonObject).causes as JsonObject[]).map((c) => c.field);
      assert.ok(causes.includes(field), `${field} not in ${causes.join(" ")}`);
    }
  }, options);
});

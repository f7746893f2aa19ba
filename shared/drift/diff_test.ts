import assert from "node:assert/strict";
import fc from "fast-check";
import { cloneJson, type JsonObject, type JsonValue } from "../json/mod.ts";
import { changedBeyondStatus, compileIgnore, diffPaths, isQuantitySchema, sameQuantity } from "./mod.ts";

const managed = (fieldsV1: object) => [{
  manager: "convoy",
  operation: "Apply",
  apiVersion: "v1",
  fieldsType: "FieldsV1",
  fieldsV1,
}];
const object = (parts: object, metadata: object = {}, fields: object = {}) => ({
  apiVersion: "demo.example/v1",
  kind: "App",
  metadata: { name: "a", namespace: "t1", managedFields: managed(fields), ...metadata },
  ...parts,
});
const CONTAINERS = { "f:spec": { "f:containers": { 'k:{"name":"c"}': {}, 'k:{"name":"d"}': {} } } };
const PORTS = { "f:spec": { "f:ports": { 'k:{"port":53,"protocol":"TCP"}': {} } } };

function paths(live: object, wanted: object, fields: object = {}, ignore: string[] = []) {
  const a = object(live, {}, fields), b = object(wanted, {}, fields);
  const copies = [cloneJson(a), cloneJson(b)];
  const got = diffPaths(a, b, {
    ignore: compileIgnore([{ paths: ignore }]).for({ group: "", kind: "", namespace: "", name: "" }),
  });
  assert.deepEqual([a, b], copies, "C16: the objects are only read");
  return got;
}

Deno.test("diffPaths names changed, added and removed fields as JSON pointers, sorted", () => {
  assert.deepEqual(
    paths({ data: { a: "1", old: "x" } }, { data: { a: "2", "b/c~d": "y" } }),
    ["/data/a", "/data/b~1c~0d", "/data/old"],
  );
  assert.deepEqual(paths({ spec: { x: 1 } }, { spec: { x: 1 } }), []);
});

Deno.test("C15: a change inside a field without schema is drift, what a webhook added there is not", () => {
  assert.deepEqual(
    paths(
      { spec: { run: { image: "app:1", extra: { sidecar: true } } } },
      { spec: { run: { image: "app:2", args: ["a", "b"], extra: { sidecar: true } } } },
    ),
    ["/spec/run/args", "/spec/run/image"],
  );
});

Deno.test("C16: a Secret's drift is told by paths alone", () => {
  const got = paths({ data: { token: "b2xk" } }, { data: { token: "bmV3" } });
  assert.deepEqual(got, ["/data/token"]);
  assert.doesNotMatch(JSON.stringify(got), /b2xk|bmV3/);
});

Deno.test("C03: null, empty and absent are told apart only where the server stores them apart", () => {
  assert.deepEqual(paths({ spec: { limit: null } }, { spec: { limit: null } }), []);
  assert.deepEqual(paths({ spec: { limit: { value: 1 } } }, { spec: { limit: null } }), ["/spec/limit"]);
  assert.deepEqual(paths({ spec: {} }, { spec: { m: {} } }), ["/spec/m"]);
});

Deno.test("C08: items of keyed lists are told by their keys, with the key that defaulted", () => {
  const tcp = { port: 53, protocol: "TCP", name: "t" }, udp = { port: 53, protocol: "UDP", name: "u" };
  assert.deepEqual(paths({ spec: { ports: [tcp, udp] } }, { spec: { ports: [tcp, udp] } }, PORTS), []);
  assert.deepEqual(paths({ spec: { ports: [tcp, udp] } }, { spec: { ports: [{ ...tcp, name: "x" }, udp] } }, PORTS), [
    "/spec/ports[port=53,protocol=TCP]/name",
  ]);
  assert.deepEqual(paths({ spec: { ports: [tcp] } }, { spec: { ports: [udp] } }, PORTS), [
    "/spec/ports[port=53,protocol=TCP]",
    "/spec/ports[port=53,protocol=UDP]",
  ]);
});

Deno.test("C08: duplicates in a keyed list are compared as a whole and equal ones are no drift", () => {
  const env = [{ name: "c", value: "a" }, { name: "c", value: "$(P):b" }];
  assert.deepEqual(paths({ spec: { containers: env } }, { spec: { containers: env } }, CONTAINERS), []);
  assert.deepEqual(paths({ spec: { containers: env } }, { spec: { containers: [env[0]] } }, CONTAINERS), [
    "/spec/containers",
  ]);
});

Deno.test("diffPaths: a field of an item, a new order, an atomic list", () => {
  const c = { name: "c", image: "x:1" }, d = { name: "d", image: "y:1" };
  const both = (list: object[]) => ({ spec: { containers: list } });
  assert.deepEqual(paths(both([c, d]), both([{ ...c, image: "x:2" }, d]), CONTAINERS), [
    "/spec/containers[name=c]/image",
  ]);
  assert.deepEqual(paths(both([c, d]), both([d, c]), CONTAINERS), ["/spec/containers"]);
  assert.deepEqual(paths({ spec: { args: ["a"] } }, { spec: { args: ["b"] } }), ["/spec/args"]);
});

Deno.test("diffPaths quotes key values that are no plain words", () => {
  const fields = { "f:spec": { "f:containers": { 'k:{"name":"c"}': {} } } };
  assert.deepEqual(
    paths({ spec: { containers: [] } }, { spec: { containers: [{ name: "a/b]" }] } }, fields),
    ['/spec/containers[name="a/b]"]'],
  );
});

Deno.test("diffPaths ignores status and what the server keeps in metadata", () => {
  const a = object({ status: { x: 1 } }, { resourceVersion: "1", generation: 1, uid: "u", labels: { a: "1" } });
  const b = object({ status: { x: 2 } }, { resourceVersion: "2", generation: 2, labels: { a: "2" } }, { "f:x": {} });
  assert.deepEqual(diffPaths(a, b), ["/metadata/labels/a"]);
});

Deno.test("diffPaths keeps integers beyond 2^53 apart", () => {
  assert.deepEqual(paths({ spec: { n: 9007199254740993n } }, { spec: { n: 9007199254740994n } }), ["/spec/n"]);
  assert.deepEqual(paths({ spec: { n: 9007199254740993n } }, { spec: { n: 9007199254740993n } }), []);
});

Deno.test("diffPaths copes with keys such as __proto__", () => {
  const evil = JSON.parse('{"spec": {"__proto__": {"x": 1}}}') as object;
  assert.deepEqual(paths(evil, { spec: {} }), ["/spec/__proto__"]);
});

Deno.test("ignore: a path covers all below it, by key, index, item or star", () => {
  const c = (image: string, cpu: string) => ({ spec: { containers: [{ name: "c", image, cpu }] } });
  const run = (...ignore: string[]) => paths(c("x:1", "1"), c("x:2", "2"), CONTAINERS, ignore);
  const image = "/spec/containers[name=c]/image", cpu = "/spec/containers[name=c]/cpu";
  assert.deepEqual(run(), [cpu, image]);
  assert.deepEqual(run("/spec"), []);
  assert.deepEqual(run("/spec/containers"), []);
  assert.deepEqual(run("/spec/containers/0/image"), [cpu]);
  assert.deepEqual(run("/spec/containers/*/image"), [cpu]);
  assert.deepEqual(run("/spec/containers[name=c]/cpu"), [image]);
  assert.deepEqual(run("/spec/containers[name=other]"), [cpu, image]);
  assert.deepEqual(run("/spec/cont"), [cpu, image], "no match of half a word");
});

Deno.test("ignore: one field of a map that is missing as a whole, and escapes", () => {
  assert.deepEqual(paths({}, { spec: { a: 1, b: 2 } }, {}, ["/spec/a"]), ["/spec/b"]);
  assert.deepEqual(paths({ m: { "x/y": 1 } }, { m: { "x/y": 2 } }, {}, ["/m/x~1y"]), []);
  assert.deepEqual(paths({ l: ["a", "b"] }, { l: ["c", "d"] }, {}, ["/l/0"]), ["/l/1"]);
});

Deno.test("compileIgnore: rules choose objects; a path that cannot be read is told and ignores nothing", () => {
  const rules = compileIgnore([
    { kind: "Deployment", group: "apps", paths: ["/spec/replicas"] },
    { name: "x", paths: ["spec/nope", "/ok"] },
  ]);
  const of = (kind: string, name: string) => rules.for({ group: "apps", kind, namespace: "", name }).length;
  assert.deepEqual([of("Deployment", "a"), of("Deployment", "x"), of("Other", "x"), of("Other", "a")], [1, 2, 1, 0]);
  assert.match(rules.errors[0]!, /Cannot read the path "spec\/nope"/);
});

Deno.test("changedBeyondStatus is false for status, managedFields and versions alone", () => {
  const a = object({ spec: { x: 1 }, status: {} }, { resourceVersion: "1" });
  assert.equal(changedBeyondStatus(a, { ...a, status: { y: 1 } }), false);
  assert.equal(
    changedBeyondStatus(a, { ...a, metadata: { ...a.metadata, resourceVersion: "2", managedFields: [] } }),
    false,
  );
  assert.equal(changedBeyondStatus(a, { ...a, spec: { x: 2 } }), true);
  assert.equal(changedBeyondStatus(a, { ...a, metadata: { ...a.metadata, annotations: { z: "1" } } }), true);
});

const jsonObject = fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });

Deno.test("diffPaths is empty exactly for equal content, and is the same both ways", () => {
  fc.assert(fc.property(jsonObject, jsonObject, (a, b) => {
    const x = { spec: a as JsonObject }, y = { spec: b as JsonObject };
    assert.deepEqual(diffPaths(x, cloneJson(x)), []);
    const there = diffPaths(x, y);
    assert.deepEqual(there, diffPaths(y, x));
    assert.equal(there.length === 0, !changedBeyondStatus(x, y));
  }));
});

Deno.test("ignoring each reported path leaves nothing", () => {
  const keyed = fc.uniqueArray(
    fc.record({ name: fc.constantFrom("c", "d", "e/f", 'g"]'), v: fc.integer({ max: 2 }) }),
    {
      selector: (i) => i.name,
    },
  );
  fc.assert(fc.property(keyed, keyed, (a, b) => {
    const live = object({ spec: { containers: a as JsonValue[] } }, {}, CONTAINERS);
    const wanted = object({ spec: { containers: b as JsonValue[] } }, {}, CONTAINERS);
    const found = diffPaths(live, wanted);
    const rules = compileIgnore([{ paths: found.length ? found : ["/x"] }]);
    assert.deepEqual(rules.errors, []);
    const left = diffPaths(live, wanted, { ignore: rules.for({ group: "", kind: "", namespace: "", name: "" }) });
    // With the items gone from the comparison, only their order may be left.
    assert.ok(left.every((p) => p === "/spec/containers"), left.join());
  }));
});

for (
  const [a, b, same] of [
    ["1000m", "1", true],
    ["1000M", "1G", true],
    ["0.5", "500m", true],
    [0.5, "500m", true],
    ["3072Mi", "3Gi", true],
    ["12000m", "12", true],
    ["1e3", "1k", true],
    ["1000Mi", "1Gi", false],
    ["1", "2", false],
    ["abc", "abc", false],
    ["", "0", false],
    ["-1", "1", false],
  ] as const
) {
  Deno.test(`C20: ${a} and ${b} are ${same ? "the same quantity" : "different"}`, () => {
    assert.equal(sameQuantity(a, b), same);
  });
}

Deno.test("C20: only a field whose schema says so is a quantity", () => {
  const quantity = {
    "x-kubernetes-int-or-string": true,
    pattern: "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?[0-9]+))?$",
  };
  const schema = {
    properties: {
      spec: {
        properties: {
          quota: quantity,
          plain: { type: "string" },
          port: { "x-kubernetes-int-or-string": true },
          limits: { additionalProperties: quantity },
          parts: { items: { properties: { size: quantity } } },
        },
      },
    },
  };
  const same = (live: object, wanted: object) =>
    diffPaths({ spec: live }, { spec: wanted }, {
      same: (path, a, b) => sameQuantity(a, b) && isQuantitySchema(schema, path),
    });
  assert.deepEqual(same({ quota: "12" }, { quota: "12000m" }), []);
  assert.deepEqual(same({ quota: "12" }, { quota: "13" }), ["/spec/quota"]);
  assert.deepEqual(same({ limits: { cpu: 1 } }, { limits: { cpu: "1000m" } }), []);
  assert.deepEqual(same({ plain: "1" }, { plain: "1000m" }), ["/spec/plain"]);
  assert.deepEqual(same({ port: "1" }, { port: "1000m" }), ["/spec/port"]);
  assert.equal(
    isQuantitySchema(schema, [{ key: "spec" }, { key: "parts" }, { index: 0 }, { key: "size" }]),
    true,
  );
});

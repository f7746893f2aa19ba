import assert from "node:assert/strict";
import { type Obj, parseFieldsV1, TypedError, type Value } from "./mod.ts";
import { exactJson, PathElementError } from "./path_element.ts";
import { thrown, V1, World } from "./test_support.ts";

function own(object: Value | undefined, key: string): Value | undefined {
  return Object.getOwnPropertyDescriptor(object as Obj, key)?.value;
}

Deno.test("hostile: __proto__ and friends are keys like any other, through merge, prune and update", () => {
  const world = new World();
  const labels = exactJson('{"__proto__":"p","constructor":"c","toString":"t"}');
  const free = exactJson('{"__proto__":{"polluted":true},"a":{"__proto__":1}}');
  world.apply("a", { spec: { labels, free } });
  assert.equal(own((world.spec as Obj).labels, "__proto__"), "p");
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
  assert.match(world.owners()["a Apply"]!, /\.spec\.labels\.__proto__/);
  world.apply("b", { spec: { labels: exactJson('{"__proto__":"p2"}') } }, { force: true });
  assert.equal(own((world.spec as Obj).labels, "__proto__"), "p2");
  world.put("u", { metadata: world.live!.metadata!, spec: { labels: exactJson('{"__proto__":"p3","toString":"t"}') } });
  assert.equal(own((world.spec as Obj).labels, "__proto__"), "p3");
  assert.equal(world.owners()["u Update"], ".spec.labels.__proto__");
  world.apply("a", { spec: { text: "1" } });
  assert.deepEqual(Object.keys((world.spec as Obj).labels as Obj), ["__proto__"], "the updater's key stays");
  assert.equal(Object.getPrototypeOf((world.spec as Obj).labels), Object.prototype);
});

Deno.test("hostile: __proto__ as a struct field is an undeclared field, in metadata and spec", () => {
  const world = new World();
  const error = thrown(TypedError, () => world.apply("a", exactJson('{"spec":{"__proto__":{"text":"1"}}}') as Obj));
  assert.deepEqual(error.errors.map((e) => e.field), [".spec.__proto__"]);
});

Deno.test("hostile: a list map key that is __proto__ finds its own item", () => {
  const world = new World();
  world.apply("a", { spec: { rows: [{ name: "__proto__", value: "1" }, { name: "x" }] } });
  world.apply("b", { spec: { rows: [{ name: "__proto__", note: "n" }] } });
  assert.deepEqual((world.spec as Obj).rows, [{ name: "__proto__", value: "1", note: "n" }, { name: "x" }]);
});

function deep(levels: number, wrap: (inner: Value) => Value): Value {
  let value: Value = "leaf";
  for (let i = 0; i < levels; i++) value = wrap(value);
  return value;
}

Deno.test("hostile: nesting beyond 1000 levels is a typing error, below it works", () => {
  for (const wrap of [(v: Value) => ({ a: v }), (v: Value) => [v]]) {
    const world = new World();
    const error = thrown(TypedError, () => world.apply("a", { spec: { free: { x: deep(5000, wrap) } } }));
    assert.match(error.message, /nested deeper than 1000 levels/);
    world.apply("a", { spec: { free: { x: deep(900, wrap) } } });
    world.apply("b", { spec: { free: { y: deep(900, wrap) } } });
    world.apply("a", {});
    world.put("u", { metadata: world.live!.metadata!, spec: { free: { z: deep(900, wrap) } } });
    assert.deepEqual(Object.keys((world.spec as Obj).free as Obj), ["z"]);
  }
});

Deno.test("hostile: fieldsV1 beyond 1000 levels does not decode", () => {
  let fields: Obj = {};
  for (let i = 0; i < 3000; i++) fields = { "f:a": fields };
  assert.throws(() => parseFieldsV1(fields), PathElementError);
  const world = new World();
  world.put("c", { spec: { text: "1" } });
  const entry = { manager: "z", operation: "Apply", apiVersion: V1, fieldsType: "FieldsV1", fieldsV1: fields };
  world.put("u", { metadata: { name: "x", managedFields: [entry] }, spec: { text: "2" } });
  assert.deepEqual(Object.keys(world.owners()), ["c Update", "u Update"]);
});

const NO_ENTRIES: Value[] = [5, "x", true, {}, [null], [1], [[]], ["f:x"], [{ operation: 1 }], [{ fieldsV1: "x" }]];
for (const managedFields of NO_ENTRIES) {
  Deno.test(`hostile: managedFields ${JSON.stringify(managedFields)} is nothing that decodes`, () => {
    const world = new World();
    world.put("c", { metadata: { name: "x", managedFields }, spec: { text: "1" } });
    assert.deepEqual(Object.keys(world.owners()), ["c Update"]);
    world.live = { ...world.live!, metadata: { name: "x", managedFields } };
    world.apply("a", { spec: { text: "1" } });
    assert.deepEqual(Object.keys(world.owners()), ["a Apply", "before-first-apply Update"]);
  });
}

const NO_OBJECTS: Obj[] = [{ metadata: null }, { metadata: [] }, { metadata: "x" }, { spec: "x" }, { spec: [] }, {
  status: 5,
}];
for (const parts of NO_OBJECTS) {
  Deno.test(`hostile: an update with ${JSON.stringify(parts)} is tracked without a crash`, () => {
    const world = new World();
    world.put("c", { spec: { text: "1", rows: [{ name: "x" }] } });
    world.put("u", parts);
    world.put("u", { spec: { text: "1" } });
    world.apply("a", { spec: { text: "1" } });
    assert.equal((world.spec as Obj).text, "1");
  });
}

Deno.test("hostile: a live object that does not fit its schema still takes applies elsewhere", () => {
  const world = new World();
  world.put("c", { spec: { text: { not: "text" }, rows: "none", labels: ["x"], unknown: { a: [1] } } });
  world.apply("a", { spec: { number: 1 } });
  world.apply("a", { spec: { number: 2, rows: [{ name: "x" }], labels: { k: "1" } } }, { force: true });
  assert.deepEqual((world.spec as Obj).rows, [{ name: "x" }]);
  assert.deepEqual((world.spec as Obj).labels, { k: "1" });
});

Deno.test("hostile: the keys of a long list are read a few times for each item, not once for each pair", () => {
  let reads = 0;
  const counted = (i: number) => ({
    get name() {
      reads++;
      return `row-${i}`;
    },
    value: "1",
  });
  const rows = (n: number): Obj[] => Array.from({ length: n }, (_, i) => counted(i));
  const n = 3000;
  const world = new World();
  world.put("c", { spec: { rows: rows(n) } });
  world.apply("a", { spec: { rows: rows(n).reverse() } });
  world.apply("b", { spec: { rows: rows(n) } });
  world.apply("a", { spec: { rows: rows(n / 2) } });
  assert.equal(((world.spec as Obj).rows as Obj[]).length, n);
  assert.ok(reads >= n && reads < 60 * n, `${reads} reads for ${n} items`);
});

Deno.test("hostile: a conflict about thousands of paths is told once for each", () => {
  const world = new World();
  const labels = (value: string) => Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`k${i}`, value]));
  world.apply("a", { spec: { labels: labels("1") } });
  assert.throws(() => world.apply("b", { spec: { labels: labels("2") } }), /Apply failed with 3000 conflicts/);
});

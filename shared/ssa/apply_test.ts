import assert from "node:assert/strict";
import { ConflictError, type Obj } from "./mod.ts";
import { thrown, V2, World } from "./test_support.ts";

const ROW = '.spec.rows[name="x"]';

const OWNED: [what: string, spec: Obj, paths: string][] = [
  ["scalars", { text: "1", number: 2 }, ".spec.number .spec.text"],
  ["struct fields", { group: { a: "1", inner: { c: "2" } } }, ".spec.group.a .spec.group.inner.c"],
  ["map keys", { labels: { b: "1", a: "2" } }, ".spec.labels.a .spec.labels.b"],
  [
    "atomics",
    { whole: { a: "1" }, wholeLabels: { a: "1" }, plain: ["a"] },
    ".spec.plain .spec.whole .spec.wholeLabels",
  ],
  ["set items", { tags: ["b", "a"], ids: [10, 9] }, '.spec.ids[=9] .spec.ids[=10] .spec.tags[="a"] .spec.tags[="b"]'],
  ["list map items and what is in them", { rows: [{ name: "x", value: "v" }] }, `${ROW} ${ROW}.name ${ROW}.value`],
  [
    "a key that a default stands for",
    { ports: [{ port: 80 }] },
    '.spec.ports[port=80,protocol="TCP"] .spec.ports[port=80,protocol="TCP"].port',
  ],
  ["empty maps", { labels: {}, group: { inner: {} } }, ".spec.labels .spec.group.inner"],
  ["nulls", { labels: null, tags: null, maybe: null }, ".spec.labels .spec.maybe .spec.tags"],
  ["an empty list owns nothing", { tags: [], rows: [], text: "1" }, ".spec.text"],
  ["an empty atomic list", { plain: [] }, ".spec.plain"],
  ["an empty spec", {}, ".spec"],
  [
    "deduced values",
    { free: { a: { b: 1 }, l: [1], n: null, e: {} } },
    ".spec.free.a .spec.free.e .spec.free.l .spec.free.n .spec.free.a.b",
  ],
  [
    "unknown fields beside known ones",
    { semi: { known: "1", other: { x: 1 } } },
    ".spec.semi.known .spec.semi.other .spec.semi.other.x",
  ],
];
for (const [what, spec, paths] of OWNED) {
  Deno.test(`rule 27: applyPatch() owns ${what}`, () => {
    const world = new World();
    world.apply("a", { spec });
    assert.deepEqual(world.owners(), { "a Apply": paths });
    assert.deepEqual(world.spec, spec);
  });
}

Deno.test("rule 17: the applier never owns its identity, but labels, annotations, finalizers and owners", () => {
  const world = new World();
  world.apply("a", {
    metadata: {
      name: "x",
      namespace: "n",
      generateName: "g",
      uid: "u",
      resourceVersion: "1",
      generation: 3,
      creationTimestamp: null,
      labels: { l: "1" },
      annotations: { n: "1" },
      finalizers: ["f"],
      ownerReferences: [{ uid: "u1", name: "o", kind: "K", apiVersion: "v1" }],
    },
  });
  assert.deepEqual(world.owners(), {
    "a Apply":
      '.metadata.generateName .metadata.annotations.n .metadata.finalizers[="f"] .metadata.labels.l .metadata.ownerReferences[uid="u1"]',
  });
});

Deno.test("rule 16: an entry that owns nothing vanishes; without entries managedFields is absent", () => {
  const world = new World();
  world.apply("a", { spec: { text: "1" } });
  world.apply("a", {});
  assert.equal(Object.hasOwn(world.live!.metadata as Obj, "managedFields"), false);
  assert.equal(world.spec, undefined, "rule 34: omitting spec drops it");
});

Deno.test("rule 36: changing what another owns is a conflict, with the paths and managers in order", () => {
  const world = new World();
  world.apply("b", { spec: { text: "1", rows: [{ name: "x", value: "1" }] } });
  world.put("u", { spec: { text: "1", rows: [{ name: "x", value: "1" }], number: 1, labels: { k: "1" } } });
  world.apply("s", { status: { phase: "P" } }, { subresource: "status" });
  const change = { spec: { text: "2", number: 2, rows: [{ name: "x", value: "2" }], labels: { k: "2" } } };
  const error = thrown(ConflictError, () => world.apply("a", change));
  assert.equal(
    error.message,
    'Apply failed with 4 conflicts: conflicts with "b":\n- .spec.text\n- .spec.rows[name="x"].value\n' +
      'conflicts with "u" using test.example.com/v1:\n- .spec.number\n- .spec.labels.k',
  );
  assert.deepEqual(error.causes, [
    { field: ".spec.text", message: 'conflict with "b"' },
    { field: '.spec.rows[name="x"].value', message: 'conflict with "b"' },
    { field: ".spec.number", message: 'conflict with "u" using test.example.com/v1' },
    { field: ".spec.labels.k", message: 'conflict with "u" using test.example.com/v1' },
  ]);
  const one = thrown(ConflictError, () => world.apply("s2", { status: { phase: "Q" } }, { subresource: "status" }));
  assert.equal(one.message, 'Apply failed with 1 conflict: conflict with "s" with subresource "status": .status.phase');
});

Deno.test("rule 36: equal values and removals are no conflict; a new container counts itself", () => {
  const world = new World();
  world.apply("a", { spec: { text: "1", labels: {} } });
  world.apply("b", { spec: { text: "1", number: 1 } });
  world.apply("a", { spec: { labels: {} } });
  assert.deepEqual(world.owners(), { "a Apply": ".spec.labels", "b Apply": ".spec.number .spec.text" });
  // As if the container had been dropped in storage.
  (world.live as Obj).spec = { text: "1", number: 1 };
  const error = thrown(ConflictError, () => world.apply("b", { spec: { labels: { k: "1" } } }));
  assert.deepEqual(error.causes.map((c) => c.field), [".spec.labels"]);
});

Deno.test("rule 37: force takes just the conflicting paths", () => {
  const world = new World();
  world.apply("a", { spec: { text: "1", number: 1, labels: { x: "1", y: "1" } } });
  world.apply("b", { spec: { text: "2", number: 1, labels: { x: "2" } } }, { force: true });
  assert.deepEqual(world.owners(), {
    "a Apply": ".spec.number .spec.labels.y",
    "b Apply": ".spec.number .spec.text .spec.labels.x",
  });
});

Deno.test("rule 12: a manager conflicts with its own Update entry, and Apply entries are one over versions", () => {
  const world = new World();
  world.put("a", { spec: { text: "1" } });
  thrown(ConflictError, () => world.apply("a", { spec: { text: "2" } }));
  world.apply("a", { spec: { text: "2", number: 1 } }, { force: true });
  world.apply("a", { spec: { text: "2" } }, { apiVersion: V2 });
  assert.deepEqual(world.owners(), { [`a Apply @${V2}`]: ".spec.text", "a Update": ".spec" });
  assert.deepEqual(world.spec, { text: "2" }, "pruned by the set of the other version");
});

Deno.test("rule 38: times move only when the object changes", () => {
  const world = new World();
  world.apply("a", { spec: { text: "1" } }); // 1
  world.apply("b", { spec: { text: "1" } }); // 2
  assert.deepEqual(world.times(), { "b Apply": null, "a Apply": 1 }, "first equal co-own has no time");
  assert.equal(world.noop, false);
  world.apply("a", { spec: { text: "1" } });
  assert.equal(world.noop, true);
  world.apply("b", { spec: { text: "1" } });
  assert.equal(world.noop, true);
  world.apply("b", { spec: { text: "1", number: 1 } }); // 5
  assert.deepEqual(world.times(), { "a Apply": 1, "b Apply": 5 });
  world.apply("b", { spec: { number: 1 } });
  assert.deepEqual(world.times(), { "a Apply": 1, "b Apply": 5 }, "giving up a co-owned field moves no time");
  assert.equal(world.noop, false);
});

Deno.test("rule 31: a reorder moves the applier's time", () => {
  const world = new World();
  world.apply("a", { spec: { tags: ["x", "y"] } });
  world.apply("a", { spec: { tags: ["y", "x"] } });
  assert.deepEqual(world.spec, { tags: ["y", "x"] });
  assert.deepEqual(world.times(), { "a Apply": 2 });
});

Deno.test("rule 33: what was owned and is sent no more goes unless someone owns it", () => {
  const world = new World();
  world.apply("a", {
    spec: { text: "1", number: 1, labels: { a: "1", b: "1" }, tags: ["t", "u"], group: { a: "1", b: "1" } },
  });
  world.apply("b", { spec: { number: 1, labels: { b: "1" }, tags: ["u"], group: { b: "1" } } });
  world.apply("a", { spec: { text: "1" } });
  assert.deepEqual(world.spec, { text: "1", number: 1, labels: { b: "1" }, tags: ["u"], group: { b: "1" } });
  world.apply("b", {});
  assert.deepEqual(world.spec, { text: "1" });
});

Deno.test("rule 33: an item goes with all below it that nobody owns the item for", () => {
  const world = new World();
  world.apply("a", { spec: { rows: [{ name: "x", value: "1" }, { name: "y" }] } });
  const rows = [{ name: "x", value: "1", note: "kept by nobody" }, { name: "y" }];
  world.put("u", { metadata: world.live!.metadata!, spec: { rows } });
  assert.equal(world.owners()["u Update"], `${ROW}.note`);
  world.apply("a", { spec: { rows: [{ name: "y" }] } });
  assert.deepEqual(world.spec, { rows: [{ name: "y" }] });
  assert.equal(world.owners()["u Update"], undefined, "the field and its owner are lost with the item");
});

Deno.test("rule 33: a co-owner of the item keeps the item, without the fields that only the other had", () => {
  const world = new World();
  world.apply("a", { spec: { rows: [{ name: "x", value: "1" }] } });
  world.apply("b", { spec: { rows: [{ name: "x", note: "n" }] } });
  world.apply("a", { spec: {} });
  assert.deepEqual(world.spec, { rows: [{ name: "x", note: "n" }] });
});

Deno.test("rule 33: unowned fields of a container stay, and its emptying keeps unowned containers away", () => {
  const world = new World();
  world.apply("a", { spec: { group: { a: "1" }, text: "1" } });
  const spec = world.spec as Obj;
  (world.live as Obj).spec = { ...spec, group: { a: "1", b: "unowned" } };
  world.apply("a", { spec: { text: "1" } });
  assert.deepEqual(world.spec, { text: "1" }, "the struct was a named member: it goes whole");
});

Deno.test("rule 35: a container that the config names and pruning empties stays, empty", () => {
  const world = new World();
  world.apply("a", { spec: { labels: { k: "1" }, group: { a: "1" }, free: { x: 1 } }, status: {} });
  world.apply("a", { spec: { labels: {}, group: {}, free: {} } });
  assert.deepEqual(world.spec, { labels: {}, group: {}, free: {} });
  world.apply("a", { spec: {} });
  assert.deepEqual(world.spec, {});
  assert.deepEqual(world.owners(), { "a Apply": ".spec" });
});

Deno.test("rule 35: a container that another entry owns stays, empty", () => {
  const world = new World();
  world.put("c", { spec: { labels: {}, rows: [] } });
  world.apply("a", { spec: { labels: { k: "1" } } });
  world.apply("a", {});
  assert.deepEqual(world.spec, { labels: {}, rows: [] });
  assert.deepEqual(world.owners(), { "c Update": ".spec .spec.labels .spec.rows" });
});

Deno.test("rule 35: a null in the config asks for null, and [] after own items drops the list", () => {
  const world = new World();
  world.apply("a", { spec: { labels: { k: "1" }, tags: ["t"] } });
  world.apply("a", { spec: { labels: null, tags: [] } });
  assert.deepEqual(world.spec, { labels: null });
  world.apply("a", { spec: { labels: null, tags: [] } });
  assert.deepEqual(world.spec, { labels: null, tags: [] }, "[] on an absent list is stored, and owned by nobody");
  assert.deepEqual(world.owners(), { "a Apply": ".spec.labels" });
});

Deno.test("rule 33: the last item gone under a stranger's field leaves null, as upstream has it", () => {
  const world = new World();
  world.apply("a", { spec: { rows: [{ name: "x" }], text: "1" } });
  world.put("u", { metadata: world.live!.metadata!, spec: { rows: [{ name: "x", note: "n" }], text: "1" } });
  world.apply("a", { spec: { text: "1" } });
  assert.deepEqual(world.spec, { rows: null, text: "1" });
});

Deno.test("rule 32: the first apply over an untracked object leaves what was there to before-first-apply", () => {
  const world = new World();
  world.live = {
    apiVersion: "test.example.com/v1",
    kind: "Test",
    metadata: { name: "x", labels: { l: "1" } },
    spec: { text: "1", tags: ["t"] },
  };
  thrown(ConflictError, () => world.apply("a", { spec: { text: "2" } }));
  world.apply("a", { spec: { text: "1" } });
  assert.deepEqual(world.owners(), {
    "a Apply": ".spec.text",
    "before-first-apply Update": '.spec .metadata.labels .metadata.labels.l .spec.tags .spec.text .spec.tags[="t"]',
  });
});

Deno.test("rule 23: a live duplicate is owned at the item path; applying that key conflicts there", () => {
  const world = new World();
  world.put("c", { spec: { rows: [{ name: "x", value: "1" }, { name: "x", value: "2" }, { name: "y" }] } });
  assert.equal(world.owners()["c Update"], `.spec .spec.rows ${ROW} .spec.rows[name="y"] .spec.rows[name="y"].name`);
  world.apply("a", { spec: { text: "1", rows: [{ name: "y" }] } });
  const error = thrown(
    ConflictError,
    () => world.apply("a", { spec: { text: "1", rows: [{ name: "x", value: "3" }] } }),
  );
  assert.deepEqual(error.causes.map((c) => c.field), [ROW]);
  world.apply("a", { spec: { text: "1", rows: [{ name: "x", value: "3" }] } }, { force: true });
  assert.deepEqual((world.spec as Obj).rows, [{ name: "x", value: "3" }, { name: "y" }]);
});

Deno.test("rule 4: 64-bit integers stay apart in sets, conflicts and stored entries", () => {
  const world = new World();
  const ids = [2n ** 53n + 1n, 2n ** 53n, -(2n ** 63n)];
  world.apply("a", { spec: { ids, number: ids[0]! } });
  const error = thrown(ConflictError, () => world.apply("b", { spec: { number: ids[1]! } }));
  assert.deepEqual(error.causes.map((c) => c.field), [".spec.number"]);
  assert.equal(
    world.owners()["a Apply"],
    ".spec.number .spec.ids[=-9223372036854775808] .spec.ids[=9007199254740992] .spec.ids[=9007199254740993]",
  );
  world.apply("a", { spec: { ids: [ids[1]!] } });
  assert.deepEqual(world.spec, { ids: [ids[1]] });
});

Deno.test("rule 50: main applies neither own nor conflict on status; status applies only status", () => {
  const world = new World();
  world.apply("a", { spec: { text: "1" }, status: { phase: "dropped" } });
  assert.equal(world.live!.status, undefined);
  world.apply("s", { metadata: { name: "x", labels: { l: "1" } }, spec: { text: "2" }, status: { phase: "P" } }, {
    subresource: "status",
  });
  assert.deepEqual(world.spec, { text: "1" });
  assert.deepEqual(world.owners(), { "a Apply": ".spec.text", "s Apply #status": ".status.phase" });
  world.apply("b", { status: { phase: "Z" } });
  assert.equal(world.noop, true);
  assert.deepEqual(world.live!.status, { phase: "P" });
});

Deno.test("applyPatch() gives an object of its own: changing it changes neither live nor config", () => {
  const world = new World();
  const config = { spec: { group: { a: "1" }, rows: [{ name: "x" }], plain: ["p"], free: { deep: { l: [1] } } } };
  const text = JSON.stringify(config);
  world.apply("a", config);
  const first = world.live!;
  const before = JSON.stringify(first);
  const object = world.apply("b", { spec: { text: "1" } });
  const spec = object.spec as { group: Obj; rows: Obj[]; plain: string[]; free: Obj };
  spec.group.a = "changed";
  spec.rows[0]!.name = "changed";
  spec.plain.push("changed");
  ((spec.free.deep as Obj).l as number[]).push(2);
  assert.equal(JSON.stringify(first), before);
  assert.equal(JSON.stringify(config), text);
});

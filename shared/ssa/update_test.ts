import assert from "node:assert/strict";
import type { Obj, Value } from "./mod.ts";
import { entriesOf, kindOf, SCHEMA, V1, V2, World } from "./test_support.ts";

function posted(...entries: Obj[]): Obj {
  return { name: "x", managedFields: entries };
}

function entry(manager: string, paths: Obj, more: Obj = {}): Obj {
  return {
    manager,
    operation: "Apply",
    apiVersion: V1,
    time: "2001-01-01T00:00:00Z",
    fieldsType: "FieldsV1",
    fieldsV1: paths,
    ...more,
  };
}

const TEXT = { "f:spec": { "f:text": {}, "f:number": {} } };

Deno.test("rule 41: the creator owns every present path, containers too", () => {
  const world = new World();
  world.put("c", {
    metadata: { name: "x", labels: { l: "1" } },
    spec: { text: "1", labels: {}, rows: [{ name: "x" }], plain: ["p"] },
    status: { phase: "no" },
  });
  assert.deepEqual(world.owners(), {
    "c Update":
      '.spec .metadata.labels .metadata.labels.l .spec.labels .spec.plain .spec.rows .spec.text .spec.rows[name="x"] .spec.rows[name="x"].name',
  });
});

Deno.test("rule 42: an update takes what it adds and changes, and the others lose what it changes and removes", () => {
  const world = new World();
  world.apply("a", { spec: { text: "1", number: 1, labels: { x: "1", y: "1" } } });
  world.put("u", { metadata: world.live!.metadata!, spec: { text: "2", number: 1, labels: { x: "1", z: "1" } } });
  assert.deepEqual(world.owners(), {
    "a Apply": ".spec.number .spec.labels.x",
    "u Update": ".spec.text .spec.labels.z",
  });
});

Deno.test("rule 42: equal values and removals make no entry and move no time", () => {
  const world = new World();
  world.apply("a", { spec: { text: "1", number: 1 } });
  world.put("u", { spec: { text: "1", number: 1 } });
  assert.equal(world.noop, true);
  world.put("u", { spec: { text: "1" } });
  assert.deepEqual(world.times(), { "a Apply": 1 });
  assert.deepEqual(world.owners(), { "a Apply": ".spec.text" });
});

Deno.test("rule 31: an update that only reorders changes no ownership", () => {
  const world = new World();
  world.apply("a", { spec: { tags: ["x", "y"], rows: [{ name: "1" }, { name: "2" }] } });
  const owners = world.owners();
  world.put("u", { spec: { tags: ["y", "x"], rows: [{ name: "2" }, { name: "1" }] } });
  assert.deepEqual(world.owners(), owners);
  assert.deepEqual(world.times(), { "a Apply": 1 });
  assert.equal(world.noop, false);
});

Deno.test("rule 12: Update entries are one for each manager, version and subresource, and grow", () => {
  const world = new World();
  world.put("u", { spec: { text: "1" } });
  world.put("u", { spec: { text: "1", number: 1 } });
  world.put("u", { spec: { text: "1", number: 1, flag: true } }, { apiVersion: V2 });
  world.put("u", { status: { phase: "P" } }, { subresource: "status" });
  assert.deepEqual(world.owners(), {
    "u Update": ".spec .spec.number .spec.text",
    [`u Update @${V2}`]: ".spec.flag",
    "u Update #status": ".status .status.phase",
  });
});

Deno.test("rule 23: an update that changes a group of duplicates takes the item path; dedup takes the fields", () => {
  const world = new World();
  const rows = (...values: string[]) => ({ spec: { rows: values.map((value) => ({ name: "x", value })) } });
  world.put("c", rows("1", "2"));
  world.put("u", rows("1", "3"));
  assert.deepEqual(world.owners(), { "c Update": ".spec .spec.rows", "u Update": '.spec.rows[name="x"]' });
  world.put("v", rows("1"));
  assert.deepEqual(world.owners(), {
    "c Update": ".spec .spec.rows",
    "v Update": '.spec.rows[name="x"] .spec.rows[name="x"].name .spec.rows[name="x"].value',
  });
  world.put("w", rows("1", "1"));
  assert.equal(world.owners()["w Update"], '.spec.rows[name="x"]');
  world.put("x", { spec: { rows: [{ name: "other" }] } });
  assert.equal(world.owners()["w Update"], undefined, "the group is gone, and its path with it");
  world.put("w", { spec: { rows: [{ name: "x", value: "1" }, { name: "x", value: "1" }] } });
  assert.equal(world.owners()["w Update"], '.spec.rows[name="x"]');
});

Deno.test("rule 41: posted entries replace live's when all decode", () => {
  const world = new World();
  world.put("c", { spec: { text: "1", number: 1 } });
  world.put("u", { metadata: posted(entry("z", TEXT), entry("y", {})), spec: { text: "2", number: 1 } });
  assert.deepEqual(world.owners(), { "z Apply": ".spec.number", "u Update": ".spec.text" });
  assert.equal(world.entries()[0]!.time, "2001-01-01T00:00:00Z");
});

const UNDECODABLE: [what: string, entry: Obj][] = [
  ["a key without colon", entry("z", { "f:spec": { text: {} } })],
  ["an operation that is none", entry("z", TEXT, { operation: "Patch" })],
  ["no apiVersion", entry("z", TEXT, { apiVersion: "" })],
  ["another fieldsType", entry("z", TEXT, { fieldsType: "FieldsV2" })],
  ["no fieldsType", entry("z", TEXT, { fieldsType: "" })],
];
for (const [what, bad] of UNDECODABLE) {
  Deno.test(`rule 41: posted entries with one that has ${what} do not count: live's stay`, () => {
    const world = new World();
    world.put("c", { spec: { text: "1", number: 1 } });
    world.put("u", { metadata: posted(entry("ok", TEXT), bad), spec: { text: "2", number: 1 } });
    assert.deepEqual(world.owners(), { "c Update": ".spec .spec.number", "u Update": ".spec.text" });
  });
}

Deno.test("rule 12: of two posted entries of one identity the last wins", () => {
  const world = new World();
  world.put("c", { spec: { text: "1", number: 1 } });
  world.put("u", {
    metadata: posted(
      entry("z", { "f:spec": { "f:text": {} } }),
      entry("z", { "f:spec": { "f:number": {} } }, { apiVersion: V2 }),
    ),
    spec: { text: "1", number: 1 },
  });
  assert.deepEqual(world.owners(), { [`z Apply @${V2}`]: ".spec.number" });
});

Deno.test("rule 10: posted entries may own absent, unknown and stripped paths", () => {
  const world = new World();
  world.put("c", { spec: { text: "1" } });
  const odd = { "f:metadata": { "f:name": {} }, "f:nope": { "f:x": {} }, "f:spec": { "f:flag": {} } };
  world.put("u", { metadata: posted(entry("z", odd)), spec: { text: "1" } });
  assert.deepEqual(world.owners(), { "z Apply": ".metadata.name .nope.x .spec.flag" });
});

Deno.test("rule 14: an empty manager of a posted entry stays; an empty manager of a request is unknown", () => {
  const world = new World();
  world.put("", { spec: { text: "1" } });
  assert.deepEqual(Object.keys(world.owners()), ["unknown Update"]);
  world.put("u", { metadata: posted(entry("", TEXT)), spec: { text: "1" } });
  assert.deepEqual(world.owners(), { " Apply": ".spec.number .spec.text" });
  assert.equal(Object.hasOwn(world.entries()[0]!, "manager"), false);
});

const RESETS: [what: string, fields: Value, custom: boolean, builtin: boolean][] = [
  ["[{}]", [{}], true, true],
  ["[]", [], false, true],
  ["null", null, false, false],
  ["[{},{}]", [{}, {}], false, false],
];
for (const [what, managedFields, custom, builtin] of RESETS) {
  for (const flavour of ["custom", "builtin"] as const) {
    const resets = flavour === "custom" ? custom : builtin;
    Deno.test(`rule 48: ${what} ${resets ? "resets" : "does not reset"} a ${flavour} kind`, () => {
      const world = new World(kindOf(SCHEMA, flavour));
      world.put("c", { spec: { text: "1" } });
      world.put("u", { metadata: { name: "x", managedFields }, spec: { text: "2" } });
      assert.equal(world.entries().length === 0, resets);
    });
  }
}

Deno.test("rule 48: nothing resets through /status, and posted entries are ignored there", () => {
  const world = new World();
  world.put("c", { spec: { text: "1" } });
  for (const fields of [[{}], [], [entry("z", TEXT)]]) {
    world.put("s", { metadata: { name: "x", managedFields: fields }, status: { phase: "P" } }, {
      subresource: "status",
    });
    assert.deepEqual(world.owners(), { "c Update": ".spec .spec.text", "s Update #status": ".status .status.phase" });
  }
});

Deno.test("rule 49: an untracked object stays so until its first apply; a create is tracked whatever was posted", () => {
  const world = new World();
  world.put("c", { metadata: { name: "x", managedFields: [{}] }, spec: { text: "1" } });
  assert.deepEqual(world.owners(), { "c Update": ".spec .spec.text" });
  world.put("c", { metadata: { name: "x", managedFields: [{}] }, spec: { text: "1" } });
  world.put("u", { spec: { text: "2" } });
  assert.deepEqual(world.owners(), {});
  world.apply("a", { spec: { number: 1 } });
  assert.deepEqual(Object.keys(world.owners()), ["a Apply", "before-first-apply Update"]);
});

Deno.test("rule 50: a main write neither owns nor loses status; a status write neither spec nor labels", () => {
  const world = new World();
  world.put("c", { metadata: { name: "x", labels: { l: "1" } }, spec: { text: "1" } });
  world.put("s", { spec: { text: "other" }, status: { phase: "P" } }, { subresource: "status" });
  const owners = world.owners();
  world.put("u", { metadata: { name: "x", labels: { l: "1" } }, spec: { text: "1" }, status: { phase: "Q" } });
  assert.equal(world.noop, true);
  assert.deepEqual(world.owners(), owners);
  assert.deepEqual(owners, {
    "c Update": ".spec .metadata.labels .metadata.labels.l .spec.text",
    "s Update #status": ".status .status.phase",
  });
});

Deno.test("rule 55: an entry at a version that the kind no longer has is dropped with the next write", () => {
  const world = new World();
  world.apply("a", { spec: { text: "1" } }, { apiVersion: V2 });
  world.put("u", { spec: { text: "1", number: 1 } });
  const kind = world.kind;
  world.kind = { ...kind, schemas: new Map([[V1, kind.schemas.get(V1)!]]) };
  world.apply("b", { spec: { flag: true } });
  assert.deepEqual(world.owners(), { "b Apply": ".spec.flag", "u Update": ".spec.number" });
  assert.equal(world.warning, undefined);
});

Deno.test("rule 45: a posted entry of a foreign version keeps live's entries and tells it", () => {
  const world = new World();
  world.put("c", { spec: { text: "1", number: 1 } });
  world.put("u", {
    metadata: posted(entry("z", TEXT, { apiVersion: "nope.example.com/v9" })),
    spec: { text: "2", number: 1 },
  });
  assert.deepEqual(world.owners(), { "c Update": ".spec .spec.number .spec.text" });
  assert.match(world.warning!, /"nope\.example\.com\/v9"/);
});

Deno.test("rule 45: a value that cannot be tracked keeps live's entries and tells it", () => {
  const world = new World();
  world.put("c", { spec: { text: "1" } });
  world.put("u", { spec: { text: "2", objects: [{ a: "1" }] } });
  assert.deepEqual(world.owners(), { "c Update": ".spec .spec.text" });
  assert.match(world.warning!, /associative list without keys has an element that's a map type/);
});

Deno.test("rule 55: built-in kinds drop a posted entry of an unknown version", () => {
  const world = new World(kindOf(SCHEMA, "builtin"));
  world.put("c", { spec: { text: "1", number: 1 } });
  world.put("u", {
    metadata: posted(entry("z", TEXT, { apiVersion: "v9" }), entry("y", TEXT)),
    spec: { text: "2", number: 1 },
  });
  assert.deepEqual(world.owners(), { "y Apply": ".spec.number", "u Update": ".spec.text" });
  assert.equal(world.warning, undefined);
});

Deno.test("updateManagedFields() leaves its arguments alone", () => {
  const world = new World();
  world.put("c", { spec: { text: "1" } });
  const live = world.live!;
  const before = JSON.stringify(live);
  world.put("u", { spec: { text: "2" } });
  assert.equal(JSON.stringify(live), before);
  assert.equal(entriesOf(live).length, 1);
});

Deno.test("built-in kinds own what differs from their zero value: no struct that is always there", () => {
  const schema = {
    type: "object",
    properties: {
      spec: {
        type: "object",
        default: {},
        required: ["list", "name"],
        properties: {
          name: { type: "string" },
          list: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" as const },
          pointer: { type: "object", properties: { a: { type: "string" } } },
          value: { type: "object", default: {}, properties: { a: { type: "string" } } },
        },
      },
    },
  };
  const world = new World(kindOf(schema, "builtin"));
  world.put("c", { spec: { name: "", list: ["l"], pointer: { a: "1" }, value: { a: "1" } } });
  assert.deepEqual(world.owners(), {
    "c Update": '.spec.pointer .spec.list[="l"] .spec.pointer.a .spec.value.a',
  });
  const custom = new World(kindOf(schema));
  custom.put("c", { spec: { name: "", value: { a: "1" } } });
  assert.deepEqual(custom.owners(), { "c Update": ".spec .spec.name .spec.value .spec.value.a" });
});

import assert from "node:assert/strict";
import { FieldSet } from "./field_set.ts";
import { compilePart, compileSchema, ConflictError, type KindInfo, type Obj, type OpenApiSchema } from "./mod.ts";
import { reconcileSet } from "./reconcile.ts";
import { kindOf, SPEC, thrown, V1, V2, World } from "./test_support.ts";

function setOf(...paths: string[][]): FieldSet {
  const out = new FieldSet();
  for (const path of paths) out.insert(path);
  return out;
}

const node = compilePart(SPEC);

const FOLDS: [what: string, before: FieldSet, after: string[]][] = [
  ["paths below an atomic struct become its path", setOf(["f:whole", "f:a"], ["f:whole", "f:b"], ["f:text"]), [
    "f:text",
    "f:whole",
  ]],
  ["items of an atomic list become its path", setOf(["f:plain", 'v:"a"'], ["f:plain", 'v:"b"']), ["f:plain"]],
  ["an atomic path with paths below keeps only itself", setOf(["f:wholeLabels"], ["f:wholeLabels", "f:a"]), [
    "f:wholeLabels",
  ]],
  ["what is deep below goes, too", setOf(["f:whole", "f:a", "f:x", "f:y"]), ["f:whole"]],
];
for (const [what, before, after] of FOLDS) {
  Deno.test(`rule 25: reconcileSet(): ${what}`, () => {
    assert.deepEqual(reconcileSet(node, before).paths().map((p) => p.join("/")), after);
  });
}

Deno.test("rule 25: reconcileSet() leaves what fits, what is unknown and what is deduced", () => {
  const set = setOf(
    ["f:group"],
    ["f:labels", "f:a"],
    ["f:rows", 'k:{"name":"x"}', "f:value"],
    ["f:gone", "f:a"],
    ["f:free", "f:a", "f:b"],
    ["f:whole"],
    ["f:text", "f:odd"],
  );
  assert.equal(reconcileSet(node, set), set);
});

function evolve(atomic: boolean): OpenApiSchema {
  return {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          map: {
            type: "object",
            properties: { a: { type: "string" }, b: { type: "string" } },
            ...(atomic ? { "x-kubernetes-map-type": "atomic" as const } : {}),
          },
          list: {
            type: "array",
            items: { type: "string" },
            "x-kubernetes-list-type": atomic ? "atomic" as const : "set" as const,
          },
        },
      },
    },
  };
}

Deno.test("rule 25: granular to atomic folds the paths of all entries with the next write", () => {
  const world = new World(kindOf(evolve(false)));
  world.apply("a", { spec: { map: { a: "1" }, list: ["x"] } });
  world.put("u", { metadata: world.live!.metadata!, spec: { map: { a: "1", b: "1" }, list: ["x"] } });
  world.kind = kindOf(evolve(true));
  world.put("v", { metadata: world.live!.metadata!, spec: { map: { a: "1", b: "1" }, list: ["x"] } });
  assert.deepEqual(world.owners(), { "a Apply": ".spec.list .spec.map", "u Update": ".spec.map" });
  const error = thrown(ConflictError, () => world.apply("b", { spec: { map: { a: "2" } } }));
  assert.deepEqual(error.causes.map((c) => c.field), [".spec.map", ".spec.map"]);
});

Deno.test("rule 25: atomic to granular keeps the parent path, and others may change what is below it", () => {
  const world = new World(kindOf(evolve(true)));
  world.apply("a", { spec: { map: { a: "1" }, list: ["x"] } });
  world.kind = kindOf(evolve(false));
  world.apply("b", { spec: { map: { a: "2" } } });
  assert.equal((world.spec as { map: Obj }).map.a, "2");
  assert.deepEqual(world.owners(), { "a Apply": ".spec.list .spec.map", "b Apply": ".spec.map.a" });
  world.apply("a", { spec: { map: { b: "1" }, list: ["x"] } });
  assert.deepEqual(world.owners(), { "a Apply": '.spec.list[="x"] .spec.map.b', "b Apply": ".spec.map.a" });
});

Deno.test("rule 25: an entry at another version counts by that version's schema", () => {
  const kind: KindInfo = {
    schemas: new Map([[V1, compileSchema(evolve(false))], [V2, compileSchema(evolve(true))]]),
    flavour: "custom",
    statusSubresource: true,
  };
  const world = new World(kind);
  world.apply("a", { spec: { map: { a: "1" } } }, { apiVersion: V2 });
  const error = thrown(ConflictError, () => world.apply("b", { spec: { map: { b: "1" } } }));
  assert.deepEqual(
    error.causes.map((c) => c.field),
    [".spec.map"],
    "adding a key changes the atomic of the other version",
  );
});

Deno.test("rule 25: entries keep fields that were removed from the schema until their owner writes", () => {
  const world = new World(kindOf(evolve(false)));
  world.apply("a", { spec: { map: { a: "1", b: "1" } } });
  const schema = evolve(false);
  delete (schema.properties!.spec!.properties!.map!.properties as Record<string, OpenApiSchema>).b;
  world.kind = kindOf(schema);
  (world.live as Obj).spec = { map: { a: "1" } };
  world.apply("c", { spec: { list: ["x"] } });
  assert.equal(world.owners()["a Apply"], ".spec.map.a .spec.map.b");
  world.apply("a", { spec: { map: { a: "1" } } });
  assert.equal(world.owners()["a Apply"], ".spec.map.a");
});

Deno.test("rule 25: a new key with a default still matches the old key", () => {
  const schema = (keys: string[]): OpenApiSchema => ({
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          l: {
            type: "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": keys,
            items: {
              type: "object",
              properties: {
                name: { type: "string" },
                proto: { type: "string", default: "TCP" },
                v: { type: "string" },
              },
            },
          },
        },
      },
    },
  });
  const world = new World(kindOf(schema(["name"])));
  world.apply("a", { spec: { l: [{ name: "x", v: "1" }] } });
  world.kind = kindOf(schema(["name", "proto"]));
  world.apply("a", { spec: { l: [{ name: "x", v: "2" }] } });
  assert.deepEqual(world.spec, { l: [{ name: "x", v: "2" }] });
  assert.match(world.owners()["a Apply"]!, /\[name="x",proto="TCP"\]\.v/);
});

import assert from "node:assert/strict";
import { FieldSet } from "./field_set.ts";
import { capUpdates, decodeManaged, encodeManaged, type Entry, identity, type Managed } from "./managed.ts";
import type { Value } from "./mod.ts";
import { V1, V2, World } from "./test_support.ts";

function entry(manager: string, o: Partial<Entry> = {}): Entry {
  const set = new FieldSet();
  set.insert(["f:spec", `f:${manager}`]);
  return { manager, operation: "Update", apiVersion: V1, subresource: "", set, ...o };
}

function managed(...entries: Entry[]): Managed {
  return new Map(entries.map((e) => [identity(e), e]));
}

function at(second: number): string {
  return `2026-01-01T00:00:${String(second).padStart(2, "0")}Z`;
}

Deno.test("rule 13: entries are Apply before Update, then by second, manager, version and subresource", () => {
  const list = encodeManaged(
    managed(
      entry("b", { time: at(2) }),
      entry("a", { time: at(2), subresource: "status" }),
      entry("a", { time: at(2) }),
      entry("a", { time: at(2), apiVersion: V2 }),
      entry("z", { time: at(1) }),
      entry("n"),
      entry("late", { operation: "Apply", time: at(9) }),
      entry("B", { operation: "Apply", time: at(9) }),
    ),
    "custom",
  )!;
  assert.deepEqual(
    list.map((e) => `${e.operation} ${e.manager} ${e.apiVersion === V1 ? 1 : 2} ${e.subresource ?? ""}`.trim()),
    [
      "Apply B 1",
      "Apply late 1",
      "Update n 1",
      "Update z 1",
      "Update a 1",
      "Update a 1 status",
      "Update a 2",
      "Update b 1",
    ],
  );
});

Deno.test("rule 8: an entry's fields are in alphabetical order, and absent when empty", () => {
  const [full] = encodeManaged(managed(entry("m", { time: at(1), subresource: "status" })), "custom")!;
  assert.deepEqual(Object.keys(full!), [
    "apiVersion",
    "fieldsType",
    "fieldsV1",
    "manager",
    "operation",
    "subresource",
    "time",
  ]);
  const [bare] = encodeManaged(managed(entry("")), "custom")!;
  assert.deepEqual(Object.keys(bare!), ["apiVersion", "fieldsType", "fieldsV1", "operation"]);
  assert.equal(encodeManaged(new Map(), "custom"), undefined);
});

Deno.test("rule 12: identity() leaves the version of Apply entries out and escapes names", () => {
  assert.equal(
    identity(entry("a", { operation: "Apply" })),
    identity(entry("a", { operation: "Apply", apiVersion: V2 })),
  );
  assert.notEqual(identity(entry("a")), identity(entry("a", { apiVersion: V2 })));
  assert.notEqual(identity(entry("a")), identity(entry("a", { subresource: "status" })));
  assert.notEqual(identity(entry('a","operation":"Apply')), identity(entry("a")));
});

Deno.test("decodeManaged() and encodeManaged() are inverse; nothing decodes to nothing", () => {
  const all = managed(
    entry("a", { time: at(1) }),
    entry("b", { operation: "Apply", subresource: "status" }),
    entry(""),
  );
  const wire = encodeManaged(all, "custom") as unknown as Value;
  assert.deepEqual(encodeManaged(decodeManaged(JSON.parse(JSON.stringify(wire)))!, "custom"), wire);
  assert.equal(decodeManaged(undefined)!.size, 0);
  assert.equal(decodeManaged(null)!.size, 0);
  assert.equal(decodeManaged("x"), undefined);
  assert.equal(decodeManaged(["x"]), undefined);
});

Deno.test("rule 43: capUpdates() folds the oldest Update entries of a version, with the newer time", () => {
  const all = managed(
    ...Array.from({ length: 12 }, (_, i) => entry(`m${String(i).padStart(2, "0")}`, { time: at(i) })),
  );
  capUpdates(all);
  assert.equal(all.size, 10);
  const old = [...all.values()].find((e) => e.manager === "ancient-changes")!;
  assert.deepEqual(old.set.paths().map((p) => p[1]), ["f:m00", "f:m01", "f:m02"]);
  assert.equal(old.time, at(2));
  assert.equal(old.subresource, "");
});

Deno.test("rule 43: capUpdates() folds within a version only, and more than ten versions exceed the cap", () => {
  const all = managed(...Array.from({ length: 12 }, (_, i) => entry("m", { apiVersion: `g/v${i}`, time: at(i) })));
  capUpdates(all);
  assert.equal(all.size, 12);
  all.set("again", entry("n", { apiVersion: "g/v3", time: at(20) }));
  capUpdates(all);
  assert.equal([...all.values()].filter((e) => e.manager === "ancient-changes").length, 1);
});

Deno.test("rule 43: capUpdates() leaves Apply entries and ten Update entries alone, and loses no path of an old bucket", () => {
  const applies = Array.from({ length: 20 }, (_, i) => entry(`a${i}`, { operation: "Apply" }));
  const updates = Array.from({ length: 10 }, (_, i) => entry(`u${i}`, { time: at(i) }));
  const all = managed(...applies, ...updates);
  capUpdates(all);
  assert.equal(all.size, 30);
  const midway = managed(
    ...Array.from({ length: 12 }, (_, i) => entry(`u${i}`, { time: at(i + (i > 1 ? 1 : 0)) })),
    entry("ancient-changes", { time: at(2) }),
  );
  capUpdates(midway);
  assert.equal(new Set([...midway.values()].flatMap((e) => e.set.paths().map((p) => p[1]))).size, 13);
  const withBucket = managed(
    ...updates.slice(0, 10),
    entry("ancient-changes", { time: at(3) }),
    entry("u10", { time: at(30) }),
  );
  capUpdates(withBucket);
  const paths = new Set([...withBucket.values()].flatMap((e) => e.set.paths().map((p) => p[1])));
  assert.equal(paths.size, 12);
  assert.equal(withBucket.size, 10);
});

Deno.test("rule 43: eleven updaters of one object leave ten entries and lose no field", () => {
  const world = new World();
  const labels: Record<string, string> = {};
  world.put("creator", { spec: { labels: {} } });
  for (let i = 0; i < 14; i++) {
    labels[`k${i}`] = "1";
    world.put(`m${i}`, { spec: { labels: { ...labels } } });
  }
  assert.equal(world.entries().length, 10);
  const owned = Object.values(world.owners()).join(" ").split(" ").filter((p) => p.startsWith(".spec.labels.k"));
  assert.equal(owned.length, 14);
});

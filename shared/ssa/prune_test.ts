import assert from "node:assert/strict";
import fc from "fast-check";
import type { Obj, SchemaNode } from "./contract.ts";
import { FieldSet } from "./field_set.ts";
import { type Owned, prune } from "./prune.ts";
import { extractItems, removeItems } from "./remove.ts";
import { childOf, compilePart, isNamedField } from "./schema.ts";
import { SPEC } from "./test_support.ts";
import { toFieldSet } from "./to_field_set.ts";

const root = compilePart({ type: "object", properties: { spec: SPEC } });

/** A set with the named fields on the way to its members as members, too (rule 11). */
function withNamed(node: SchemaNode | undefined, set: FieldSet): FieldSet {
  const out = new FieldSet();
  for (const [element, at] of set.nodes) {
    const field = element.startsWith("f:");
    const child = !node
      ? undefined
      : field
      ? (node.kind === "list" ? undefined : childOf(node, element.slice(2)))
      : node.element;
    const named = field && at.below !== undefined && isNamedField(node, element.slice(2));
    out.attach(element, at.member || named, at.below && withNamed(child, at.below));
  }
  return out;
}

/** Rules 33 to 35 in the steps that the real server takes, each over whole sets: slow and plain. */
function pruneByTheBook(merged: Obj, last: FieldSet, owners: readonly Owned[]): Obj {
  const without = (paths: FieldSet) => removeItems(root, merged, paths, () => null);
  const all = withNamed(root, toFieldSet(root, merged));
  const owned = owners.reduce((s, o) => s.union(withNamed(root, o.set)), new FieldSet());
  const first = without(withNamed(root, last));
  const second = without(all.difference(withNamed(root, toFieldSet(root, first)).union(owned)));
  return without(all.difference(withNamed(root, toFieldSet(root, second))).intersection(withNamed(root, last)));
}

// No empty granular lists: by upstream's steps a container that holds only such a list goes even when it is owned.
const text = fc.constantFrom("1", "2");
const row = fc.record({
  name: fc.constantFrom("a", "b", "c"),
  value: text,
  note: text,
  tags: fc.uniqueArray(text, { minLength: 1 }),
}, {
  requiredKeys: ["name"],
});
const spec = fc.record({
  text,
  group: fc.record({ a: text, inner: fc.record({ c: text, d: text }, { requiredKeys: [] }) }, { requiredKeys: [] }),
  whole: fc.record({ a: text }),
  labels: fc.dictionary(fc.constantFrom("a", "b"), text, { maxKeys: 2 }),
  tags: fc.uniqueArray(fc.constantFrom("x", "y", "z"), { minLength: 1 }),
  rows: fc.uniqueArray(row, { selector: (r) => r.name, minLength: 1, maxLength: 3 }),
  plain: fc.array(text, { maxLength: 2 }),
  free: fc.dictionary(
    fc.constantFrom("a", "b"),
    fc.oneof(text, fc.array(text), fc.dictionary(fc.constantFrom("c"), text)),
    { maxKeys: 2 },
  ),
}, { requiredKeys: [] });

/** Part of what an object has: what some manager may own of it, item and container paths or not. */
function partOf(all: string[][]): fc.Arbitrary<FieldSet> {
  return fc.subarray(all).map((paths) => {
    const set = new FieldSet();
    // Who owns an item owns what identifies it, as every writer does.
    for (const p of paths) if (p[3] !== "f:name") set.insert(p);
    for (const p of paths) if (p[2]?.startsWith("k:") && p.length === 3) set.insert([...p, "f:name"]);
    return set;
  });
}

function pathsIn(merged: Obj): string[][] {
  return withNamed(root, toFieldSet(root, merged)).paths();
}

const applied = spec.chain((merged) => {
  const object = { spec: merged } as unknown as Obj;
  const all = pathsIn(object);
  return fc.tuple(fc.constant(object), partOf(all), fc.array(partOf(all), { maxLength: 3 }));
});

Deno.test("rule 33: prune() does what the real server's steps do, for any sets over any object", () => {
  fc.assert(
    fc.property(applied, ([merged, last, sets]) => {
      const owners = sets.map((set) => ({ node: root, set }));
      const expected = pruneByTheBook(merged, last, owners);
      // Without a config, and with containers that nobody owns, an emptied container is null in both.
      const mine = prune(merged, { node: root, set: last }, owners, {});
      assert.deepEqual(emptiesToNull(mine), emptiesToNull(expected));
    }),
    { numRuns: 1500 },
  );
});

/** {} and [] that pruning left count as the null that upstream leaves (ssa.md §11, 35 is tested by itself). */
function emptiesToNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(emptiesToNull);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  return entries.length === 0 ? null : Object.fromEntries(entries.map(([k, v]) => [k, emptiesToNull(v)]));
}

Deno.test("rule 33: prune() returns the object itself when all that was owned is still owned", () => {
  const merged = { spec: { text: "1", labels: { a: "1" } } };
  const set = toFieldSet(root, merged);
  assert.equal(prune(merged, { node: root, set }, [{ node: root, set }], {}), merged);
});

Deno.test("prune() keeps what identifies an item that stays, even where nobody owns it", () => {
  const merged = { spec: { rows: [{ name: "a", value: "1" }] } };
  const last = toFieldSet(root, merged);
  const other = new FieldSet();
  other.insert(["f:spec", "f:rows", 'k:{"name":"a"}']);
  assert.deepEqual(prune(merged, { node: root, set: last }, [{ node: root, set: other }], {}), {
    spec: { rows: [{ name: "a" }] },
  });
});

Deno.test("removeItems() takes all of an atomic value when a path below it is named", () => {
  const paths = new FieldSet();
  paths.insert(["f:spec", "f:whole", "f:a"]);
  paths.insert(["f:spec", "f:plain", "i:0"]);
  assert.deepEqual(
    removeItems(root, { spec: { text: "1", whole: { a: "1", b: "2" }, plain: ["x"] } }, paths, () => null),
    {
      spec: { text: "1", whole: null, plain: null },
    },
  );
});

Deno.test("extractItems() gives the part of an object that a set owns", () => {
  const object: Obj = {
    spec: {
      text: "1",
      whole: { a: "1", b: "2" },
      labels: { a: "1", b: "2" },
      rows: [{ name: "a", value: "1" }, { name: "b" }],
      tags: ["x", "y"],
    },
  };
  const mine: Obj = { spec: { whole: { a: "1", b: "2" }, labels: { b: "2" }, rows: [{ name: "a" }], tags: ["y"] } };
  assert.deepEqual(extractItems(root, object, toFieldSet(root, mine)), mine);
  assert.deepEqual(extractItems(root, object, toFieldSet(root, object)), object);
  assert.deepEqual(extractItems(root, object, new FieldSet()), {});
});

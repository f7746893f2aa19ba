import assert from "node:assert/strict";
import fc from "fast-check";
import { FieldSet } from "./field_set.ts";
import { parseFieldsV1, serialiseFieldsV1 } from "./fields_v1.ts";
import { PathElementError } from "./path_element.ts";
import type { Obj } from "./mod.ts";

const ELEMENTS = [
  "f:a",
  "f:b",
  "f:<&>",
  "f:__proto__",
  'k:{"name":"x"}',
  'k:{"n":1,"p":"\\u003c"}',
  'v:"a"',
  "v:10",
  "v:9",
  "i:0",
];
const path = fc.array(fc.constantFrom(...ELEMENTS), { minLength: 1, maxLength: 4 });
const paths = fc.array(path, { maxLength: 12 });

function setOf(list: readonly (readonly string[])[]): FieldSet {
  const out = new FieldSet();
  for (const p of list) out.insert(p);
  return out;
}

/** The model: member paths as texts. */
function members(set: FieldSet): Set<string> {
  return new Set(set.paths().map((p) => p.join("/")));
}

function holds(name: string, check: (a: FieldSet, b: FieldSet, x: Set<string>, y: Set<string>) => void): void {
  Deno.test(`FieldSet: ${name}`, () => {
    fc.assert(fc.property(paths, paths, (p, q) => {
      const a = setOf(p), b = setOf(q);
      check(a, b, members(a), members(b));
    }));
  });
}

const below = (path: string, set: Set<string>) => [...set].some((m) => path === m || path.startsWith(m + "/"));

holds("paths(), has(), size and empty agree", (a, _b, x) => {
  assert.equal(a.size, x.size);
  assert.equal(a.empty, x.size === 0);
  for (const p of a.paths()) assert.ok(a.has(p));
});
holds("union() has the members of both", (a, b, x, y) => {
  assert.deepEqual(
    members(a.union(b)),
    new Set([...x, ...y].sort().length ? [...members(setOf([...a.paths(), ...b.paths()]))] : []),
  );
  assert.ok(a.union(b).equals(b.union(a)));
});
holds("intersection() has the members that are in both", (a, b, x, y) => {
  assert.deepEqual([...members(a.intersection(b))].sort(), [...x].filter((m) => y.has(m)).sort());
});
holds("difference() takes exactly the members of the other", (a, b, x, y) => {
  assert.deepEqual([...members(a.difference(b))].sort(), [...x].filter((m) => !y.has(m)).sort());
});
holds("recursiveDifference() takes what lies below, too", (a, b, x, y) => {
  assert.deepEqual([...members(a.recursiveDifference(b))].sort(), [...x].filter((m) => !below(m, y)).sort());
});
holds("a = (a − b) ∪ (a ∩ b)", (a, b) => assert.ok(a.difference(b).union(a.intersection(b)).equals(a)));
holds("(a ∪ b) − b is disjoint from b, and b − (a ∪ b) is empty", (a, b) => {
  assert.ok(a.union(b).difference(b).intersection(b).empty);
  assert.ok(b.difference(a.union(b)).empty);
});
holds("leaves() has the members without members below", (a, _b, x) => {
  assert.deepEqual(
    [...members(a.leaves())].sort(),
    [...x].filter((m) => ![...x].some((o) => o.startsWith(m + "/"))).sort(),
  );
});
holds("subsetOf() and equals() agree with the members", (a, b, x, y) => {
  assert.equal(a.subsetOf(b), [...x].every((m) => y.has(m)));
  assert.equal(a.equals(b), x.size === y.size && [...x].every((m) => y.has(m)));
});
holds("no result of the algebra has an empty node", (a, b) => {
  const check = (s: FieldSet): void => {
    for (const n of s.nodes.values()) {
      assert.ok(n.member || n.below);
      if (n.below) {
        assert.ok(!n.below.empty);
        check(n.below);
      }
    }
  };
  [a.union(b), a.difference(b), a.intersection(b), a.recursiveDifference(b), a.leaves()].forEach(check);
});
holds("operands are never changed", (a, b, x, y) => {
  for (const op of ["union", "difference", "intersection", "recursiveDifference"] as const) a[op](b);
  assert.deepEqual(members(a), x);
  assert.deepEqual(members(b), y);
});
holds("fieldsV1 round trip in both orders, through JSON", (a) => {
  for (const order of ["custom", "builtin"] as const) {
    const wire = serialiseFieldsV1(setOf(a.paths()), order);
    assert.ok(parseFieldsV1(JSON.parse(JSON.stringify(wire))).equals(a));
  }
});

Deno.test("rule 7: a member is {}, with children it has a dot, and the root has none", () => {
  const set = setOf([["f:a"], ["f:a", "f:b"], ["f:c", "v:1"]]);
  assert.deepEqual(serialiseFieldsV1(set, "custom"), { "f:a": { ".": {}, "f:b": {} }, "f:c": { "v:1": {} } });
});

Deno.test("rule 8: custom kinds write keys in byte order, built-in kinds in element order", () => {
  const elements = ["v:10", "v:9", "v:-1", 'k:{"p":100}', 'k:{"p":9}', "f:b", "f:a"];
  const keys = (order: "custom" | "builtin") => Object.keys(serialiseFieldsV1(setOf(elements.map((e) => [e])), order));
  assert.deepEqual(keys("custom"), ["f:a", "f:b", 'k:{"p":100}', 'k:{"p":9}', "v:-1", "v:10", "v:9"]);
  assert.deepEqual(keys("builtin"), ["f:a", "f:b", 'k:{"p":9}', 'k:{"p":100}', "v:-1", "v:9", "v:10"]);
});

const READ: [what: string, fields: Obj, paths: string[]][] = [
  ["order is free", { "f:b": {}, "f:a": {} }, ["f:a", "f:b"]],
  ["what a dot holds is ignored", { "f:a": { "f:b": {}, ".": { "f:x": {} } } }, ["f:a", "f:a/f:b"]],
  ["a dot at the root is ignored", { ".": {}, "f:a": {} }, ["f:a"]],
  ["unknown prefixes are dropped", { "f:a": { "q:x": {} }, "z:b": { "f:c": {} } }, ["f:a"]],
  ["null is a member", { "f:a": null }, ["f:a"]],
  ["two spellings of one item are one", { 'k:{"a":1,"b":2}': { "f:x": {} }, 'k:{"b":2,"a":1}': { ".": {} } }, [
    'k:{"a":1,"b":2}',
    'k:{"a":1,"b":2}/f:x',
  ]],
  ["nothing", {}, []],
];
for (const [what, fields, expected] of READ) {
  Deno.test(`rule 9: parseFieldsV1(): ${what}`, () => {
    assert.deepEqual(parseFieldsV1(fields).paths().map((p) => p.join("/")), expected);
    assert.deepEqual(
      serialiseFieldsV1(parseFieldsV1(fields), "custom"),
      serialiseFieldsV1(setOf(parseFieldsV1(fields).paths()), "custom"),
    );
  });
}

Deno.test("rule 9: parseFieldsV1() refuses what upstream cannot decode", () => {
  for (const bad of [{ f: {} }, { "f:a": { spec: {} } }, { "k:x": {} }, { "f:a": 1 }, { "f:a": [] }]) {
    assert.throws(() => parseFieldsV1(bad as Obj), PathElementError);
  }
});

Deno.test("serialiseFieldsV1() gives an already sorted object back, and sorts one that is not", () => {
  const sorted = { "f:a": { ".": {}, "f:b": {} }, "f:c": {} };
  assert.equal(serialiseFieldsV1(parseFieldsV1(sorted), "custom"), sorted);
  const unsorted = { "f:c": {}, "f:a": { "f:b": {}, ".": {} } };
  assert.equal(JSON.stringify(serialiseFieldsV1(parseFieldsV1(unsorted), "custom")), JSON.stringify(sorted));
  const dotted = { ".": {}, "f:a": {} };
  assert.deepEqual(serialiseFieldsV1(parseFieldsV1(dotted), "custom"), { "f:a": {} });
  const alone = { "f:a": { ".": {} } };
  assert.deepEqual(serialiseFieldsV1(parseFieldsV1(alone), "custom"), { "f:a": {} });
});

Deno.test("rule 56: paths() tells the members of a level before what is below them", () => {
  const set = setOf([["f:z"], ["f:a", "f:x"], ["f:a"], ["f:b", "v:10"], ["f:b", "v:9"]]);
  assert.deepEqual(set.paths().map((p) => p.join("/")), ["f:a", "f:z", "f:a/f:x", "f:b/v:9", "f:b/v:10"]);
});

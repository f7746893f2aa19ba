import assert from "node:assert/strict";
import { mergeObjects } from "./merge.ts";
import { compilePart, type Value } from "./mod.ts";
import { SPEC } from "./test_support.ts";

const node = compilePart(SPEC);

function tags(live: string, config: string): string {
  const merged = mergeObjects(node, { tags: [...live] }, { tags: [...config] });
  return (merged.tags as string[]).join("");
}

function rows(live: string, config: string): string {
  const items = (names: string) => [...names].map((name) => ({ name }));
  const merged = mergeObjects(node, { rows: items(live) }, { rows: items(config) });
  return (merged.rows as { name: string }[]).map((r) => r.name).join("");
}

/** Worked out by hand from the procedure of rule 31. */
const ORDERS: [live: string, config: string, merged: string][] = [
  ["abc", "d", "abcd"],
  ["abc", "da", "dabc"],
  ["abc", "ad", "abcd"],
  ["abc", "cba", "cba"],
  ["abc", "bx", "abcx"],
  ["abcd", "dxb", "acdxb"],
  ["abcde", "ea", "bcdea"],
  ["", "ba", "ba"],
  ["abc", "", "abc"],
  ["ab", "xyzw", "abxyzw"],
  ["abc", "bac", "bac"],
  ["abc", "abc", "abc"],
];

for (const [live, config, merged] of ORDERS) {
  Deno.test(`rule 31: mergeObjects() orders a set: live "${live}", config "${config}" gives "${merged}"`, () => {
    assert.equal(tags(live, config), merged);
  });
}

Deno.test("rule 31: mergeObjects() orders list maps as sets", () => {
  for (const [live, config] of ORDERS) assert.equal(rows(live, config), tags(live, config), `${live} ${config}`);
});

Deno.test("rule 31: mergeObjects() keeps every item once and the config's order, for all small lists", () => {
  const names = ["a", "b", "c", "x"];
  const lists = [""];
  for (const list of lists) for (const n of names) if (!list.includes(n)) lists.push(list + n);
  for (const live of lists) {
    for (const config of lists) {
      const merged = tags(live, config);
      assert.equal([...merged].sort().join(""), [...new Set(live + config)].sort().join(""), `${live} ${config}`);
      assert.equal([...merged].filter((n) => config.includes(n)).join(""), config, `${live} ${config}`);
      const left = (s: string) => [...s].filter((n) => live.includes(n) && !config.includes(n)).join("");
      assert.equal(left(merged), left(live), `${live} ${config}`);
    }
  }
});

const OVER: [what: string, live: Value, config: Value, merged: Value, field: string][] = [
  ["null over a full map", { a: "1" }, null, { a: "1" }, "labels"],
  ["{} over a full map", { a: "1" }, {}, { a: "1" }, "labels"],
  ["null over a full struct", { a: "1" }, null, { a: "1" }, "group"],
  ["[] over a full set", ["a"], [], ["a"], "tags"],
  ["null over a full set", ["a"], null, ["a"], "tags"],
  ["null over an empty map", {}, null, null, "labels"],
  ["{} over null", null, {}, {}, "labels"],
  ["[] over null", null, [], [], "tags"],
  ["null over []", [], null, null, "tags"],
  ["null over a text", "x", null, null, "maybe"],
  ["null over an atomic map", { a: "1" }, null, null, "wholeLabels"],
  ["{} over an atomic map", { a: "1" }, {}, {}, "wholeLabels"],
  ["an atomic map replaces", { a: "1", b: "2" }, { a: "3" }, { a: "3" }, "wholeLabels"],
  ["an atomic list replaces", ["a", "b"], ["c"], ["c"], "plain"],
  ["maps merge by key", { a: "1", b: "2" }, { b: "3", c: "4" }, { a: "1", b: "3", c: "4" }, "labels"],
  ["deduced maps merge, deduced lists replace", { a: { x: 1 }, l: [1] }, { a: { y: 2 }, l: [2] }, {
    a: { x: 1, y: 2 },
    l: [2],
  }, "free"],
  ["a deduced list replaces a map", { a: { x: 1 } }, { a: [1] }, { a: [1] }, "free"],
  ["a deduced map replaces a text", { a: "t" }, { a: { x: 1 } }, { a: { x: 1 } }, "free"],
  ["null keeps a deduced full map", { a: { x: 1 } }, { a: null }, { a: { x: 1 } }, "free"],
  ["null replaces a deduced list", { a: [1] }, { a: null }, { a: null }, "free"],
  ["null replaces a deduced text", { a: "t" }, { a: null }, { a: null }, "free"],
];

for (const [what, live, config, merged, field] of OVER) {
  Deno.test(`rule 29: mergeObjects(): ${what}`, () => {
    assert.deepEqual(mergeObjects(node, { [field]: live }, { [field]: config }), { [field]: merged });
  });
}

Deno.test("rule 20: mergeObjects() takes an item with an omitted default key for the item that has it", () => {
  const live = { ports: [{ port: 80, protocol: "TCP", name: "a" }, { port: 80, protocol: "UDP" }] };
  const merged = mergeObjects(node, live, { ports: [{ port: 80, name: "b" }] });
  assert.deepEqual(merged, { ports: [{ port: 80, protocol: "TCP", name: "b" }, { port: 80, protocol: "UDP" }] });
});

Deno.test("rule 23: mergeObjects() leaves one item of a live duplicate that the config names", () => {
  const live = { rows: [{ name: "a", value: "1" }, { name: "b" }, { name: "a", value: "2" }] };
  assert.deepEqual(mergeObjects(node, live, { rows: [{ name: "a", note: "n" }] }), {
    rows: [{ name: "a", note: "n" }, { name: "b" }],
  });
});

Deno.test("mergeObjects() returns the live object itself when nothing changes, and never changes its arguments", () => {
  const live = { labels: { a: "1" }, rows: [{ name: "a", value: "1" }], tags: ["x", "y"] };
  const text = JSON.stringify(live);
  assert.equal(mergeObjects(node, live, { labels: { a: "1" }, rows: [{ name: "a" }], tags: ["x", "y"] }), live);
  assert.notEqual(mergeObjects(node, live, { labels: { a: "2" }, rows: [{ name: "b" }] }), live);
  assert.equal(JSON.stringify(live), text);
});

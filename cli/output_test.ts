import assert from "node:assert/strict";
import { dump, layTable, parseFormat, UsageError } from "./output.ts";

const table = {
  columnDefinitions: [{ name: "Name" }, { name: "Age" }, { name: "Message", priority: 1 }],
  rows: [
    { cells: ["a", "5s", "long"], object: { metadata: { name: "a", namespace: "ns" } } },
    { cells: ["bbbb", null, "two\nlines \x1b[31m"], object: { metadata: { name: "bbbb", namespace: "n" } } },
  ],
};

Deno.test("layTable() pads columns, hides those of priority above 0, and prints <none>", () => {
  assert.equal(layTable(table), "NAME   AGE\na      5s\nbbbb   <none>");
});

Deno.test("layTable() shows all columns when wide, namespaces when asked, and lets no control character through", () => {
  const text = layTable(table, { wide: true, namespaces: true });
  assert.match(text, /^NAMESPACE {3}NAME {3}AGE {6}MESSAGE\nns {10}a {6}5s {7}long\n/);
  assert.match(text, /two lines  ?\[31m$/);
});

Deno.test("dump() leaves managedFields out, in lists too, and keeps big integers", () => {
  const object = { metadata: { name: "a", managedFields: [{}] }, n: 9007199254740993n };
  assert.equal(dump(object, "json").includes("managedFields"), false);
  assert.equal(dump({ items: [object] }, "yaml").includes("managedFields"), false);
  assert.match(dump(object, "json"), /9007199254740993/);
  assert.match(dump(object, "yaml", { managedFields: true }), /managedFields/);
});

Deno.test("parseFormat() names what -o takes", () => {
  assert.throws(
    () => parseFormat("xml"),
    (e) => e instanceof UsageError && /-o takes table, wide, json, yaml, name/.test(e.message),
  );
});

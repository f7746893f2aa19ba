import assert from "node:assert/strict";
import fc from "fast-check";
import { equalJson, type JsonValue } from "../json/mod.ts";
import { parseDocuments, toYaml } from "./mod.ts";

Deno.test("toYaml() prints as kubectl does: sorted, block style, lists at the margin of their key", () => {
  const value = { kind: "X", a: { list: [{ p: 1, m: [] }, "s", ["x", ["z"]]], empty: {}, none: null, t: true } };
  assert.equal(
    toYaml(value),
    "a:\n  empty: {}\n  list:\n  - m: []\n    p: 1\n  - s\n  - - x\n    - - z\n  none: null\n  t: true\nkind: X\n",
  );
  assert.equal(toYaml({ b: 1, a: 2 }, { sortKeys: false }), "b: 1\na: 2\n");
});

Deno.test("toYaml() prints long integers as digits", () => {
  assert.equal(toYaml({ a: 9007199254740993n, b: -(2n ** 63n) }), "a: 9007199254740993\nb: -9223372036854775808\n");
});

Deno.test("toYaml() quotes what any reader would take for something else", () => {
  for (
    const text of ["on", "y", "0644", "0o644", "1e3", "12:30:00", "2001-01-01", "null", "~", "", "1_000", ".inf", "<<"]
  ) {
    assert.equal(toYaml({ a: text }), `a: ${JSON.stringify(text)}\n`);
  }
  for (const text of ["10.0.0.1", "v1", "a b", "http://x:80/y", "app/v1beta1", "/bin/sh", "1.2.3-rc.1"]) {
    assert.equal(toYaml({ a: text }), `a: ${text}\n`);
  }
  assert.equal(toYaml({ a: "- x", b: "it's: so", c: "a #b" }), "a: '- x'\nb: 'it''s: so'\nc: 'a #b'\n");
});

Deno.test("toYaml() prints text of several lines as a literal", () => {
  assert.equal(toYaml({ a: "x\ny\n", b: "x\n\ny", c: "x\n\n" }), "a: |\n  x\n  y\nb: |-\n  x\n\n  y\nc: |+\n  x\n\n");
  assert.equal(toYaml({ a: " x\n" }), 'a: " x\\n"\n');
});

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom(..."ab01:-#'\"\n \t{}[],&*!|>%@`?~<=_.e+\r\u0085\u2028\ufeff") }),
);
const json = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.boolean(),
    fc.constant(null),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Number.isInteger(n)),
    fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).filter((n) => n > 2n ** 53n || n < -(2n ** 53n)),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(text, tie("value"), { maxKeys: 4 }),
  ),
})).value;

Deno.test("toYaml() is read back by parseDocuments() as the same value", () => {
  fc.assert(
    fc.property(json, (value) => {
      const printed = toYaml({ v: value });
      const [doc] = parseDocuments(printed);
      assert.ok(equalJson(doc?.value, { v: value }), printed);
    }),
    { numRuns: 2000 },
  );
});

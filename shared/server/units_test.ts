/** The small parts: Go's JSON errors, quantities, JSONPath, selectors, text. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { duplicateFields, goJsonError } from "./go_json.ts";
import { byteLength, goQuote, htmlEscape } from "./go_text.ts";
import { parseApplyBody } from "./body.ts";
import { isJsonPath, jsonPath } from "./jsonpath.ts";
import { KeyQueue } from "./key_queue.ts";
import { LineQueue } from "./line_queue.ts";
import { FakeClock } from "../runtime/clock.ts";
import { canonicalQuantity } from "./schema/quantity.ts";
import { parseLabelSelector } from "./selectors.ts";

Deno.test("goJsonError: the words of encoding/json", () => {
  const cases: [string, string | undefined][] = [
    ["{}", undefined],
    ["", "unexpected end of JSON input"],
    ["{", "unexpected end of JSON input"],
    ["[1,]", "invalid character ']' looking for beginning of value"],
    ["{a:1}", "invalid character 'a' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b"}', `invalid character '"' after object key:value pair`],
    ["[1 2]", "invalid character '2' after array element"],
    ["{} x", "invalid character 'x' after top-level value"],
    ["nul", "unexpected end of JSON input"],
    ["nuxl", "invalid character 'x' in literal null (expecting 'l')"],
    ["- 1", "invalid character ' ' in numeric literal"],
    ["1.x", "invalid character 'x' after decimal point in numeric literal"],
    ["1e", "unexpected end of JSON input"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\n"', "invalid character '\\n' in string literal"],
    ["'a'", "invalid character '\\'' looking for beginning of value"],
  ];
  for (const [text, message] of cases) assert.equal(goJsonError(text), message, text);
});

Deno.test("goJsonError: it refuses exactly what JSON.parse refuses", () => {
  const parses = (text: string) => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const pieces = fc.array(
    fc.constantFrom("{", "}", "[", "]", ",", ":", '"a"', "1", "-", ".", "e", "0", "true", "null", " ", '"', "\\", "\n"),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(fc.oneof(fc.json(), pieces.map((p) => p.join(""))), (text) => {
      assert.equal(goJsonError(text) === undefined, parses(text), text);
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("duplicateFields: path and line of each", () => {
  assert.deepEqual(duplicateFields('{"a":{"b":[{"c":1,\n"c":2}]},"a":3}'), [
    { path: "a.b[0].c", key: "c", line: 2 },
    { path: "a", key: "a", line: 2 },
  ]);
  assert.deepEqual(duplicateFields('{"\\u0061":1,"a":2}').map((d) => d.path), ["a"]);
});

Deno.test("canonicalQuantity: as resource.Quantity prints it", () => {
  const cases: [string, string | undefined][] = [
    ["1000m", "1"],
    ["1024Mi", "1Gi"],
    ["1.5Gi", "1536Mi"],
    ["0.5", "500m"],
    ["2000", "2k"],
    ["100m", "100m"],
    ["0", "0"],
    ["1e3", "1e3"],
    ["1500Mi", "1500Mi"],
    ["512", "512"],
    ["+1", "1"],
    ["-1500m", "-1500m"],
    ["1.0000000001", "1000000001n"],
    ["12E", "12E"],
    ["x", undefined],
    ["", undefined],
    ["1Zi", undefined],
    [".", undefined],
  ];
  for (const [text, canonical] of cases) assert.equal(canonicalQuantity(text), canonical, text);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e9 }), fc.constantFrom("", "m", "k", "M", "Ki", "Mi", "Gi"), (n, unit) => {
      const once = canonicalQuantity(`${n}${unit}`)!;
      assert.equal(canonicalQuantity(once), once);
    }),
  );
});

Deno.test("jsonPath: fields, quoted keys, indexes, wildcards, filters", () => {
  const root = {
    a: { "b.c": 1, list: [{ t: "x", n: 1 }, { t: "y", n: 2, ok: true }] },
  };
  const cases: [string, unknown[]][] = [
    [".a.list[0].t", ["x"]],
    [".a['b.c']", [1]],
    [".a.b\\.c", [1]],
    [".a.list[-1].n", [2]],
    [".a.list[*].t", ["x", "y"]],
    [".a.list[0:1].t", ["x"]],
    ['.a.list[?(@.t=="y")].n', [2]],
    [".a.list[?(@.n>1)].t", ["y"]],
    [".a.list[?(@.ok)].t", ["y"]],
    ["{.a.list[1].ok}", [true]],
    ["..n", [1, 2]],
    [".none.x", []],
    [".__proto__", []],
    [".constructor", []],
  ];
  for (const [path, values] of cases) assert.deepEqual(jsonPath(path, root), values, path);
  for (const bad of ["a", ".a[", ".a[?(x)]", ".a[x]"]) assert.equal(isJsonPath(bad), false, bad);
});

Deno.test("parseLabelSelector: what it takes", () => {
  assert.deepEqual(parseLabelSelector(" a = b , c notin (d,) , !e,f"), [
    { key: "a", op: "=", values: ["b"] },
    { key: "c", op: "notin", values: ["d"] },
    { key: "e", op: "!", values: [] },
    { key: "f", op: "exists", values: [] },
  ]);
  assert.deepEqual(parseLabelSelector("a="), [{ key: "a", op: "=", values: [""] }]);
  for (const bad of ["a=b=c", "a,,b", "in (a)x", "!", "a in ()b"]) assert.throws(() => parseLabelSelector(bad), bad);
});

Deno.test("Go's text: quoting, bytes, HTML escapes", () => {
  assert.equal(goQuote('a"\n\u0001é😀\u200b'), '"a\\"\\n\\x01é😀\\u200b"');
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (t) => {
    assert.equal(byteLength(t), new TextEncoder().encode(t).length);
  }));
  assert.equal(htmlEscape('{"a":"<&>\u2028"}'), '{"a":"\\u003c\\u0026\\u003e\\u2028"}');
});

Deno.test("LineQueue: a reader that is too slow gets the overflow line last, and nothing waits beyond the bound", async () => {
  const queue = new LineQueue(10, () => "lost\n");
  for (let i = 0; i < 5; i++) queue.push(`line ${i}\n`);
  assert.ok(queue.size <= 10);
  const got: string[] = [];
  for await (const text of queue) got.push(text);
  assert.equal(got.join(""), "lost\n");
});

Deno.test("KeyQueue: a name waits once, failures are tried again after a pause, close ends it", async () => {
  const clock = new FakeClock();
  const errors: string[] = [];
  const queue = new KeyQueue(clock, (_e, key) => errors.push(key));
  let runs = 0;
  queue.add("a", async () => void runs++);
  queue.add("a", async () => void runs++);
  await queue.idle();
  assert.equal(runs, 1);
  let fails = 2;
  queue.add("b", async () => {
    if (fails-- > 0) throw new Error("no");
    runs++;
  });
  await queue.idle();
  assert.deepEqual([runs, errors], [1, ["b"]]);
  await clock.advance(10_000);
  assert.deepEqual([runs, errors], [2, ["b", "b"]]);
  queue.later("c", 1_000, async () => void runs++);
  await queue.close();
  assert.equal(clock.pending, 0);
});

Deno.test("parseApplyBody: malformed YAML in the words of sigs.k8s.io/yaml (texts seen from it)", () => {
  const cases: [string, string][] = [
    ["{", "line 1: did not find expected node content"],
    ["{a: 1", "line 1: did not find expected ',' or '}'"],
    ["[1, 2", "line 1: did not find expected ',' or ']'"],
    ["a: b: c", "mapping values are not allowed in this context"],
    ["x: 1\ny: a: b", "line 2: mapping values are not allowed in this context"],
    ['"abc', "found unexpected end of stream"],
    ['x: 1\ny: "abc', "line 2: found unexpected end of stream"],
    ["a: 1\n b: 2", "line 2: mapping values are not allowed in this context"],
    ["a:\n  - b\n c: d", "line 2: did not find expected key"],
    ["a: [1\nb: 2", "line 1: did not find expected ',' or ']'"],
    ["- a\nb: c", "line 1: did not find expected '-' indicator"],
    ["a: *x", "unknown anchor 'x' referenced"],
    ["%x", "found unknown directive name"],
    ["@a", "found character that cannot start any token"],
    ["x: 1\ny: @b", "line 2: found character that cannot start any token"],
    ["a: }", "did not find expected node content"],
    ["]", "did not find expected node content"],
    ["a: |\n x\n\ty", "line 3: found a tab character where an indentation space is expected"],
    ["a\nb: c", "line 2: mapping values are not allowed in this context"],
    ["\u0001", "control characters are not allowed"],
    ["a: {b: c", "line 1: did not find expected ',' or '}'"],
    ['a: "\\q"', "found unknown escape character"],
    ["<<: x", "map merge requires map or sequence of maps as the value"],
    ["a: - b", "block sequence entries are not allowed in this context"],
    ["a: b\n\tc: d", "line 2: found a tab character that violates indentation"],
    ["\ta: 1", "found character that cannot start any token"],
    ["a:\n\tb: 1", "line 2: found character that cannot start any token"],
    ["a: 1\nb: {", "line 2: did not find expected node content"],
    ["a: 1\n\n\n b: 2", "line 4: mapping values are not allowed in this context"],
  ];
  for (const [text, message] of cases) {
    assert.throws(
      () => parseApplyBody(text),
      (e: Error) => {
        assert.equal(e.message, `error decoding YAML: error converting YAML to JSON: yaml: ${message}`, text);
        return true;
      },
    );
  }
});

import assert from "node:assert/strict";
import type { Value } from "./mod.ts";
import {
  compareElements,
  elementText,
  encodeJson,
  parseElement,
  PathElementError,
  pathText,
  readElement,
  valueElement,
} from "./path_element.ts";
import { compareBytes, compareValue, equalValue } from "./value.ts";
import { goNumber, goQuote, goSyntax, goText, goType } from "./go_text.ts";

const TEXTS: [element: string, text: string][] = [
  ["f:name", ".name"],
  ["f:.", ".."],
  ["f:a.b/c", ".a.b/c"],
  ["f:", "."],
  ['k:{"a":"w","b":10,"z":true}', '[a="w",b=10,z=true]'],
  ['v:"a"', '[="a"]'],
  ["v:1", "[=1]"],
  ["v:9007199254740993", "[=9007199254740993]"],
  ["v:-9223372036854775808", "[=-9223372036854775808]"],
  ["v:true", "[=true]"],
  ["v:null", "[=null]"],
  ["i:3", "[3]"],
  ['v:"\\u003c\\u0026\\u003e\\u2028\\""', '[="<&>\\u2028\\""]'],
  ['v:"\\u0008é\\u0001"', '[="\\bé\\x01"]'],
];

for (const [element, text] of TEXTS) {
  Deno.test(`rule 3: elementText() of ${element} is ${text}`, () => assert.equal(elementText(element), text));
}

Deno.test("rule 3: pathText() joins the elements", () => {
  assert.equal(pathText(["f:spec", "f:rows", 'k:{"name":"x"}', "f:value"]), '.spec.rows[name="x"].value');
  assert.equal(pathText([]), "");
});

Deno.test("rule 7: payloads escape HTML characters, line separators and control characters", () => {
  assert.equal(
    encodeJson('<&>\u2028\u2029"\\\n\t\b\f\u0001é'),
    '"\\u003c\\u0026\\u003e\\u2028\\u2029\\"\\\\\\n\\t\\u0008\\u000c\\u0001é"',
  );
  assert.equal(encodeJson("\\b"), '"\\\\b"');
  assert.equal(encodeJson({ b: [1, null, true], a: 2n ** 62n }), '{"a":4611686018427387904,"b":[1,null,true]}');
});

const CANONICAL: [read: string, element: string | undefined][] = [
  ["f:x", "f:x"],
  ["f:<x>", "f:<x>"],
  ['k:{"b":1,"a":"x"}', 'k:{"a":"x","b":1}'],
  ['k:{ "name" : "a" }', 'k:{"name":"a"}'],
  ['k:{"name":"a"} trailing', 'k:{"name":"a"}'],
  ['k:{"name":"}"}x', 'k:{"name":"}"}'],
  ['k:{"name":"<"}', 'k:{"name":"\\u003c"}'],
  ["v:1.0", "v:1"],
  ["v:-0", "v:0"],
  ['v:"<"', 'v:"\\u003c"'],
  ["v:9007199254740993", "v:9007199254740993"],
  ['v:"a"x', 'v:"a"'],
  ["i:07", "i:7"],
  ["z:foo", undefined],
  ["q:", undefined],
];

for (const [read, element] of CANONICAL) {
  Deno.test(`rule 9: readElement() takes ${read} for ${element ?? "something of a later version"}`, () => {
    assert.equal(readElement(read), element);
    assert.equal(readElement(read), element, "the second time as the first");
  });
}

for (const bad of ["", "f", "fx", "x", "k:", "k:{", "k:[1]", "k:1", "v:", "v:{", "v:tru", "i:", "i:x", "i:1.5"]) {
  Deno.test(`rule 9: readElement() refuses "${bad}"`, () => assert.throws(() => readElement(bad), PathElementError));
}

Deno.test("rule 1: element order is field < key < value < index, keys pair by pair, values by type", () => {
  const sorted = [
    "f:",
    "f:B",
    "f:a",
    "f:￮",
    "f:𐀀",
    'k:{"a":9}',
    'k:{"a":10}',
    'k:{"a":"x"}',
    'k:{"a":"x","b":1}',
    'k:{"b":1}',
    "v:-1",
    "v:9",
    "v:10",
    "v:9007199254740992",
    "v:9007199254740993",
    'v:""',
    'v:"a"',
    "v:false",
    "v:true",
    "v:[1]",
    "v:[1,2]",
    'v:{"a":1}',
    "v:null",
    "i:9",
    "i:10",
  ];
  assert.deepEqual([...sorted].reverse().sort(compareElements), sorted);
});

Deno.test("rule 2: compareBytes() orders as UTF-8 does", () => {
  const words = ["", "A", "a", "ab", "é", "\ud7ff", "\ue000", "￮", "𐀀", "😀", "a\u{10000}", "a\uffff"];
  const bytes = (s: string) => [...new TextEncoder().encode(s)].map((b) => b.toString(16).padStart(2, "0")).join("");
  for (const a of words) {
    for (const b of words) {
      const [x, y] = [bytes(a), bytes(b)];
      assert.equal(Math.sign(compareBytes(a, b)), x < y ? -1 : x > y ? 1 : 0, `${a} ${b}`);
    }
  }
});

Deno.test("rule 1: compareValue() is a total order that equalValue() agrees with", () => {
  const values: Value[] = [
    -1,
    0,
    1.5,
    2n ** 60n,
    "",
    "a",
    false,
    true,
    [],
    [1],
    {},
    { a: 1 },
    { a: 2 },
    { b: 1 },
    null,
  ];
  values.forEach((a, i) =>
    values.forEach((b, j) => {
      assert.equal(Math.sign(compareValue(a, b)), Math.sign(i - j), `${i} ${j}`);
      assert.equal(equalValue(a, b), i === j);
    })
  );
});

Deno.test("parseElement() and valueElement() keep 64-bit integers", () => {
  const element = valueElement(-(2n ** 63n));
  assert.deepEqual(parseElement(element), { kind: "value", value: -(2n ** 63n) });
});

Deno.test("rule 21: Go's printing of values", () => {
  assert.equal(goQuote('a"\\\n\x07\x7f\u200b\u2028é😀'), '"a\\"\\\\\\n\\a\\x7f\\u200b\\u2028é😀"');
  assert.equal(goNumber(1000000), "1000000");
  assert.equal(goNumber(1.5), "1.5");
  assert.equal(goNumber(1234567.5), "1.2345675e+06");
  assert.equal(goNumber(0.00001), "1e-05");
  assert.equal(goNumber(2 ** 63), "9.223372036854776e+18");
  assert.equal(goNumber(2n ** 62n), "4611686018427387904");
  assert.equal(goText({ b: [1, "x", null], a: true }), "map[a:true b:[1 x <nil>]]");
  assert.equal(
    goSyntax({ a: ["x", 1, null] }),
    'map[string]interface {}{"a":[]interface {}{"x", 1, interface {}(nil)}}',
  );
  assert.deepEqual([null, "x", true, 1, 1.5, 2n ** 60n, [], {}].map((v) => goType(v as Value)), [
    "<nil>",
    "string",
    "bool",
    "int64",
    "float64",
    "int64",
    "[]interface {}",
    "map[string]interface {}",
  ]);
});

import assert from "node:assert/strict";
import { parseDocuments, parseYaml, YamlError } from "./mod.ts";

function failure(text: string, options = {}): YamlError {
  try {
    parseDocuments(text, { file: "f.yaml", ...options });
  } catch (error) {
    assert.ok(error instanceof YamlError);
    return error;
  }
  return assert.fail("no error");
}
const values = (text: string) => parseDocuments(text).map((d) => d.value);

Deno.test("C01: integers keep form and value through parseDocuments()", () => {
  const [doc] = parseDocuments(
    'metadata: {annotations: {build: "1e3"}}\nspec:\n  expiryMs: 3600000\n  serial: 9007199254740993\n',
  );
  assert.deepEqual(doc!.value, {
    metadata: { annotations: { build: "1e3" } },
    spec: { expiryMs: 3600000, serial: 9007199254740993n },
  });
});

Deno.test("C05: octal and YAML 1.1 words as kubectl reads them", () => {
  assert.deepEqual(values('a: 0644\nb: 0o644\nc: {q: "on", country: "no", flag: on}\n'), [
    { a: 420, b: 420, c: { q: "on", country: "no", flag: true } },
  ]);
});

Deno.test("parseDocuments() skips documents without a value and tells each one's line", () => {
  const docs = parseDocuments("# only a comment\n---\na: 1\n---\n# nothing\n---\n\n\nb: 2\n...\n---\nnull\n", {
    file: "x",
  });
  assert.deepEqual(docs.map((d) => [d.value, d.line, d.file]), [[{ a: 1 }, 3, "x"], [{ b: 2 }, 9, "x"], [
    null,
    12,
    "x",
  ]]);
});

Deno.test("parseDocuments() reads what stands on the line of the separator", () => {
  assert.deepEqual(values("--- # first\na: 1\n--- {b: 2}\n--- |\n  text\n"), [{ a: 1 }, { b: 2 }, "text\n"]);
});

Deno.test("parseDocuments() reads a byte order mark, CRLF and lone CR", () => {
  assert.deepEqual(values("\ufeffa: 1\r\nb:\r\n- |\r\n  x\r\n  y\r\n---\r\nc: 2\r\n"), [{ a: 1, b: ["x\ny\n"] }, {
    c: 2,
  }]);
  assert.equal(failure("a: 1\r\nb: 2\r\nb: 3\r\n").line, 3);
});

Deno.test("parseDocuments() reads JSON, with tabs, exact integers and doubled keys found", () => {
  assert.deepEqual(values('{\n\t"a": 9007199254740993,\n\t"b": [1.0, "\\ud83d\\ude00"]\n}\n'), [
    { a: 9007199254740993n, b: [1, "😀"] },
  ]);
  const error = failure('{"a": {"b": 1,\n "c": "b", "b": 2}}');
  assert.deepEqual([error.line, error.column], [2, 12]);
  assert.deepEqual(values('{"a": {"b": 1}, "b": {"a": "a", "c": ["a", "a"]}}').length, 1);
});

Deno.test("parseDocuments() names file, line and column of what is wrong", () => {
  const error = failure("a: 1\nb: [1, 2\nc: 3\n");
  assert.equal(error.file, "f.yaml");
  assert.equal(error.line, 3);
  assert.match(error.message, /^Cannot read YAML: f\.yaml:3:\d+: /);
  const tab = failure("a:\n\tb: 1\n");
  assert.deepEqual([tab.line, tab.column], [2, 1]);
});

Deno.test("parseDocuments() refuses a doubled key with its place", () => {
  const error = failure("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n");
  assert.deepEqual([error.line, error.column], [5, 3]);
  assert.match(error.message, /"c" occurs twice/);
});

Deno.test("rule 59: parseYaml() tells doubled keys and keeps the last", () => {
  assert.deepEqual(parseYaml("a: 1\nspec:\n  str: x\n  str: z\n", { duplicates: "report" }), {
    value: { a: 1, spec: { str: "z" } },
    duplicates: ['line 4: key "str" already set in map'],
  });
});

Deno.test("parseDocuments() stops an alias bomb and long merges without building them", () => {
  const bomb = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"];
  for (let i = 1; i < 12; i++) bomb.push(`a${i}: &a${i} [${Array(9).fill(`*a${i - 1}`).join(", ")}]`);
  assert.match(failure(bomb.join("\n")).message, /aliases add more than 200000 values/);
  const keys = Array.from({ length: 100 }, (_, i) => `k${i}: 1`).join(", ");
  assert.match(
    failure(`a: &a {${keys}}\nb:\n${"  <<: *a\n".repeat(50)}`, { maxAliasNodes: 1000 }).message,
    /aliases add/,
  );
});

Deno.test("parseDocuments() gives each alias its own copy", () => {
  const [doc] = values("a: &x {k: [1]}\nb: *x\n") as [{ a: { k: number[] }; b: { k: number[] } }];
  doc.a.k.push(2);
  assert.deepEqual(doc.b.k, [1]);
});

Deno.test("parseDocuments() stops at the depth limit, however deep the text", () => {
  assert.match(failure("[".repeat(100_000)).message, /nesting exceed/);
  assert.match(
    failure(Array.from({ length: 3000 }, (_, i) => " ".repeat(i) + "a:").join("\n")).message,
    /nesting exceed/,
  );
});

Deno.test("parseDocuments() takes flow collections whose lines are not indented", () => {
  assert.deepEqual(values("a: [\n1, # one\n2\n]\nb: {\nc: 'x'\n}\n"), [{ a: [1, 2], b: { c: "x" } }]);
  assert.equal(failure("a: [\n1,\n2\n]\nb: 1\nb: 2\n").line, 6);
  assert.equal(failure("a: [\n1,\n2\n").line, 2);
});

Deno.test("parseDocuments() refuses NUL and other control characters with their place", () => {
  const error = failure("a: 1\nb: x\0y\n");
  assert.deepEqual([error.line, error.column], [2, 5]);
  assert.match(error.message, /U\+0000/);
});

Deno.test("parseDocuments() keeps __proto__ as a key and gives nobody a prototype", () => {
  const [doc] = values("__proto__: {polluted: true}\n&a constructor: 1\n");
  assert.deepEqual(Object.keys(doc as object), ["__proto__", "constructor"]);
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
  assert.equal((doc as Record<string, unknown>).polluted, undefined);
});

Deno.test("parseDocuments() runs nothing for a tag", () => {
  assert.deepEqual(values("a: !!js/function 'x'\nb: !vault {c: !x 1}\nd: !!binary aGk=\n"), [
    { a: "x", b: { c: "1" }, d: "hi" },
  ]);
  assert.match(failure("a: !!int x\n").message, /cannot be read as !!int/);
});

Deno.test("errors of parseDocuments() hold none of the text's values", () => {
  for (
    const text of ["a: hunter2: x", "a: 'hunter2", "a: hunter2\na: hunter2", "a: !!int hunter2", 'a: "hunter2\\q"']
  ) {
    assert.doesNotMatch(failure(text).message, /hunter2/);
  }
});

/**
 * What `sigs.k8s.io/yaml` v1.6.0 (and the API machinery's JSON reader behind it) answers, recorded by
 * `testdata/facts.go.txt`; the same answers are wanted here.
 */
import assert from "node:assert/strict";
import { equalJson, isObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from "../json/mod.ts";
import { parseDocuments, YamlError } from "./mod.ts";

const facts = Deno.readTextFileSync(new URL("./testdata/facts.jsonl", import.meta.url)).trim().split("\n")
  .map((line) => parseJson(line) as JsonObject);

/** Where Convoy answers otherwise on purpose. */
const DIFFERENT: Record<string, string> = {
  "...\n": "an empty document, as YAML 1.2 has it",
  "- a\n-\tb\n": "a tab after a dash is white space for every other reader",
  'a: "x\\n\\u00e9\\ud83d\\ude00\\/"\n': "surrogate pairs occur in JSON",
  "a: é\u2028x\n": "U+2028 is no line break in YAML 1.2",
  "a: \u0085x\n": "U+0085 is no line break in YAML 1.2",
  "a: |\n  \tx\n": "a tab after the indentation is content",
  "a: |#c\n x\n": "a comment needs a space before it",
  "a: 'b'# c\n": "a comment needs a space before it",
  "a: &a-b.c 1\nb: *a-b.c\n": "anchor names as in YAML 1.2",
  "  a: 1\n b: 2\n": "the library drops the second line silently",
};
/** The library tells overrides by a merge too, and has keys of several types. */
const OTHER_DUPLICATES = /<<|'1'|'true'|\.inf/;

for (const fact of facts) {
  const text = fact.in as string;
  if (DIFFERENT[text]) continue;
  Deno.test(`parseDocuments() reads ${JSON.stringify(text)} as sigs.k8s.io/yaml does`, () => {
    if (fact.error !== undefined) {
      assert.throws(() => parseDocuments(text, { duplicates: "report" }), YamlError);
      return;
    }
    const documents = parseDocuments(text, { duplicates: "report" });
    const want = (fact.k8s ?? fact.json ?? null) as JsonValue;
    const got = documents[0]?.value ?? null;
    assert.ok(equalJson(got, want), `got ${stringifyJson(got)}, want ${stringifyJson(want)}`);
    if (OTHER_DUPLICATES.test(text)) return;
    const told = typeof fact.strict === "string" ? fact.strict.split("\n  ").slice(1) : [];
    assert.deepEqual(documents[0]?.duplicates ?? [], told);
  });
}

Deno.test("the facts are there and the list of differences names only facts", () => {
  assert.ok(facts.length > 400);
  const inputs = new Set(facts.map((f) => f.in));
  for (const text of Object.keys(DIFFERENT)) assert.ok(inputs.has(text), text);
  assert.ok(facts.every((f) => isObject(f)));
});

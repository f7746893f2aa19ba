import assert from "node:assert/strict";
import { applyPatch, compilePart, compileSchema, type Obj, TypedError, typingErrors, type Value } from "./mod.ts";
import { kindOf, SCHEMA, SPEC, thrown, V1, World } from "./test_support.ts";

const node = compilePart(SPEC);
const KEYS =
  `associative list with keys has an element that omits all key fields ["name"] (and doesn't have default values for any key fields)`;

/** The words are those of rule 21. */
const ERRORS: [spec: Obj, errors: string[]][] = [
  [{ text: "x", number: 1, ratio: 1.5, flag: true, either: 1, maybe: null, time: "t" }, []],
  [{ either: "50%", number: 1.5, ratio: 2n ** 62n }, []],
  [{ text: null, number: null, group: null, labels: null, tags: null, rows: null, plain: null, free: null }, []],
  [{ nope: 1 }, [".nope: field not declared in schema"]],
  [{ group: { nope: 1, b: 2, inner: { z: 1 } } }, [
    ".group.b: expected string, got &value.valueUnstructured{Value:2}",
    ".group.inner.z: field not declared in schema",
    ".group.nope: field not declared in schema",
  ]],
  [{ text: 1 }, [".text: expected string, got &value.valueUnstructured{Value:1}"]],
  [{ text: true }, [".text: expected string, got &value.valueUnstructured{Value:true}"]],
  [{ text: { a: "b" } }, [
    '.text: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":"b"}}',
  ]],
  [{ number: "1" }, [".number: expected numeric (int or float), got string"]],
  [{ number: true }, [".number: expected numeric (int or float), got bool"]],
  [{ number: [] }, [".number: expected numeric (int or float), got []interface {}"]],
  [{ flag: "yes" }, [".flag: expected boolean, got &{yes}"]],
  [{ either: { a: 1 } }, [".either: expected any scalar, got &{map[a:1]}"]],
  [{ time: 5 }, []],
  [{ tags: "x" }, [".tags: expected list, got &{x}"]],
  [{ rows: { a: 1 } }, [".rows: expected list, got &{map[a:1]}"]],
  [{ group: ["a"] }, [".group: expected map, got &{[a]}"]],
  [{ labels: "x" }, [".labels: expected map, got &{x}"]],
  [{ free: [1] }, [".free: expected map, got &{[1]}"]],
  [{ labels: { a: 1 } }, [".labels.a: expected string, got &value.valueUnstructured{Value:1}"]],
  [{ whole: { a: 1, z: 2 } }, [
    ".whole.a: expected string, got &value.valueUnstructured{Value:1}",
    ".whole.z: field not declared in schema",
  ]],
  [{ plain: ["a", 1] }, [".plain[1]: expected string, got &value.valueUnstructured{Value:1}"]],
  [{ tags: ["a", "b", "a"] }, ['.tags: duplicate entries for key [="a"]']],
  [{ ids: [1, 1.0] }, [".ids: duplicate entries for key [=1]"]],
  [{ tags: [1] }, [".tags[=1]: expected string, got &value.valueUnstructured{Value:1}"]],
  [{ tags: [null] }, [".tags: element 0: associative list without keys has an element that's an explicit null"]],
  [{ tags: [{}] }, [".tags: element 0: associative list without keys has an element that's a map type"]],
  [{ tags: ["a", ["b"]] }, [".tags: element 1: not supported: associative list with lists as elements"]],
  [{ rows: [{ name: "a" }, { name: "a" }] }, ['.rows: duplicate entries for key [name="a"]']],
  [{ rows: [{}] }, [`.rows: element 0: ${KEYS}`]],
  [{ rows: [{ value: "v" }] }, [`.rows: element 0: ${KEYS}`]],
  [{ rows: [null] }, [".rows: element 0: associative list with keys may not have a null element"]],
  [{ rows: ["a"] }, [".rows: element 0: associative list with keys may not have non-map elements"]],
  [{ rows: [{ name: "a", tags: ["x", "x"] }] }, ['.rows[name="a"].tags: duplicate entries for key [="x"]']],
  [{ ports: [{ port: 1 }, { port: 1, protocol: "TCP" }] }, [
    '.ports: duplicate entries for key [port=1,protocol="TCP"]',
  ]],
  [{ ports: [{ port: 1 }, { port: 1, protocol: "UDP" }, {}] }, []],
  [{ objects: [{ a: "1" }] }, [".objects: element 0: associative list without keys has an element that's a map type"]],
  [{ semi: { known: 1, other: { deep: [1, "a"] } } }, [
    ".semi.known: expected string, got &value.valueUnstructured{Value:1}",
  ]],
  [{ free: { a: [1, { b: null }], c: { d: true } } }, []],
];

for (const [spec, errors] of ERRORS) {
  const what = JSON.stringify(spec, (_k, v) => typeof v === "bigint" ? String(v) : v);
  Deno.test(`rule 21: typingErrors() of ${what}`, () => {
    assert.deepEqual(typingErrors(node, spec).map((e) => `${e.field}: ${e.message}`), errors);
  });
}

Deno.test("rule 21: typingErrors() tells the same whatever the order of the fields", () => {
  const a = typingErrors(node, { zzz: 1, text: 1, aaa: 1, labels: { b: 1, a: 1 } });
  const b = typingErrors(node, { labels: { a: 1, b: 1 }, aaa: 1, text: 1, zzz: 1 });
  assert.deepEqual(a, b);
  assert.deepEqual(a.map((e) => e.field), [".aaa", ".labels.a", ".labels.b", ".text", ".zzz"]);
});

Deno.test("rule 21: applyPatch() says what could not be typed, one error in one line", () => {
  const world = new World();
  const error = thrown(TypedError, () => world.apply("a", { spec: { nope: 1 } }));
  assert.equal(
    error.message,
    "failed to create typed patch object (/x; test.example.com/v1, Kind=Test): .spec.nope: field not declared in schema",
  );
  assert.deepEqual(error.errors, [{ field: ".spec.nope", message: "field not declared in schema" }]);
});

Deno.test("rule 21: applyPatch() lists several errors, with the namespace of the body", () => {
  const world = new World();
  const error = thrown(
    TypedError,
    () => world.apply("a", { metadata: { name: "x", namespace: "n", bogus: 1 }, spec: { text: 1 } }),
  );
  assert.equal(
    error.message,
    "failed to create typed patch object (n/x; test.example.com/v1, Kind=Test): errors:\n" +
      "  .metadata.bogus: field not declared in schema\n" +
      "  .spec.text: expected string, got &value.valueUnstructured{Value:1}",
  );
});

Deno.test("rule 21: applyPatch() prints the empty group of a core kind with its slash", () => {
  const kind = { ...kindOf(), schemas: new Map([["v1", compileSchema(SCHEMA)]]) };
  const config = { apiVersion: "v1", kind: "Test", metadata: { name: "x" }, bogus: 1 };
  const error = thrown(
    TypedError,
    () =>
      applyPatch({
        kind,
        apiVersion: "v1",
        live: undefined,
        config,
        manager: "a",
        force: false,
        now: "2026-01-01T00:00:00Z",
      }),
  );
  assert.match(error.message, /^failed to create typed patch object \(\/x; \/v1, Kind=Test\): \.bogus: /);
});

Deno.test("rule 22: a set of objects cannot be applied, nor can anything over a live one", () => {
  const world = new World();
  world.put("c", { spec: { objects: [{ a: "1" }] } });
  assert.deepEqual(world.entries(), [], "stored, but untracked");
  const error = thrown(TypedError, () => world.apply("a", { spec: { text: "1" } }));
  assert.equal(
    error.message,
    "failed to create manager for existing fields: failed to convert new object (/x; test.example.com/v1, Kind=Test) to smd typed: " +
      ".spec.objects: element 0: associative list without keys has an element that's a map type",
  );
});

Deno.test("rule 26: typing errors come before conflicts", () => {
  const world = new World();
  world.apply("a", { spec: { text: "1" } });
  thrown(TypedError, () => world.apply("b", { spec: { text: "2", nope: 1 } }));
});

Deno.test("typingErrors() stops counting at 100 errors", () => {
  const spec: Obj = {};
  for (let i = 0; i < 5000; i++) spec[`unknown${i}`] = 1 as Value;
  assert.equal(typingErrors(node, spec).length, 100);
});

Deno.test("applyPatch() refuses a version that the kind does not have", () => {
  const world = new World();
  assert.throws(() => world.apply("a", { spec: {} }, { apiVersion: "test.example.com/v9" }), /Cannot apply at/);
  assert.equal(V1, "test.example.com/v1");
});

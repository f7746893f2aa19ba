/** Validation of objects and of their metadata, through the handler. */
import assert from "node:assert/strict";
import type { JsonObject } from "../json/mod.ts";
import { type Answer, WIDGET, widget, WIDGETS, withServer } from "./test_kit.ts";

const causes = (a: Answer) =>
  ((a.body.details as JsonObject).causes as JsonObject[]).map((c) => `${c.field}: ${c.message}`);
const W = `${WIDGETS}/a`;

Deno.test("validation: each kind of error names its field, in kube-apiserver's words", async () => {
  const cases: [JsonObject, string][] = [
    [{ color: "pink" }, 'spec.color: Unsupported value: "pink": supported values: "red", "green", "blue"'],
    [{ size: 0 }, "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"],
    [{ size: 11 }, "spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10"],
    [{ size: "x" }, 'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"'],
    [{ name: "A1" }, `spec.name: Invalid value: "A1": spec.name in body should match '^[a-z]+$'`],
    [{ name: "a" }, 'spec.name: Invalid value: "a": spec.name in body should be at least 2 chars long'],
    [{ name: "abcdef" }, "spec.name: Too long: may not be more than 5 bytes"],
    [{ tags: ["a", "b", "a"] }, 'spec.tags[2]: Duplicate value: "a"'],
    [{ tags: ["a", "b", "c", "d", "e"] }, "spec.tags: Too many: 5: must have at most 4 items"],
    [{ items: [{ value: "1" }] }, "spec.items[0].name: Required value"],
    [{ items: [{ name: "x" }, { name: "x" }] }, 'spec.items[1]: Duplicate value: {"name":"x"}'],
    [
      { labels: { a: 1 } },
      'spec.labels.a: Invalid value: "integer": spec.labels.a in body must be of type string: "integer"',
    ],
    [
      { port: true },
      'spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"',
    ],
    [
      { replicas: 2 ** 31 },
      '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.replicas',
    ],
    [{ low: 3, high: 2 }, "spec: Invalid value: low must not be above high"],
    [{ tags: "x" }, 'spec.tags: Invalid value: "string": spec.tags in body must be of type array: "string"'],
  ];
  await withServer(async (s) => {
    for (const [spec, cause] of cases) {
      const answer = await s.create(WIDGETS, widget("a", spec));
      assert.equal(answer.status, 422, JSON.stringify(spec));
      assert.equal(answer.body.reason, "Invalid");
      assert.deepEqual(causes(answer), [cause]);
      assert.equal(answer.body.message, `Widget.demo.example "a" is invalid: ${cause}`);
    }
    assert.equal((await s.create(WIDGETS, widget("a", { port: "http", big: 9007199254740993n as never }))).status, 201);
    assert.match((await s.get(W)).text, /"big":9007199254740993\b/);
  });
});

Deno.test("validation: transition rules see the value before; what did not change is not judged again", async () => {
  await withServer(async (s) => {
    await s.create(WIDGETS, widget("a", { fixed: "x", size: 5 }));
    const refused = await s.merge(W, { spec: { fixed: "y" } });
    assert.deepEqual(causes(refused), ['spec.fixed: Invalid value: "y": fixed cannot be changed']);
    // The schema gets stricter: size 5 is no longer allowed, but other fields can be written.
    const stricter = structuredClone(WIDGET);
    (stricter.versions[0]!.schema.properties!["spec"]!.properties!["size"]!).maximum = 3;
    s.api.setKinds([stricter]);
    assert.equal((await s.merge(W, { spec: { color: "blue" } })).status, 200);
    assert.equal((await s.merge(W, { spec: { size: 4 } })).status, 422);
  });
});

Deno.test("validation: a rule that costs too much is cut off, and the server lives on", async () => {
  const kind = structuredClone(WIDGET);
  kind.versions[0]!.schema.properties!["spec"]!["x-kubernetes-validations"] = [{
    rule: "self.many.all(a, self.many.all(b, self.many.all(c, a + b + c >= 0)))",
  }];
  kind.versions[0]!.schema.properties!["spec"]!.properties!["many"] = { type: "array", items: { type: "integer" } };
  await withServer(async (s) => {
    const answer = await s.create(WIDGETS, widget("a", { many: Array.from({ length: 1000 }, (_, i) => i) }));
    assert.equal(answer.status, 422);
    assert.match(causes(answer)[0]!, /running out of cost budget/);
    assert.equal((await s.create(WIDGETS, widget("a", { many: [1] }))).status, 201);
  }, { kinds: [kind] });
});

Deno.test("metadata: names, labels, annotations, owners, finalizers are checked", async () => {
  const cases: [JsonObject, RegExp][] = [
    [{ name: "A_b" }, /^metadata\.name: Invalid value: "A_b": a lowercase RFC 1123 subdomain/],
    [{ name: "x".repeat(254) }, /must be no more than 253 bytes/],
    [{ name: "a", labels: { "a b": "x" } }, /^metadata\.labels: Invalid value: "a b": name part must consist/],
    [{ name: "a", labels: { a: "-" } }, /^metadata\.labels: Invalid value: "-": a valid label must be an empty string/],
    [
      { name: "a", annotations: { a: "x".repeat(262_145) } },
      /^metadata\.annotations: Too long: may not be more than 262144 bytes/,
    ],
    [{ name: "a", finalizers: ["a<b"] }, /^metadata\.finalizers: Invalid value: "a<b"/],
    [
      { name: "a", ownerReferences: [{ apiVersion: "v1", kind: "X", name: "x" }] },
      /^metadata\.ownerReferences\[0\]\.uid/,
    ],
    [{ generateName: "A" }, /^metadata\.generateName/],
  ];
  await withServer(async (s) => {
    for (const [metadata, pattern] of cases) {
      const answer = await s.create(WIDGETS, { ...widget("a"), metadata });
      assert.equal(answer.status, 422, JSON.stringify(metadata).slice(0, 80));
      assert.match(causes(answer)[0]!, pattern);
    }
    const warned = await s.create(WIDGETS, widget("a", {}, { finalizers: ["plain"] }));
    assert.match(warned.headers["warning"]!, /prefer a domain-qualified finalizer name/);
  });
});

Deno.test("metadata: a wrong type is 400 in the words of Go's decoder", async () => {
  await withServer(async (s) => {
    const answer = await s.create(WIDGETS, widget("a", {}, { labels: { a: 1 } }));
    assert.equal(answer.status, 400);
    assert.match(
      String(answer.body.message),
      /cannot be handled as a Widget: json: cannot unmarshal number into Go struct field ObjectMeta\.metadata\.labels of type string$/,
    );
  });
});

/** The recorded sequences against the API server of this repository. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../shared/json/mod.ts";
import { ruleIds } from "./accepted.ts";
import { compareStep, matchesText } from "./compare.ts";
import list from "./expected_differences.json" with { type: "json" };
import { replayFolder, report } from "./mod.ts";
import { replay } from "./replay.ts";
import type { Sequence } from "./types.ts";

/** Beside the checkout: `../shared/ssa_vectors` from the root of the repository. */
const FOLDER = fileURLToPath(new URL("../../../shared/ssa_vectors", import.meta.url));

Deno.test("ssa_replay: all recorded sequences give what the real server gave, but for the accepted differences", async () => {
  const there = await Deno.stat(FOLDER).then((s) => s.isDirectory, () => false);
  assert.ok(there, `The recorded sequences are expected in ${FOLDER} (beside the checkout)`);
  const result = await replayFolder(FOLDER);
  assert.ok(result.sequences > 200, `only ${result.sequences} sequences`);
  assert.deepEqual(report({ ...result, differences: result.differences.filter((d) => !d.accepted) }).split("\n"), [
    `${result.sequences} sequences, 0 differences`,
  ]);
  // A rule that accepts nothing any more should go.
  const used = new Set(result.differences.map((d) => d.accepted));
  assert.deepEqual(ruleIds().filter((id) => !used.has(id)), []);
});

Deno.test("expected_differences.json: each rule is defined, each has a reason", () => {
  assert.deepEqual(list.rules.map((r) => r.id).sort(), ruleIds().sort());
  for (const rule of list.rules) assert.ok(rule.reason.length > 40 && rule.ssa !== "", rule.id);
});

const schema: JsonObject = {
  type: "object",
  properties: { spec: { type: "object", properties: { a: { type: "string" }, n: { type: "integer" } } } },
};

function sequence(steps: Sequence["steps"]): Sequence {
  return {
    title: "test",
    kind: { group: "ssatest.example.com", version: "v1", kind: "Plain", plural: "plains" },
    schemaRef: "schemas/x.json",
    statusSubresource: false,
    steps,
  };
}

function body(spec: JsonObject): JsonObject {
  return { apiVersion: "ssatest.example.com/v1", kind: "Plain", metadata: { name: "obj" }, spec };
}

Deno.test("replay: a wrong value, code, rv and time are each told with their path", async () => {
  const differences = await replay(
    "x.json",
    sequence([
      {
        op: "apply",
        clock: 0,
        manager: "a",
        body: body({ a: "1" }),
        expect: {
          code: 200,
          object: body({ a: "2" }),
          resourceVersionMoved: false,
          timesMoved: [],
          warnings: ['299 - "x"'],
        },
      },
    ]),
    schema,
  );
  const paths = new Set(differences.map((d) => d.path));
  for (const path of ["code", "object.spec.a", "resourceVersionMoved", "timesMoved", "warnings"]) {
    assert.ok(paths.has(path), `${path} is missing in ${[...paths].join(" ")}`);
  }
  assert.ok(differences.every((d) => d.accepted === undefined));
});

Deno.test("replay: a typed error is accepted by rule; the same code for another reason is not", async () => {
  const expect = (message: string) => ({
    code: 500,
    status: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 },
    exists: false,
  });
  const step = (message: string): Sequence["steps"][number] => ({
    op: "apply",
    clock: 0,
    manager: "a",
    body: body({ n: "x" }),
    expect: expect(message),
  });
  const typed =
    "failed to create typed patch object (/obj; ssatest.example.com/v1, Kind=Plain): .spec.n: expected numeric (int or float), got string";
  const accepted = await replay("x.json", sequence([step(typed)]), schema);
  assert.ok(accepted.length > 0 && accepted.every((d) => d.accepted === "typed-error-is-400"));
  const refused = await replay("x.json", sequence([step("something else")]), schema);
  assert.ok(refused.some((d) => d.accepted === undefined));
});

Deno.test("compareStep: order counts in fieldsV1 and nowhere else", () => {
  const outcome = (object: JsonObject) => ({
    code: 200,
    body: object,
    raw: "",
    warnings: [],
    before: undefined,
    after: undefined,
  });
  assert.deepEqual(compareStep({ code: 200, object: { a: 1, b: 2 } }, outcome({ b: 2, a: 1 })), []);
  const found = compareStep(
    { code: 200, object: { fieldsV1: { "f:a": {}, "f:b": {} } } },
    outcome({ fieldsV1: { "f:b": {}, "f:a": {} } }),
  );
  assert.equal(found[0]?.path, "object.fieldsV1");
});

Deno.test("matchesText: placeholders stand for values of their kind only", () => {
  assert.ok(matchesText("uid <uid> at <time>", "uid 11111111-1111-1111-1111-111111111111 at 2026-06-01T00:00:00Z"));
  assert.ok(!matchesText("<time>", "2001-01-01T00:00:00Z"));
  assert.ok(!matchesText("rv <rv>.", "rv abc."));
});

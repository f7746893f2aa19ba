/** Strategic merge patch, on the schema of a Deployment. */
import assert from "node:assert/strict";
import { builtinKinds } from "../facts/mod.ts";
import type { JsonObject, JsonValue } from "../json/mod.ts";
import { StatusError } from "../kube/status.ts";
import { compileSchema } from "../ssa/mod.ts";
import { strategicMerge } from "./patch_strategic.ts";

const [deployment] = builtinKinds((k) => k.kind === "Deployment");
const node = compileSchema(deployment!.versions[0]!.schema, deployment!.definitions);

const pod = (spec: JsonObject): JsonObject => ({ spec: { template: { spec } } });
const podOf = (object: JsonObject) => ((object.spec as JsonObject).template as JsonObject).spec as JsonObject;

function merged(spec: JsonObject, patch: JsonObject): JsonObject {
  return podOf(strategicMerge(pod(spec), pod(patch), node));
}

const c = (name: string, extra: JsonObject = {}): JsonObject => ({ name, ...extra });

Deno.test("strategicMerge: lists merge by their key, others are replaced, null removes", () => {
  const cases: [JsonObject, JsonObject, JsonObject][] = [
    [
      { containers: [c("a", { image: "1" }), c("b", { image: "1" })] },
      { containers: [c("b", { image: "2" }), c("d", { image: "3" })] },
      { containers: [c("a", { image: "1" }), c("b", { image: "2" }), c("d", { image: "3" })] },
    ],
    [
      { containers: [c("a", { args: ["1", "2"] })] },
      { containers: [c("a", { args: ["3"] })] },
      { containers: [c("a", { args: ["3"] })] },
    ],
    [
      { containers: [c("a", { ports: [{ containerPort: 80, name: "x" }] })] },
      { containers: [c("a", { ports: [{ containerPort: 80, name: "y" }, { containerPort: 81 }] })] },
      { containers: [c("a", { ports: [{ containerPort: 80, name: "y" }, { containerPort: 81 }] })] },
    ],
    [{ nodeSelector: { a: "1", b: "2" } }, { nodeSelector: { a: null, c: "3" } }, { nodeSelector: { b: "2", c: "3" } }],
    [{ hostname: "h" }, { hostname: null }, {}],
  ];
  for (const [live, patch, expected] of cases) assert.deepEqual(merged(live, patch), expected);
});

Deno.test("strategicMerge: $patch delete and replace, on items, lists and maps", () => {
  const live = () => ({ containers: [c("a"), c("b")], nodeSelector: { x: "1" } });
  assert.deepEqual(merged(live(), { containers: [{ $patch: "delete", name: "a" }] }).containers, [c("b")]);
  assert.deepEqual(
    merged(live(), { containers: [{ $patch: "replace" }, c("z")] }).containers,
    [c("z")],
  );
  assert.deepEqual(merged(live(), { nodeSelector: { $patch: "replace", y: "2" } }).nodeSelector, { y: "2" });
  assert.deepEqual(merged(live(), { nodeSelector: { $patch: "delete" } }).nodeSelector, {});
  assert.throws(() => merged(live(), { nodeSelector: { $patch: "what" } }), StatusError);
  assert.deepEqual(merged({}, { containers: [{ $patch: "delete", name: "a" }, c("n")] }).containers, [c("n")]);
});

Deno.test("strategicMerge: $setElementOrder orders what was merged", () => {
  const order = (...names: string[]): JsonValue => names.map((name) => ({ name }));
  const out = merged({ containers: [c("a"), c("b"), c("s")] }, {
    "$setElementOrder/containers": order("b", "n", "a"),
    containers: [c("n")],
  });
  assert.deepEqual((out.containers as JsonObject[]).map((x) => x.name), ["b", "n", "a", "s"]);
  const kept = merged({ containers: [c("s"), c("a"), c("b")] }, {
    "$setElementOrder/containers": order("a", "b"),
    containers: [c("b", { image: "2" })],
  });
  assert.deepEqual((kept.containers as JsonObject[]).map((x) => x.name), ["s", "a", "b"]);
});

Deno.test("strategicMerge: $retainKeys drops what is not named", () => {
  const live = { spec: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } } } };
  const out = strategicMerge(live, { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } }, node);
  assert.deepEqual(out, { spec: { strategy: { type: "Recreate" } } });
  assert.throws(
    () => strategicMerge({ spec: {} }, { spec: { $retainKeys: ["a"], b: 1 } }, node),
    StatusError,
  );
});

Deno.test("strategicMerge: sets of scalars merge, and $deleteFromPrimitiveList takes out", () => {
  const live: JsonObject = { metadata: { finalizers: ["a", "b"] } };
  const out = strategicMerge(live, {
    metadata: { "$deleteFromPrimitiveList/finalizers": ["a"], finalizers: ["b", "c"] },
  }, node);
  assert.deepEqual(out, { metadata: { finalizers: ["b", "c"] } });
});

Deno.test("strategicMerge: an item without its key is refused", () => {
  assert.throws(
    () => merged({ containers: [c("a")] }, { containers: [{ image: "x" }] }),
    /does not contain declared merge key: name/,
  );
});

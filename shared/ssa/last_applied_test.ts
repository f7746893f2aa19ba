import assert from "node:assert/strict";
import { ConflictError, type Obj } from "./mod.ts";
import { thrown, V1, V2, World } from "./test_support.ts";

const NAME = "kubectl.kubernetes.io/last-applied-configuration";

/** An object as client-side apply leaves it, then changed by someone else. */
function clientSide(applied: Obj, live: Obj, apiVersion = V1, text?: string): World {
  const world = new World();
  const annotation = text ?? JSON.stringify({ apiVersion, kind: "Test", metadata: { name: "x" }, spec: applied });
  const metadata = { name: "x", annotations: { [NAME]: annotation } };
  world.put("kubectl-client-side-apply", { metadata, spec: applied });
  world.put("other", { metadata: world.live!.metadata!, spec: live });
  return world;
}

function annotation(world: World): unknown {
  return ((world.live!.metadata as Obj).annotations as Obj)[NAME];
}

Deno.test("rule 65: kubectl takes over what its last-applied set has, without force", () => {
  const world = clientSide({ text: "1", number: 1 }, { text: "1", number: 1 });
  world.apply("kubectl", { spec: { text: "2", number: 1 } });
  assert.equal((world.spec as Obj).text, "2");
  assert.equal(world.owners()["kubectl Apply"], ".spec.number .spec.text");
});

Deno.test("rule 65: nobody else may", () => {
  const world = clientSide({ text: "1" }, { text: "1" });
  thrown(ConflictError, () => world.apply("kubectl2", { spec: { text: "2" } }));
});

Deno.test("rule 65: only the conflicts outside the last-applied set are told", () => {
  const world = clientSide({ text: "1" }, { text: "1", number: 1, flag: true });
  const error = thrown(ConflictError, () => world.apply("kubectl", { spec: { text: "2", number: 2, flag: false } }));
  assert.deepEqual(error.causes.map((c) => c.field), [".spec.flag", ".spec.number"]);
  assert.equal(
    error.message,
    'Apply failed with 2 conflicts: conflicts with "other" using test.example.com/v1:\n- .spec.flag\n- .spec.number',
  );
});

Deno.test("rule 65: a value that someone changed since is not in the set", () => {
  const world = clientSide({ text: "1" }, { text: "changed" });
  const error = thrown(ConflictError, () => world.apply("kubectl", { spec: { text: "2" } }));
  assert.equal(
    error.message,
    'Apply failed with 1 conflict: conflict with "other" using test.example.com/v1: .spec.text',
  );
});

const USELESS: [what: string, apiVersion: string, text?: string][] = [
  ["of another version", V2],
  ["that is no JSON", V1, "{"],
  ["that is no object", V1, "[]"],
  ["that does not type", V1, JSON.stringify({ apiVersion: V1, kind: "Test", bogus: 1 })],
  ["that is empty", V1, ""],
];
for (const [what, apiVersion, text] of USELESS) {
  Deno.test(`rule 65: a last-applied annotation ${what} allows nothing`, () => {
    const world = clientSide({ text: "1" }, { text: "1" }, apiVersion, text);
    thrown(ConflictError, () => world.apply("kubectl", { spec: { text: "2" } }));
  });
}

Deno.test("rule 66: kubectl's apply rewrites an existing annotation from the body, and does not own it", () => {
  const world = clientSide({ text: "1" }, { text: "1" }, V1, "malformed");
  world.apply("kubectl", { spec: { number: 2 } });
  assert.equal(annotation(world), `{"apiVersion":"${V1}","kind":"Test","metadata":{"name":"x"},"spec":{"number":2}}\n`);
  assert.equal(world.owners()["kubectl Apply"], ".spec.number");
});

Deno.test("rule 66: without the annotation none is added, and other managers leave it alone", () => {
  const world = new World();
  world.put("c", { spec: { text: "1" } });
  world.apply("kubectl", { spec: { number: 1 } });
  assert.equal((world.live!.metadata as Obj).annotations, undefined);
  const other = clientSide({ text: "1" }, { text: "1" }, V1, "as it was");
  other.apply("a", { spec: { number: 1 } });
  assert.equal(annotation(other), "as it was");
});

Deno.test("rule 66: an annotation that would be too large is dropped", () => {
  const world = clientSide({ text: "1" }, { text: "1" });
  world.apply("kubectl", { spec: { labels: { k: "x".repeat(300_000) } } });
  assert.equal(annotation(world), undefined);
});

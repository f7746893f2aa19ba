import assert from "node:assert/strict";
import { fieldManagerError, managerFromUserAgent, updateScale, validateManagedFields } from "./mod.ts";
import { V1, World } from "./test_support.ts";

const AGENTS: [agent: string, manager: string][] = [
  ["kubectl/v1.2 (linux) x", "kubectl"],
  ["no slash agent", "no slash agent"],
  ["/x", ""],
  ["", ""],
  ["bad\tcontrol\u0000/1", "badcontrol"],
  ["\u00c3\u00a9/1", "é"],
  ["\u00e9/1", "\ufffd"],
  ["é\u4e00/1", "é\u4e00"],
  ["a\u200bb/1", "ab"],
  ["x".repeat(200), "x".repeat(128)],
  ["x".repeat(127) + "\u00c3\u00a9", "x".repeat(127)],
];
for (const [agent, manager] of AGENTS) {
  Deno.test(`rule 14: managerFromUserAgent() of ${JSON.stringify(agent.slice(0, 20))} (${agent.length})`, () => {
    assert.equal(managerFromUserAgent(agent), manager);
  });
}

Deno.test("rule 57: fieldManagerError() words length and characters as upstream does", () => {
  assert.equal(fieldManagerError("ok é😀 x"), undefined);
  assert.equal(fieldManagerError(" "), undefined);
  assert.equal(fieldManagerError("x".repeat(128)), undefined);
  assert.equal(fieldManagerError("é".repeat(65)), "Too long: may not be more than 128 bytes");
  assert.equal(fieldManagerError("bad\nname"), 'Invalid value: "bad\\nname": invalid character U+000A (at position 3)');
  assert.equal(fieldManagerError("é\u200b"), 'Invalid value: "é\u200b": invalid character U+200B (at position 2)');
});

Deno.test("rule 15: validateManagedFields() finds names that are too long", () => {
  const long = "é".repeat(65);
  assert.deepEqual(validateManagedFields([{ manager: "m" }, { manager: long, subresource: "s".repeat(257) }]), [
    { field: "metadata.managedFields[1].manager", message: "Too long: may not be more than 128 bytes" },
    { field: "metadata.managedFields[1].subresource", message: "Too long: may not be more than 256 bytes" },
  ]);
  assert.deepEqual(validateManagedFields([{ manager: "m".repeat(128), subresource: "s".repeat(256) }]), []);
  assert.deepEqual(validateManagedFields(undefined), []);
});

function scaled(world: World, replicas: number, manager = "hpa") {
  const live = world.live!;
  const next = { ...live, spec: { ...live.spec as object, number: replicas } };
  world.live = updateScale({ kind: world.kind, apiVersion: V1, live, next, replicasPath: ["spec", "number"], manager });
}

Deno.test("rule 47: updateScale() moves the path to a scale entry without time", () => {
  const world = new World();
  world.apply("a", { spec: { number: 1, text: "1" } });
  world.apply("b", { spec: { number: 1 } });
  scaled(world, 3);
  assert.deepEqual(world.owners(), { "a Apply": ".spec.text", "hpa Update #scale": ".spec.number" });
  assert.deepEqual(world.times(), { "a Apply": 1, "hpa Update #scale": null });
  scaled(world, 4, "other");
  assert.deepEqual(Object.keys(world.owners()), ["a Apply", "other Update #scale"]);
  scaled(world, 4, "third");
  assert.deepEqual(Object.keys(world.owners()), ["a Apply", "other Update #scale"], "an equal number moves nothing");
  scaled(world, 0);
  assert.deepEqual(Object.keys(world.owners()), ["a Apply"]);
});

Deno.test("rule 47: updateScale() does not track a path that nobody owns", () => {
  const world = new World();
  world.apply("a", { spec: { text: "1" } });
  scaled(world, 3);
  assert.deepEqual(world.owners(), { "a Apply": ".spec.text" });
});

import assert from "node:assert/strict";
import type { InformerHandler } from "../kube/contract.ts";
import type { KubeObject } from "../kube/types.ts";
import { WriteMemory } from "./mod.ts";

const at = (resourceVersion: string, uid = "u1"): KubeObject => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name: "a", namespace: "n", uid, resourceVersion },
});

Deno.test("WriteMemory.fresher() gives the written object until the cache is as new", () => {
  const memory = new WriteMemory();
  memory.remember(at("10"));
  assert.equal(memory.fresher(at("9")).metadata.resourceVersion, "10");
  assert.equal(memory.fresher(at("10")).metadata.resourceVersion, "10");
  assert.equal(memory.size, 0);
  assert.equal(memory.fresher(at("9")).metadata.resourceVersion, "9");
});

Deno.test("WriteMemory.latest() knows an object that the cache does not have yet", () => {
  const memory = new WriteMemory();
  assert.equal(memory.latest("Thing", "n/a", undefined), undefined);
  memory.remember(at("10"));
  assert.equal(memory.latest("Thing", "n/a", undefined)?.metadata.resourceVersion, "10");
  assert.equal(memory.latest("Other", "n/a", undefined), undefined);
});

Deno.test("WriteMemory.fresher() trusts the cache when versions are no numbers", () => {
  const memory = new WriteMemory();
  memory.remember(at("zz"));
  assert.equal(memory.fresher(at("aa")).metadata.resourceVersion, "aa");
});

Deno.test("WriteMemory.follow() lets go when the informer has caught up, and on deletion", () => {
  const memory = new WriteMemory();
  let handler: InformerHandler<KubeObject> = {};
  memory.follow({ addHandler: (h) => ((handler = h), () => {}) });
  memory.remember(at("10"));
  handler.onUpdate?.(at("8"), at("9"));
  assert.equal(memory.size, 1);
  handler.onUpdate?.(at("9"), at("10"));
  assert.equal(memory.size, 0);
  memory.remember(at("11"));
  handler.onDelete?.(at("12"));
  assert.equal(memory.size, 0);
});

Deno.test("WriteMemory.remember() keeps no more than a bounded number of objects", () => {
  const memory = new WriteMemory();
  for (let i = 0; i < 3000; i++) memory.remember({ ...at("1"), metadata: { ...at("1").metadata, name: `n${i}` } });
  assert.ok(memory.size <= 1024);
});

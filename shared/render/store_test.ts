import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { Render } from "../api/mod.ts";
import { cloneJson } from "../json/mod.ts";
import { failure, type KubeClient, type Unstructured } from "../kube/mod.ts";
import { CHUNK_CHARACTERS, getRender, putRender, renderRefOf, RenderStoreError } from "./mod.ts";

/** Renders in memory, with what was asked of it. */
function fakeClient() {
  const stored = new Map<string, Render>();
  const log: string[] = [];
  const client = {
    get: (_r: unknown, key: { name: string }) => {
      log.push(`get ${key.name.slice(71)}`);
      const found = stored.get(key.name);
      return found ? Promise.resolve(cloneJson(found)) : Promise.reject(failure(404, "NotFound", "not found"));
    },
    create: (_r: unknown, render: Render) => {
      log.push(`create ${render.metadata.name.slice(71)}`);
      if (stored.has(render.metadata.name)) return Promise.reject(failure(409, "AlreadyExists", "exists"));
      stored.set(render.metadata.name, cloneJson(render));
      return Promise.resolve(render);
    },
    patch: (_r: unknown, key: { name: string }, patch: { body: { metadata: Partial<Render["metadata"]> } }) => {
      log.push(`patch ${key.name.slice(71)}`);
      Object.assign(stored.get(key.name)!.metadata, patch.body.metadata);
      return Promise.resolve(stored.get(key.name));
    },
  } as unknown as KubeClient;
  return { client, stored, log };
}

const release = { metadata: { name: "web", namespace: "team", uid: "u1" } };
const object = (name: string, data: unknown): Unstructured =>
  ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data }) as unknown as Unstructured;
/** Two megabytes that do not compress. */
const large = () => [object("big", { v: randomBytes(1_000_000).toString("hex") })];

Deno.test("putRender() names by content, and getRender() gives it back with big integers", async () => {
  const { client, stored } = fakeClient();
  const objects = [object("a", { n: 9007199254740993n, z: null, a: {} })];
  const put = await putRender(client, release, "main@sha1:c1", objects);
  assert.match(put.renderRef, /^sha256-[0-9a-f]{64}$/);
  assert.equal(put.renderRef, renderRefOf({ namespace: "team", name: "web" }, objects));
  assert.equal(put.objects, 1);
  const render = stored.get(put.renderRef)!;
  assert.deepEqual({ ...render.spec, data: "" }, {
    release: "web",
    revision: "main@sha1:c1",
    digest: put.renderRef,
    encoding: "gzip+base64",
    objects: 1,
    size: put.size,
    chunk: 0,
    chunks: 1,
    data: "",
  });
  assert.deepEqual(render.metadata.ownerReferences, [
    { apiVersion: "convoy.kumodo.io/v1alpha1", kind: "Release", name: "web", uid: "u1" },
  ]);
  const got = await getRender(client, "team", put.renderRef);
  assert.deepEqual(got, { objects, release: "web", revision: "main@sha1:c1" });
});

Deno.test("renderRefOf() depends on the Release, the objects and their order, not on the order of keys", () => {
  const key = { namespace: "team", name: "web" };
  const ref = renderRefOf(key, [object("a", { x: 1, y: 2 }), object("b", {})]);
  assert.equal(renderRefOf(key, [object("a", { y: 2, x: 1 }), object("b", {})]), ref);
  assert.notEqual(renderRefOf(key, [object("b", {}), object("a", { x: 1, y: 2 })]), ref);
  assert.notEqual(renderRefOf({ ...key, name: "api" }, [object("a", { x: 1, y: 2 }), object("b", {})]), ref);
});

Deno.test("putRender() writes nothing when the render is there", async () => {
  const { client, log } = fakeClient();
  await putRender(client, release, "r1", [object("a", {})]);
  log.length = 0;
  await putRender(client, release, "r2", [object("a", {})]);
  assert.deepEqual(log, ["get "]);
});

Deno.test("putRender() writes chunks below the limit, the first one last; getRender() joins them", async () => {
  const { client, stored, log } = fakeClient();
  const objects = large();
  const { renderRef } = await putRender(client, release, "r", objects);
  assert.ok(stored.size >= 2);
  assert.deepEqual(log.filter((l) => l.startsWith("create")).at(-1), "create ");
  for (const render of stored.values()) assert.ok(render.spec.data.length <= CHUNK_CHARACTERS);
  assert.deepEqual((await getRender(client, "team", renderRef)).objects, objects);
});

Deno.test("a half-written set is not read, and the next put completes it", async () => {
  const { client, stored, log } = fakeClient();
  const objects = large();
  const { renderRef } = await putRender(client, release, "r", objects);
  stored.delete(renderRef);
  const missing = (e: unknown) => e instanceof RenderStoreError && e.problem === "NotFound";
  await assert.rejects(getRender(client, "team", renderRef), missing);
  log.length = 0;
  await putRender(client, release, "r", objects);
  assert.ok(!log.some((l) => l.startsWith("patch")));
  assert.deepEqual((await getRender(client, "team", renderRef)).objects, objects);
});

Deno.test("getRender() refuses content that its name does not say, and a set with a chunk gone", async () => {
  const { client, stored } = fakeClient();
  const one = await putRender(client, release, "r", [object("a", {})]);
  const two = await putRender(client, release, "r", [object("b", {})]);
  stored.get(one.renderRef)!.spec.data = stored.get(two.renderRef)!.spec.data;
  const damaged = (e: unknown) => e instanceof RenderStoreError && e.problem === "Damaged";
  await assert.rejects(getRender(client, "team", one.renderRef), damaged);
  stored.get(two.renderRef)!.spec.size = 3;
  await assert.rejects(getRender(client, "team", two.renderRef), damaged);
  const big = await putRender(client, release, "r", large());
  stored.delete(`${big.renderRef}.1`);
  await assert.rejects(getRender(client, "team", big.renderRef), damaged);
});

Deno.test("getRender() reads a render once for many askers and keeps it", async () => {
  const { client, log } = fakeClient();
  const { renderRef } = await putRender(client, release, "r", [object("a", { k: "v" })]);
  log.length = 0;
  const [one, two] = await Promise.all([getRender(client, "team", renderRef), getRender(client, "team", renderRef)]);
  assert.equal(one, two);
  assert.equal(await getRender(client, "team", renderRef), one);
  assert.deepEqual(log, ["get "]);
  assert.throws(() => (one.objects[0]!.metadata.name = "changed"), TypeError);
});

Deno.test("putRender() takes over renders of a Release that was deleted and made anew", async () => {
  const { client, stored } = fakeClient();
  const objects = large();
  const { renderRef } = await putRender(client, release, "r", objects);
  await putRender(client, { metadata: { ...release.metadata, uid: "u2" } }, "r", objects);
  assert.ok(stored.size >= 2);
  for (const render of stored.values()) assert.deepEqual(render.metadata.ownerReferences?.map((o) => o.uid), ["u2"]);
  assert.ok(stored.has(renderRef));
});

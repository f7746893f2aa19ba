import assert from "node:assert/strict";
import type { Secret } from "../api/mod.ts";
import { failure, type KubeClient, type KubeObject } from "../kube/mod.ts";
import { ACCESS_KEY_SECRET, cachedAccessKey, ensureAccessKey, readAccessKey } from "./mod.ts";

function fakeApi() {
  const objects = new Map<string, KubeObject>();
  let reads = 0;
  const client = {
    get: (r: { kind: string }, key: { name: string }) => {
      reads++;
      const found = objects.get(`${r.kind}/${key.name}`);
      return found ? Promise.resolve(found) : Promise.reject(failure(404, "NotFound", "not found"));
    },
    create: (r: { kind: string }, object: KubeObject) => {
      const key = `${r.kind}/${object.metadata.name}`;
      if (objects.has(key)) return Promise.reject(failure(409, "AlreadyExists", "exists"));
      objects.set(key, object);
      return Promise.resolve(object);
    },
  } as unknown as KubeClient;
  return { client, objects, reads: () => reads };
}

Deno.test("ensureAccessKey() makes namespace and Secret once; all processes read the same key", async () => {
  const { client, objects } = fakeApi();
  assert.equal(await readAccessKey(client), undefined);
  const keys = await Promise.all([ensureAccessKey(client), ensureAccessKey(client), ensureAccessKey(client)]);
  assert.equal(new Set(keys).size, 1);
  assert.match(keys[0]!, /^[0-9a-f]{64}$/);
  assert.equal(await readAccessKey(client), keys[0]);
  assert.deepEqual([...objects.keys()], ["Namespace/convoy-system", "Secret/convoy-artifacts"]);
});

Deno.test("ensureAccessKey() names the mend for a Secret without the key", async () => {
  const { client, objects } = fakeApi();
  const secret: Secret = { apiVersion: "v1", kind: "Secret", metadata: { ...ACCESS_KEY_SECRET } };
  objects.set("Secret/convoy-artifacts", secret);
  await assert.rejects(ensureAccessKey(client), /convoy-system\/convoy-artifacts has no "key"; delete it/);
});

Deno.test("cachedAccessKey() reads at most once a minute, and again after an error", async () => {
  const { client, objects, reads } = fakeApi();
  let now = 0;
  const key = cachedAccessKey(client, () => now);
  assert.deepEqual(await Promise.all([key(), key()]), [undefined, undefined]);
  assert.equal(reads(), 1);
  const made = await ensureAccessKey(client);
  assert.equal(await key(), undefined);
  now = 60_000;
  assert.equal(await key(), made);
  objects.delete("Secret/convoy-artifacts");
  assert.equal(await key(), made);
  const broken = cachedAccessKey({ get: () => Promise.reject(new Error("down")) } as unknown as KubeClient, () => now);
  await assert.rejects(broken(), /down/);
  await assert.rejects(broken(), /down/);
});

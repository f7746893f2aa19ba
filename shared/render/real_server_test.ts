/** The render store on the real API server. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { API_VERSION, kindDefinitions, type Release, RELEASES, type Render, RENDERS } from "../api/mod.ts";
import { createKubeClient, hasReason, inProcessTransport, type KubeClient, type Unstructured } from "../kube/mod.ts";
import { createApiHandler } from "../server/mod.ts";
import { MemoryStorage } from "../server/storage/mod.ts";
import { getRender, putRender } from "./mod.ts";

function test(name: string, run: (client: KubeClient, release: Release) => Promise<void>): void {
  Deno.test(name, async () => {
    const api = createApiHandler({ kinds: kindDefinitions(), storage: new MemoryStorage() });
    const client = createKubeClient(inProcessTransport(api, { name: "test", groups: ["system:masters"] }));
    try {
      await run(client, await addRelease(client));
    } finally {
      client.close();
      await api.close();
    }
  });
}

/** A render goes with its Release, so there must be one. */
async function addRelease(client: KubeClient): Promise<Release> {
  return await client.create<Release>(
    RELEASES,
    {
      apiVersion: API_VERSION,
      kind: "Release",
      metadata: { name: "web", namespace: "team" },
      spec: { cluster: { name: "c1" }, source: { git: { repository: "apps", path: "web" } } },
    } as unknown as Release,
  );
}

const objects = (data: string) =>
  [{
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a" },
    data,
    serial: 9007199254740993n,
  }] as unknown as Unstructured[];

test("a render of several chunks goes through the API server unchanged", async (client, release) => {
  const big = objects(randomBytes(1_500_000).toString("hex"));
  const { renderRef } = await putRender(client, release, "r", big);
  const stored = await client.list<Render>(RENDERS, { namespace: "team" });
  assert.ok(stored.items.length >= 3);
  for (const { spec } of stored.items) assert.equal(spec.chunks, stored.items.length);
  assert.deepEqual((await getRender(client, "team", renderRef)).objects, big);
});

test(
  "a second put writes nothing; the render of a Release that was made anew is there again",
  async (client, release) => {
    const { renderRef } = await putRender(client, release, "r", objects("x"));
    const key = { namespace: "team", name: renderRef };
    const first = await client.get<Render>(RENDERS, key);
    await putRender(client, release, "other revision", objects("x"));
    assert.equal((await client.get<Render>(RENDERS, key)).metadata.resourceVersion, first.metadata.resourceVersion);
    await client.delete(RELEASES, { namespace: "team", name: "web" });
    const anew = await addRelease(client);
    await putRender(client, anew, "r", objects("x"));
    const owned = await client.get<Render>(RENDERS, key);
    assert.deepEqual(owned.metadata.ownerReferences?.map((o) => o.uid), [anew.metadata.uid]);
  },
);

test("a stored render cannot be changed", async (client, release) => {
  const { renderRef } = await putRender(client, release, "r", objects("x"));
  const change = client.patch(RENDERS, { namespace: "team", name: renderRef }, {
    type: "merge",
    body: { spec: { data: "AAAA" } },
  });
  await assert.rejects(change, (e) => hasReason(e, "Invalid") && /never changes/.test(e.message));
});

import assert from "node:assert/strict";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ArtifactError, artifactHandler, artifactPath, DiskArtifactStore } from "./mod.ts";

async function setUp(run: (w: { dir: string; digest: string; store: DiskArtifactStore }) => Promise<void>) {
  const dir = await mkdtemp(join(tmpdir(), "convoy-serve-"));
  try {
    const source = await mkdtemp(join(dir, "src"));
    await writeFile(join(source, "a.yaml"), "a: 1\n");
    await symlink("../../../etc/passwd", join(source, "out.yaml"));
    const store = new DiskArtifactStore(join(dir, "one"));
    await run({ dir, store, digest: await store.put(source) });
  } finally {
    await rm(dir, { recursive: true });
  }
}

async function listening(listener: RequestListener, run: (base: string) => Promise<void>): Promise<void> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

function serving(store: DiskArtifactStore, run: (base: string) => Promise<void>): Promise<void> {
  const handle = artifactHandler(store, () => Promise.resolve("key1"));
  return listening((request, response) => {
    handle(request, response).then((done) => done || response.writeHead(418).end());
  }, run);
}

const ref = (digest: string, url: string) => ({ digest, url, revision: "r", lastUpdateTime: "" });
const failed = (message: RegExp) => (e: unknown) => e instanceof ArtifactError && message.test(e.message);

Deno.test("a store without the artifact fetches it from the process that has it, once for many askers", () =>
  setUp(async ({ dir, store, digest }) => {
    await serving(store, async (base) => {
      let asked = 0;
      const other = new DiskArtifactStore(join(dir, "two"), { accessKey: () => Promise.resolve((asked++, "key1")) });
      const lists = await Promise.all([1, 2, 3].map(() => other.files(ref(digest, base + artifactPath(digest)), "")));
      assert.deepEqual(lists[0]!.map((f) => f.path), ["a.yaml", "out.yaml"]);
      assert.equal(new TextDecoder().decode(await lists[2]![0]!.read()), "a: 1\n");
      await assert.rejects(lists[0]![1]!.read(), failed(/leaves the root/));
      assert.equal(asked, 1);
      assert.ok(await other.has(digest));
    });
  }));

Deno.test("the endpoint wants the key, a digest that it has, and GET; other paths are not its own", () =>
  setUp(async ({ store, digest }) => {
    await serving(store, async (base) => {
      const status = async (path: string, init: RequestInit = {}) => {
        const response = await fetch(base + path, init);
        await response.body?.cancel();
        return response.status;
      };
      const headers = { authorization: "Bearer key1" };
      assert.equal(await status(artifactPath(digest)), 401);
      assert.equal(await status(artifactPath(digest), { headers: { authorization: "Bearer key2" } }), 401);
      assert.equal(await status(artifactPath(`sha256:${"0".repeat(64)}`), { headers }), 404);
      assert.equal(await status("/artifacts/..%2f..%2fetc", { headers }), 404);
      assert.equal(await status(artifactPath(digest), { headers, method: "POST" }), 405);
      assert.equal(await status("/healthz", { headers }), 418);
    });
  }));

Deno.test("a fetch fails with its mend: wrong key, other content, redirect, nobody there", () =>
  setUp(async ({ dir, store, digest }) => {
    const two = (key: string) => new DiskArtifactStore(join(dir, "two"), { accessKey: () => Promise.resolve(key) });
    await serving(store, async (base) => {
      const url = base + artifactPath(digest);
      await assert.rejects(two("bad").files(ref(digest, url), ""), failed(/HTTP 401; the key in Secret/));
      const other = `sha256:${"1".repeat(64)}`;
      await assert.rejects(two("key1").files(ref(other, url), ""), failed(/wanted is sha256:1/));
      assert.equal(await two("key1").has(other), false);
    });
    await listening(
      (_, response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
      async (base) => {
        await assert.rejects(two("key1").files(ref(digest, base), ""), failed(/HTTP 302; only an answer 200/));
      },
    );
    await assert.rejects(two("key1").files(ref(digest, "http://127.0.0.1:1/x"), ""), failed(/no connection/));
    await assert.rejects(
      two("key1").files(ref(digest, "file:///etc/passwd"), ""),
      failed(/no http address|not an http/),
    );
  }));

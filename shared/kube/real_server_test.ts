/** Client and informers against the real API server, in the process and over TLS. */
import assert from "node:assert/strict";
import { builtinKinds } from "../facts/mod.ts";
import { silentLogger, systemClock } from "../runtime/mod.ts";
import { createApiHandler } from "../server/mod.ts";
import { makeCertificates, parseTokens, serveHttps, tokenAuthenticator } from "../server/net/mod.ts";
import { MemoryStorage } from "../server/storage/mod.ts";
import { eventually } from "../testing/mod.ts";
import {
  createInformer,
  createKubeClient,
  createRestMapper,
  inProcessTransport,
  type KubeClient,
  kubeconfigTransport,
  type KubeObject,
  type Resource,
  StatusError,
  type Transport,
  TransportError,
} from "./mod.ts";

const MAPS: Resource = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };
type ConfigMap = KubeObject & { data?: Record<string, string> };

interface World {
  storage: MemoryStorage;
  transport: Transport;
  client: KubeClient;
  close(): Promise<void>;
}

async function inProcess(): Promise<World> {
  const storage = new MemoryStorage();
  const handler = createApiHandler({ kinds: kinds(), storage, bookmarkMs: 50 });
  const transport = inProcessTransport(handler, { name: "admin", groups: ["system:masters"] });
  const client = createKubeClient(transport);
  return {
    storage,
    transport,
    client,
    async close() {
      client.close();
      await handler.close();
      await storage.close();
    },
  };
}

async function overTls(): Promise<World> {
  const storage = new MemoryStorage();
  const handler = createApiHandler({ kinds: kinds(), storage, bookmarkMs: 50 });
  const certs = await makeCertificates(["127.0.0.1"], systemClock);
  const tokens = parseTokens("t0ken,admin,1,system:masters");
  const server = await serveHttps({
    handler,
    authenticator: tokenAuthenticator(() => tokens),
    server: certs.server,
    clientCaPem: certs.caPem,
  });
  const config = {
    clusters: [{ name: "c", cluster: { server: server.url, "certificate-authority-data": btoa(certs.caPem) } }],
    users: [{ name: "u", user: { token: "t0ken" } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  const transport = kubeconfigTransport(JSON.stringify(config), { label: "test" });
  const client = createKubeClient(transport);
  return {
    storage,
    transport,
    client,
    async close() {
      client.close();
      await server.close(0);
      await handler.close();
      await storage.close();
    },
  };
}

function kinds() {
  return builtinKinds(({ group, kind }) => group === "" && kind === "ConfigMap");
}

function map(name: string, data: Record<string, string> = {}): ConfigMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "team", name }, data };
}

/** A transport whose streams can be broken and which can be held back. */
function breakable(inner: Transport) {
  const breaks = new Set<AbortController>();
  let held: Promise<void> | undefined;
  return {
    transport: {
      async request(request) {
        if (!request.path.includes("watch=true")) return await inner.request(request);
        await held;
        const abort = new AbortController();
        breaks.add(abort);
        request.signal?.addEventListener("abort", () => abort.abort(request.signal!.reason), { once: true });
        return await inner.request({ ...request, signal: abort.signal });
      },
      close: () => inner.close(),
    } satisfies Transport,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      for (const abort of breaks) abort.abort(new TransportError("broken by the test"));
      breaks.clear();
      return () => {
        held = undefined;
        resolve();
      };
    },
  };
}

for (const [name, make] of [["in the process", inProcess], ["over TLS", overTls]] as const) {
  Deno.test(`KubeClient ${name}: writes, reads, conflicts, apply, paging, deletion`, async () => {
    const w = await make();
    try {
      const made = await w.client.create(MAPS, map("a", { k: "1" }));
      assert(made.metadata.uid && made.metadata.resourceVersion);
      const changed = await w.client.update(MAPS, { ...made, data: { k: "2" } });
      await assert.rejects(w.client.update(MAPS, { ...made, data: { k: "3" } }), (error: unknown) => {
        return error instanceof StatusError && error.reason === "Conflict";
      });
      const applied = await w.client.apply<ConfigMap>(MAPS, map("a", { other: "x" }), { fieldManager: "me" });
      assert.deepEqual(applied.data, { k: "2", other: "x" });
      assert.equal(applied.metadata.uid, changed.metadata.uid);
      await w.client.patch<ConfigMap>(MAPS, { namespace: "team", name: "a" }, {
        type: "json",
        body: [{ op: "replace", path: "/data/k", value: "9" }],
      });
      const dry = await w.client.apply<ConfigMap>(MAPS, map("b"), { fieldManager: "me", dryRun: true });
      assert.equal(dry.metadata.name, "b");
      await assert.rejects(w.client.get(MAPS, { namespace: "team", name: "b" }), { reason: "NotFound" });
      for (const n of ["b", "c"]) await w.client.create(MAPS, map(n));
      const page = await w.client.list<ConfigMap>(MAPS, { namespace: "team", limit: 2 });
      assert.deepEqual(page.items.map((i) => i.metadata.name), ["a", "b"]);
      const rest = await w.client.list(MAPS, { namespace: "team", limit: 2, continue: page.metadata.continue! });
      assert.deepEqual(rest.items.map((i) => i.metadata.name), ["c"]);
      await assert.rejects(
        w.client.delete(MAPS, { namespace: "team", name: "a" }, { preconditions: { uid: "another" } }),
        { reason: "Conflict" },
      );
      await w.client.delete(MAPS, { namespace: "team", name: "a" });
      await assert.rejects(w.client.delete(MAPS, { namespace: "team", name: "a" }), { reason: "NotFound" });
      const mapper = createRestMapper(w.client, { clock: systemClock });
      assert.deepEqual(await mapper.resourceFor({ group: "", kind: "ConfigMap" }), MAPS);
    } finally {
      await w.close();
    }
  });

  Deno.test(`C25: an informer ${name} is right after a gap whose history is gone, and after one whose history is there`, async () => {
    const w = await make();
    const { transport, hold } = breakable(w.transport);
    const abort = new AbortController();
    const told: string[] = [];
    const informer = createInformer<ConfigMap>({
      client: createKubeClient(transport),
      resource: MAPS,
      clock: systemClock,
      logger: silentLogger,
      signal: abort.signal,
      backoff: { minMs: 1, maxMs: 20 },
      freeze: true,
    });
    informer.addHandler({
      onAdd: (o) => told.push(`+${o.metadata.name}`),
      onUpdate: (_old, o) => told.push(`~${o.metadata.name}=${o.data?.k}`),
      onDelete: (o) => told.push(`-${o.metadata.name}`),
    });
    const told1 = async (...expected: string[]) => {
      await eventually(() => told.length >= expected.length, { on: expected.join(" ") });
      assert.deepEqual(told.splice(0).sort(), expected.sort());
    };
    try {
      for (const n of ["a", "b", "c"]) await w.client.create(MAPS, map(n, { k: "1" }));
      informer.start();
      await informer.whenSynced();
      await told1("+a", "+b", "+c");
      await w.client.apply(MAPS, map("a", { k: "2" }), { fieldManager: "x", force: true });
      await told1("~a=2");

      let release = hold();
      await w.client.delete(MAPS, { namespace: "team", name: "b" });
      await w.client.create(MAPS, map("d"));
      await w.storage.compact(await w.storage.currentRevision());
      release();
      await told1("-b", "+d");

      release = hold();
      await w.client.delete(MAPS, { namespace: "team", name: "c" });
      await w.client.create(MAPS, map("c", { k: "again" }));
      release();
      await told1("-c", "+c");
      const cached = [...informer.list()].map((o) => `${o.metadata.name}@${o.metadata.resourceVersion}`).sort();
      const live = (await w.client.list<ConfigMap>(MAPS)).items;
      assert.deepEqual(cached, live.map((o) => `${o.metadata.name}@${o.metadata.resourceVersion}`).sort());
    } finally {
      abort.abort();
      await informer.done;
      await w.close();
    }
  });

  Deno.test(`KubeClient ${name}: a watch gets bookmarks while nothing changes`, async () => {
    const w = await make();
    try {
      const first = await w.client.list(MAPS);
      const abort = new AbortController();
      const watch = await w.client.watch(MAPS, {
        resourceVersion: first.metadata.resourceVersion,
        allowWatchBookmarks: true,
        signal: abort.signal,
      });
      for await (const event of watch) {
        assert.equal(event.type, "BOOKMARK");
        abort.abort();
      }
    } finally {
      await w.close();
    }
  });
}

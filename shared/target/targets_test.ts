import assert from "node:assert/strict";
import type { Cluster, Secret } from "../api/mod.ts";
import {
  type Informer,
  type InformerFactory,
  type InformerHandler,
  KubeconfigError,
  type KubeObject,
  type Resource,
  type Transport,
  TransportError,
  type TransportResponse,
} from "../kube/mod.ts";
import { FakeClock } from "../runtime/clock.ts";
import { captureLogger, tinyServer } from "../testing/mod.ts";
import { createTargets, OWNER_LABEL, TargetError, type TargetsOptions } from "./mod.ts";

const MAPS: Resource = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };

/** One target cluster as a transport: what it answers is in the test's hand. */
class FakeCluster {
  /** Kubeconfigs that it was connected with. */
  connects: string[] = [];
  requests: string[] = [];
  down: Error | undefined;
  unauthorized = false;
  unserved = false;
  hang = false;
  streams: { send(event: object): void; end(error?: Error): void; path: string; closed: boolean }[] = [];

  connect(kubeconfig: string): Transport {
    this.connects.push(kubeconfig);
    const own = new Set<(error: Error) => void>();
    return {
      server: "https://fake",
      request: (request) => {
        this.requests.push(`${request.method} ${request.path.split("?")[0]} ${kubeconfig}`);
        if (this.down) return Promise.reject(this.down);
        if (this.hang) {
          return new Promise((_resolve, reject) => {
            own.add(reject);
            request.signal?.addEventListener("abort", () => reject(request.signal!.reason));
          });
        }
        if (this.unauthorized) return Promise.resolve(answer(401, { kind: "Status", apiVersion: "v1", code: 401 }));
        if (this.unserved && request.path.includes("/configmaps")) {
          const page: TransportResponse = { ...answer(404, {}), text: () => Promise.resolve("404 page not found\n") };
          return Promise.resolve(page);
        }
        if (request.path.includes("watch=true")) {
          return Promise.resolve(this.#stream(request.path, request.signal, own));
        }
        if (request.path === "/version") return Promise.resolve(answer(200, { gitVersion: "v1.36.3" }));
        if (request.path === "/api") {
          const resources = [{ resource: "configmaps", responseKind: { kind: "ConfigMap" }, scope: "Namespaced" }];
          return Promise.resolve(answer(200, {
            kind: "APIGroupDiscoveryList",
            items: [{ metadata: {}, versions: [{ version: "v1", resources }] }],
          }));
        }
        if (request.path === "/apis") return Promise.resolve(answer(200, { kind: "APIGroupDiscoveryList", items: [] }));
        return Promise.resolve(answer(200, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } }));
      },
      close() {
        for (const fail of [...own]) fail(new TransportError("closed"));
      },
    };
  }

  #stream(path: string, signal: AbortSignal | undefined, own: Set<(error: Error) => void>): TransportResponse {
    const queue: string[] = [];
    let end: { error?: Error } | undefined;
    let wake = () => {};
    const stream = {
      path,
      closed: false,
      send: (event: object) => {
        queue.push(JSON.stringify(event));
        wake();
      },
      end: (error?: Error) => {
        end = error ? { error } : {};
        wake();
      },
    };
    this.streams.push(stream);
    own.add(stream.end);
    signal?.addEventListener("abort", () => stream.end(signal.reason), { once: true });
    return {
      status: 200,
      headers: {},
      text: () => Promise.resolve(""),
      async *lines() {
        try {
          for (;;) {
            while (queue.length > 0) yield queue.shift()!;
            if (end?.error) throw end.error;
            if (end) return;
            await new Promise<void>((resolve) => wake = resolve);
          }
        } finally {
          stream.closed = true;
          own.delete(stream.end);
        }
      },
    };
  }
}

function answer(status: number, body: object): TransportResponse {
  return {
    status,
    headers: {},
    text: () => Promise.resolve(JSON.stringify(body)),
    lines: () => {
      throw new Error("not a stream");
    },
  };
}

function world(options: Partial<TargetsOptions> = {}) {
  const clock = new FakeClock();
  const hub = tinyServer();
  const fake = new FakeCluster();
  const abort = new AbortController();
  const handlers = new Set<InformerHandler<KubeObject>>();
  const clusters = new Map<string, Cluster>();
  const informer = {
    synced: true,
    get: (key: string) => clusters.get(key),
    addHandler(handler: InformerHandler<KubeObject>) {
      handlers.add(handler);
      return () => void handlers.delete(handler);
    },
    whenSynced: () => Promise.resolve(),
  } as unknown as Informer<KubeObject>;
  // No list and watch of Secrets here: as in a process that may only get them.
  hub.client.watch = () => Promise.reject(new TransportError("no watch"));
  hub.client.list = () => Promise.reject(new TransportError("no list"));
  const logger = captureLogger();
  const targets = createTargets({
    client: hub.client,
    informers: { for: () => informer } as unknown as InformerFactory,
    clock,
    logger,
    signal: abort.signal,
    connect(kubeconfig, label) {
      if (kubeconfig.startsWith("bad")) throw new KubeconfigError(`Cannot use the kubeconfig in ${label}: no`);
      return fake.connect(kubeconfig);
    },
    connectInCluster: () => fake.connect("in-cluster"),
    ...options,
  });
  const told: string[] = [];
  targets.onChange((key, reachable) => told.push(`${key} ${reachable}`));
  let generation = 0;
  const set = (name: string, spec: Partial<Cluster["spec"]> = {}) => {
    const key = `fleet/${name}`;
    const old = clusters.get(key);
    const cluster = {
      apiVersion: "convoy.kumodo.io/v1alpha1",
      kind: "Cluster",
      metadata: { namespace: "fleet", name, uid: name, generation: ++generation, resourceVersion: String(generation) },
      spec: { kubeconfigSecretRef: { name: `${name}-kubeconfig`, key: "kubeconfig" }, ...spec },
    } as Cluster;
    clusters.set(key, cluster);
    for (const h of handlers) old ? h.onUpdate?.(old, cluster) : h.onAdd?.(cluster);
    return cluster;
  };
  const secret = (name: string, data: Record<string, string>) =>
    hub.objects.set(`secrets/fleet/${name}-kubeconfig`, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "fleet", name: `${name}-kubeconfig`, resourceVersion: String(Math.random()) },
      data: Object.fromEntries(Object.entries(data).map(([k, v]) => [k, btoa(v)])),
    } as Secret);
  return {
    clock,
    hub,
    fake,
    targets,
    told,
    set,
    secret,
    logger,
    drop(name: string) {
      const cluster = clusters.get(`fleet/${name}`)!;
      clusters.delete(`fleet/${name}`);
      for (const h of handlers) h.onDelete?.(cluster);
    },
    async end() {
      abort.abort();
      await clock.advance(0);
      assert.equal(clock.pending, 0, "timers left");
      assert(fake.streams.every((s) => s.closed), "streams left");
    },
  };
}

const get = { name: "x", namespace: "n" };

Deno.test("createTargets(): one connection a cluster, made at the first use", async () => {
  const w = world();
  w.set("prod");
  w.secret("prod", { kubeconfig: "k1" });
  assert.deepEqual(w.fake.connects, []);
  const target = await w.targets.get("fleet", "prod");
  assert.equal(target.key, "fleet/prod");
  await target.client.get(MAPS, get);
  assert.equal(await w.targets.get("fleet", "prod"), target);
  assert.deepEqual(w.fake.connects, ["k1"]);
  assert.equal((await target.resourceFor({ group: "", kind: "ConfigMap" }))?.plural, "configmaps");
  assert.equal(await target.resourceFor({ group: "", kind: "Nothing" }), undefined);
  await w.end();
});

Deno.test("createTargets(): spec.inCluster needs no Secret", async () => {
  const w = world();
  w.set("self", { inCluster: true });
  await (await w.targets.get("fleet", "self")).client.get(MAPS, get);
  assert.deepEqual(w.fake.connects, ["in-cluster"]);
  await w.end();
});

const BROKEN: [string, (w: ReturnType<typeof world>) => void, string, RegExp][] = [
  ["a Cluster that does not exist", () => {}, "ClusterNotFound", /Cluster fleet\/prod does not exist; create it/],
  ["a suspended Cluster", (w) => w.set("prod", { suspend: true }), "Suspended", /unset spec.suspend/],
  [
    "a Cluster without a Secret's name",
    (w) => w.set("prod", { kubeconfigSecretRef: undefined } as never),
    "ClusterUnreachable",
    /set spec.kubeconfigSecretRef.name/,
  ],
  [
    "a missing Secret",
    (w) => w.set("prod"),
    "ClusterUnreachable",
    /Secret fleet\/prod-kubeconfig does not exist; create it with a kubeconfig under key "kubeconfig"/,
  ],
  [
    "a Secret without the key",
    (w) => {
      w.set("prod");
      w.secret("prod", { value: "s3cr3t" });
    },
    "ClusterUnreachable",
    /has no key "kubeconfig" \(it has "value"\).*spec.kubeconfigSecretRef.key/,
  ],
  [
    "a kubeconfig that is none",
    (w) => {
      w.set("prod");
      w.secret("prod", { kubeconfig: "bad s3cr3t" });
    },
    "ClusterUnreachable",
    /Cannot use the kubeconfig in Secret fleet\/prod-kubeconfig, key "kubeconfig"/,
  ],
];
for (const [name, arrange, reason, message] of BROKEN) {
  Deno.test(`createTargets(): ${name} gives ${reason} and names the mend`, async () => {
    const w = world();
    arrange(w);
    await assert.rejects(w.targets.get("fleet", "prod"), (error: unknown) => {
      assert(error instanceof TargetError, String(error));
      assert.equal(error.reason, reason);
      assert.match(error.message, message);
      assert(!error.message.includes("s3cr3t"));
      return true;
    });
    assert.deepEqual(w.fake.connects, []);
    await w.end();
  });
}

Deno.test("createTargets(): the real kubeconfig reader is used, and quotes nothing", async () => {
  const w = world({ connect: undefined } as never);
  w.set("prod");
  w.secret("prod", { kubeconfig: "token: s3cr3t" });
  await assert.rejects(w.targets.get("fleet", "prod"), (error: Error) => {
    return /Secret fleet\/prod-kubeconfig, key "kubeconfig": it has no list "clusters"/.test(error.message) &&
      !error.message.includes("s3cr3t");
  });
  await w.end();
});

Deno.test("createTargets(): a Secret that is mended counts, with a word to those who wait", async () => {
  const w = world();
  w.set("prod");
  await assert.rejects(w.targets.get("fleet", "prod"));
  w.secret("prod", { kubeconfig: "k1" });
  await w.clock.advance(30_001);
  w.told.length = 0;
  await w.targets.get("fleet", "prod");
  assert.deepEqual(w.told, ["fleet/prod true"]);
  await w.end();
});

Deno.test("createTargets(): rotated credentials are used without a restart; the target stays the same", async () => {
  const w = world();
  w.set("prod");
  w.secret("prod", { kubeconfig: "k1" });
  const target = await w.targets.get("fleet", "prod");
  await target.client.get(MAPS, get);
  w.secret("prod", { kubeconfig: "k2" });
  await w.clock.advance(30_001);
  await target.client.get(MAPS, get);
  assert.deepEqual(w.fake.connects, ["k1", "k2"]);
  // A 401 makes it look at once.
  w.secret("prod", { kubeconfig: "k3" });
  w.fake.unauthorized = true;
  await assert.rejects(target.client.get(MAPS, get), { code: 401 });
  w.fake.unauthorized = false;
  await target.client.get(MAPS, get);
  assert.deepEqual(w.fake.connects, ["k1", "k2", "k3"]);
  await w.end();
});

Deno.test("createTargets(): a changed spec counts at once, equal settings keep the connection", async () => {
  const w = world();
  w.set("prod");
  w.secret("prod", { kubeconfig: "k1" });
  const target = await w.targets.get("fleet", "prod");
  w.set("prod");
  await target.client.get(MAPS, get);
  assert.equal(w.fake.connects.length, 1);
  w.set("prod", { qps: 5, burst: 5 });
  await target.client.get(MAPS, get);
  assert.equal(w.fake.connects.length, 2);
  w.set("prod", { suspend: true });
  await assert.rejects(target.client.get(MAPS, get), { reason: "Suspended" });
  w.drop("prod");
  await assert.rejects(target.client.get(MAPS, get), { reason: "ClusterNotFound" });
  assert.equal(w.told.at(-1), "fleet/prod false");
  await w.end();
});

Deno.test("createTargets(): while Convoy's own API server is away, known targets go on", async () => {
  const w = world();
  w.set("prod");
  w.secret("prod", { kubeconfig: "k1" });
  const target = await w.targets.get("fleet", "prod");
  w.hub.down = new TransportError("hub down");
  await w.clock.advance(60_000);
  await target.client.get(MAPS, get);
  await w.end();
});

Deno.test("createTargets(): after three calls without an answer calls fail at once; a probe finds it back", async () => {
  const w = world();
  w.set("prod");
  w.secret("prod", { kubeconfig: "k1" });
  const target = await w.targets.get("fleet", "prod");
  w.told.length = 0;
  w.fake.down = new TransportError("Cannot reach https://fake: refused");
  for (let i = 0; i < 3; i++) await assert.rejects(target.client.get(MAPS, get), { reason: "ClusterUnreachable" });
  const before = w.fake.requests.length;
  await assert.rejects(target.client.get(MAPS, get), (error: unknown) => {
    assert(error instanceof TargetError);
    assert.match(error.message, /^Cluster fleet\/prod cannot be reached: .*refused \(next try in \d+ s\)$/);
    return true;
  });
  assert.equal(w.fake.requests.length, before, "a call went out although the breaker is open");
  assert.deepEqual(w.told, ["fleet/prod false"]);
  w.fake.down = undefined;
  await w.clock.advance(2_000);
  assert.deepEqual(w.told, ["fleet/prod false", "fleet/prod true"]);
  await target.client.get(MAPS, get);
  await w.end();
});

Deno.test("createTargets(): refusals by the server open nothing", async () => {
  const w = world();
  w.set("prod");
  w.secret("prod", { kubeconfig: "k1" });
  const target = await w.targets.get("fleet", "prod");
  w.fake.unauthorized = true;
  for (let i = 0; i < 10; i++) await assert.rejects(target.client.get(MAPS, get), { code: 401 });
  assert.equal(w.told.includes("fleet/prod false"), false);
  await w.end();
});

Deno.test("createTargets(): a slow cluster holds so many calls, and those that wait fail when it is given up", async () => {
  const w = world({ maxInFlight: 4, requestTimeoutMs: 10_000 });
  w.set("prod");
  w.secret("prod", { kubeconfig: "k1" });
  const target = await w.targets.get("fleet", "prod");
  w.fake.hang = true;
  const calls = Array.from({ length: 20 }, () => target.client.get(MAPS, get).then(() => "ok", (e) => e.reason));
  await w.clock.advance(0);
  assert.equal(w.fake.requests.length, 4);
  // Two that waited got the places of the first two that failed.
  await w.clock.advance(20_000);
  assert.equal(w.fake.requests.filter((r) => !r.includes("/version")).length, 6);
  assert.deepEqual(await Promise.all(calls), Array(20).fill("ClusterUnreachable"));
  await w.end();
});

const mapEvent = (type: string, name: string, resourceVersion: string) => ({
  type,
  object: {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "n", name, uid: name, resourceVersion, managedFields: [{}] },
  },
});
const initialEnd = (resourceVersion: string) => ({
  type: "BOOKMARK",
  object: {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { resourceVersion, annotations: { "k8s.io/initial-events-end": "true" } },
  },
});

function listener() {
  const log: string[] = [];
  return {
    log,
    handler: {
      onChange: (o: KubeObject, old?: KubeObject) => log.push(`${old ? "~" : "+"}${o.metadata.name}`),
      onDelete: (o: KubeObject) => log.push(`-${o.metadata.name}`),
      onSynced: () => log.push("synced"),
      onLost: (error: Error) => log.push(`lost: ${error.message}`),
    },
  };
}

async function watching(options: Partial<TargetsOptions> = {}) {
  const w = world(options);
  w.set("prod");
  w.secret("prod", { kubeconfig: "k1" });
  const target = await w.targets.get("fleet", "prod");
  const first = listener();
  const remove = target.watch(MAPS, first.handler);
  await w.clock.advance(0);
  const stream = w.fake.streams[0]!;
  return { ...w, target, first, remove, stream };
}

Deno.test("Target.watch(): one watch by the owner's label for all handlers; a late one is told of what is there", async () => {
  const w = await watching();
  const query = new URL(`http://x${w.stream.path}`).searchParams;
  assert.equal(query.get("labelSelector"), OWNER_LABEL);
  assert.throws(() => w.target.cached(MAPS, "n/a"), { reason: "ClusterUnreachable" });
  w.stream.send(mapEvent("ADDED", "a", "1"));
  w.stream.send(initialEnd("5"));
  await w.clock.advance(0);
  assert.deepEqual(w.first.log, ["+a", "synced"]);
  const second = listener();
  const removeSecond = w.target.watch(MAPS, second.handler);
  assert.deepEqual(second.log, ["+a", "synced"]);
  w.stream.send(mapEvent("MODIFIED", "a", "6"));
  w.stream.send(mapEvent("DELETED", "a", "7"));
  await w.clock.advance(0);
  assert.deepEqual(w.first.log.slice(2), ["~a", "-a"]);
  assert.deepEqual(second.log.slice(2), ["~a", "-a"]);
  removeSecond();
  w.stream.send(mapEvent("ADDED", "b", "8"));
  await w.clock.advance(0);
  assert.equal(second.log.length, 4);
  assert.equal(w.target.cached(MAPS, "n/b")?.metadata.resourceVersion, "8");
  assert.equal(w.target.cached(MAPS, "n/b")?.metadata.managedFields, undefined);
  assert.equal(w.target.cached(MAPS, "n/none"), undefined);
  assert.equal(w.fake.streams.length, 1);
  await w.end();
});

Deno.test("Target.watch(): it ends some time after the last handler left, and not when one comes back", async () => {
  const w = await watching({ idleMs: 10_000 });
  w.stream.send(initialEnd("5"));
  await w.clock.advance(0);
  w.remove();
  w.remove();
  await w.clock.advance(9_000);
  const back = listener();
  const removeBack = w.target.watch(MAPS, back.handler);
  await w.clock.advance(60_000);
  assert.equal(w.stream.closed, false);
  removeBack();
  await w.clock.advance(10_000);
  assert.equal(w.stream.closed, true);
  assert.throws(() => w.target.cached(MAPS, "n/a"), /are not watched/);
  await w.end();
});

Deno.test("Target.watch(): a break that mends soon is not told; one that lasts is, and its end too", async () => {
  const w = await watching();
  w.stream.send(mapEvent("ADDED", "a", "1"));
  w.stream.send(initialEnd("5"));
  await w.clock.advance(0);
  w.first.log.length = 0;
  w.stream.end(new TransportError("reset"));
  await w.clock.advance(4_000);
  assert.equal(w.fake.streams.length, 2);
  assert.deepEqual(w.first.log, []);
  w.fake.down = new TransportError("Cannot reach https://fake: refused");
  w.fake.streams[1]!.end(new TransportError("reset"));
  await w.clock.advance(6_000);
  assert.equal(w.first.log.length, 1);
  assert.match(w.first.log[0]!, /^lost: /);
  assert.throws(() => w.target.cached(MAPS, "n/a"), { reason: "ClusterUnreachable" });
  await w.clock.advance(120_000);
  assert.equal(w.first.log.length, 1);
  w.fake.down = undefined;
  await w.clock.advance(100_000);
  assert.equal(w.first.log[1], "synced");
  assert.equal(w.target.cached(MAPS, "n/a")?.metadata.name, "a");
  await w.end();
});

Deno.test("Target.watch(): while a cluster is down only its probes go out", async () => {
  const w = await watching();
  w.stream.send(initialEnd("5"));
  await w.clock.advance(0);
  w.fake.down = new TransportError("refused");
  w.stream.end(new TransportError("reset"));
  await w.clock.advance(60_000);
  w.fake.requests.length = 0;
  await w.clock.advance(600_000);
  assert(w.fake.requests.length >= 5 && w.fake.requests.length <= 12, `${w.fake.requests.length} requests`);
  assert(w.fake.requests.every((r) => r.startsWith("GET /version ")));
  await w.end();
});

Deno.test("Target.watch(): a kind that is not served has no objects, and is seen when it comes back", async () => {
  const w = await watching();
  w.stream.send(mapEvent("ADDED", "a", "1"));
  w.stream.send(initialEnd("5"));
  await w.clock.advance(0);
  w.first.log.length = 0;
  w.fake.unserved = true;
  w.stream.end();
  // In steps: between two timers lie more promises than the clock waits for in one.
  for (let i = 0; i < 20; i++) await w.clock.advance(500);
  assert.deepEqual(w.first.log, ["-a"]);
  assert.equal(w.target.cached(MAPS, "n/a"), undefined);
  w.fake.requests.length = 0;
  for (let i = 0; i < 300; i++) await w.clock.advance(1_000);
  assert(
    w.fake.requests.length >= 5 && w.fake.requests.length <= 12,
    `${w.fake.requests.length} requests for a kind that is not there`,
  );
  assert.deepEqual(w.first.log, ["-a"]);
  w.fake.unserved = false;
  for (let i = 0; i < 40 && w.fake.streams.length === 1; i++) await w.clock.advance(1_000);
  const stream = w.fake.streams.at(-1)!;
  stream.send(mapEvent("ADDED", "a", "90"));
  stream.send(initialEnd("91"));
  await w.clock.advance(0);
  assert.deepEqual(w.first.log, ["-a", "+a"]);
  await w.end();
});

Deno.test("Target.watch(): the deletion of the Cluster is told as lost", async () => {
  const w = await watching();
  w.stream.send(initialEnd("5"));
  await w.clock.advance(0);
  w.fake.requests.length = 0;
  w.drop("prod");
  assert.match(w.first.log.at(-1)!, /lost: Cluster fleet\/prod does not exist/);
  await w.clock.advance(60_000);
  assert.deepEqual(w.fake.requests, []);
  await w.end();
});

Deno.test("Targets.probe() tells version and resources, takes a new Secret at once, and closes the breaker", async () => {
  const w = world();
  const cluster = w.set("prod");
  w.secret("prod", { kubeconfig: "k1" });
  assert.deepEqual(await w.targets.probe(cluster), { version: "v1.36.3", resources: 1 });
  w.secret("prod", { kubeconfig: "k2" });
  await w.targets.probe(cluster);
  assert.deepEqual(w.fake.connects, ["k1", "k2"]);
  w.fake.down = new TransportError("Cannot reach https://fake: refused");
  for (let i = 0; i < 3; i++) await assert.rejects(w.targets.probe(cluster), { reason: "ClusterUnreachable" });
  const target = await w.targets.get("fleet", "prod");
  await assert.rejects(target.client.get(MAPS, get), /next try in/);
  w.fake.down = undefined;
  await w.targets.probe(cluster);
  await target.client.get(MAPS, get);
  w.fake.unauthorized = true;
  await assert.rejects(w.targets.probe(cluster), /the server refused the credentials \(401 .*renew the kubeconfig/);
  await assert.rejects(w.targets.probe(w.set("prod", { suspend: true })), { reason: "Suspended" });
  await w.end();
});

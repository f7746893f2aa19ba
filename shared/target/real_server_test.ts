/** Targets with a real hub and a real target server, in one process. */
import assert from "node:assert/strict";
import { type Cluster, CLUSTERS, kindDefinitions, type Secret, SECRETS } from "../api/mod.ts";
import { builtinKinds } from "../facts/mod.ts";
import {
  createInformerFactory,
  createKubeClient,
  inProcessTransport,
  type KubeClient,
  type KubeObject,
  type Resource,
  type Transport,
  TransportError,
} from "../kube/mod.ts";
import { silentLogger, systemClock } from "../runtime/mod.ts";
import { createApiHandler } from "../server/mod.ts";
import { MemoryStorage } from "../server/storage/mod.ts";
import { eventually } from "../testing/mod.ts";
import { createTargets, OWNER_LABEL, type Targets, withOwnerMark } from "./mod.ts";

const MAPS: Resource = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };
const ADMIN = { name: "admin", groups: ["system:masters"] };
const release: KubeObject = {
  apiVersion: "convoy.kumodo.io/v1alpha1",
  kind: "Release",
  metadata: { namespace: "team", name: "shop", uid: "11111111-1111-1111-1111-111111111111" },
};

interface World {
  hub: KubeClient;
  inside: KubeClient;
  targets: Targets;
  told: string[];
  /** Kubeconfigs that were used. */
  connects: string[];
  /** Cuts the target off, or gives it back. */
  cut(off: boolean): void;
  /** Requests to the target other than watches. */
  requests: string[];
  close(): Promise<void>;
}

function world(): World {
  const stores = [new MemoryStorage(), new MemoryStorage()] as const;
  const core = builtinKinds(({ group, kind }) => group === "" && ["ConfigMap", "Secret"].includes(kind));
  const hubServer = createApiHandler({ kinds: [...core, ...kindDefinitions()], storage: stores[0] });
  const targetServer = createApiHandler({ kinds: core, storage: stores[1] });
  const hub = createKubeClient(inProcessTransport(hubServer, ADMIN));
  const inside = createKubeClient(inProcessTransport(targetServer, ADMIN));
  const abort = new AbortController();
  const informers = createInformerFactory({
    client: hub,
    clock: systemClock,
    logger: silentLogger,
    signal: abort.signal,
    freeze: true,
  });
  const connects: string[] = [];
  const requests: string[] = [];
  const told: string[] = [];
  let off = false;
  const links = new Set<Transport>();
  const targets = createTargets({
    client: hub,
    informers,
    clock: systemClock,
    logger: silentLogger,
    signal: abort.signal,
    lostGraceMs: 50,
    connect(kubeconfig) {
      connects.push(kubeconfig);
      let link = inProcessTransport(targetServer, ADMIN);
      links.add(link);
      return {
        async request(request) {
          if (!request.path.includes("watch=true")) requests.push(`${request.method} ${request.path}`);
          if (off) throw new TransportError("Cannot reach https://target: refused");
          if (!links.has(link)) links.add(link = inProcessTransport(targetServer, ADMIN));
          return await link.request(request);
        },
        close: () => link.close(),
      };
    },
  });
  targets.onChange((key, reachable) => told.push(`${key} ${reachable}`));
  return {
    hub,
    inside,
    targets,
    told,
    connects,
    requests,
    cut(value) {
      off = value;
      if (!off) return;
      for (const link of links) link.close();
      links.clear();
    },
    async close() {
      abort.abort();
      await informers.done;
      hub.close();
      inside.close();
      for (const server of [hubServer, targetServer]) await server.close();
      for (const store of stores) await store.close();
    },
  };
}

const secret = (kubeconfig: string): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { namespace: "fleet", name: "prod" },
  stringData: { kubeconfig },
});
const cluster = {
  apiVersion: "convoy.kumodo.io/v1alpha1",
  kind: "Cluster",
  metadata: { namespace: "fleet", name: "prod" },
  spec: { kubeconfigSecretRef: { name: "prod" } },
} as Cluster;
const map = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "n", name } });

Deno.test("createTargets() with real servers: a Secret that comes late, and one that is rotated, count at once", async () => {
  const w = world();
  try {
    await w.hub.create(CLUSTERS, cluster);
    await eventually(() => w.told.includes("fleet/prod true"));
    await assert.rejects(w.targets.get("fleet", "prod"), /Secret fleet\/prod does not exist/);
    w.told.length = 0;
    const made = await w.hub.create(SECRETS, secret("one"));
    await eventually(() => w.told.includes("fleet/prod true"), { on: "the word that the Secret is there" });
    const target = await w.targets.get("fleet", "prod");
    assert.equal((await target.resourceFor({ group: "", kind: "ConfigMap" }))?.plural, "configmaps");
    await w.hub.update(SECRETS, { ...made, ...secret("two"), metadata: made.metadata });
    await eventually(async () => {
      await target.client.list(MAPS);
      return w.connects.includes("two");
    }, { on: "the rotated kubeconfig to be used" });
    assert.deepEqual(w.connects, ["one", "two"]);
    const { version } = await w.targets.probe(await w.hub.get(CLUSTERS, { namespace: "fleet", name: "prod" }));
    assert.match(version, /^v\d/);
  } finally {
    await w.close();
  }
});

Deno.test("Target.watch() with real servers: only marked objects; the cache is right again after a cut", async () => {
  const w = world();
  try {
    await w.hub.create(SECRETS, secret("one"));
    await w.hub.create(CLUSTERS, cluster);
    await eventually(() => w.targets.get("fleet", "prod"));
    const target = await w.targets.get("fleet", "prod");
    await w.inside.create(MAPS, map("unmarked"));
    await w.inside.create(MAPS, withOwnerMark(map("a"), release));
    const log: string[] = [];
    const remove = target.watch(MAPS, {
      onChange: (o, old) => log.push(`${old ? "~" : "+"}${o.metadata.name}`),
      onDelete: (o) => log.push(`-${o.metadata.name}`),
      onSynced: () => log.push("synced"),
      onLost: () => log.push("lost"),
    });
    const expect = async (...lines: string[]) => {
      await eventually(() => log.length >= lines.length, { on: lines.join(" ") });
      assert.deepEqual(log.splice(0), lines);
    };
    await expect("+a", "synced");
    assert.equal(target.cached(MAPS, "n/a")?.metadata.labels?.[OWNER_LABEL], release.metadata.uid);
    // Steady: nothing but the watch goes to the target.
    w.requests.length = 0;
    await w.inside.create(MAPS, withOwnerMark(map("b"), release));
    await expect("+b");
    assert.deepEqual(w.requests, []);

    w.told.length = 0;
    w.cut(true);
    for (let i = 0; i < 3; i++) await assert.rejects(target.client.list(MAPS), { reason: "ClusterUnreachable" });
    await expect("lost");
    assert.throws(() => target.cached(MAPS, "n/a"), { reason: "ClusterUnreachable" });
    assert.deepEqual(w.told, ["fleet/prod false"]);
    await w.inside.delete(MAPS, { namespace: "n", name: "a" });
    w.cut(false);
    await expect("synced", "-a");
    assert.deepEqual(w.told, ["fleet/prod false", "fleet/prod true"]);
    assert.equal(target.cached(MAPS, "n/a"), undefined);
    remove();
  } finally {
    await w.close();
  }
});

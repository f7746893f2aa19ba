/**
 * What the rule tests stand on: Convoy's real API server on memory storage in this process, real informers, writers and
 * roles, and simulated clusters without sockets. Sources are played by the test.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { servedKinds } from "../../apiserver/kinds.ts";
import { releaseRole } from "../../controllers/release/mod.ts";
import {
  API_VERSION,
  type Cluster,
  CLUSTERS,
  GIT_REPOSITORIES,
  type GitRepository,
  NAMESPACES,
  type Release,
  RELEASE_INVENTORIES,
  type ReleaseInventory,
  RELEASES,
  SECRETS,
} from "../../shared/api/mod.ts";
import { ArtifactError, type ArtifactFile, type ArtifactStore } from "../../shared/artifact/mod.ts";
import {
  type Condition,
  createInformerFactory,
  createKubeClient,
  inProcessTransport,
  type KubeClient,
  type KubeObject,
  type Resource,
  type Transport,
  TransportError,
} from "../../shared/kube/mod.ts";
import { createMetrics, type Role, type RoleContext, silentLogger, systemClock } from "../../shared/runtime/mod.ts";
import { type ApiServer, createApiHandler, type UserInfo } from "../../shared/server/mod.ts";
import { MemoryStorage } from "../../shared/server/storage/mod.ts";
import { createTargets } from "../../shared/target/mod.ts";
import { eventually } from "../../shared/testing/mod.ts";
import { SimCluster } from "../../simcluster/cluster.ts";

/** Namespace of Convoy's objects in tests. */
export const NS = "default";
const ADMIN: UserInfo = { name: "test", groups: ["system:masters"] };

/** A request that reached a server, as `METHOD path`. */
export type RequestLog = string[];

/** Convoy's API server in this process. */
export class Server {
  readonly storage = new MemoryStorage();
  readonly api: ApiServer = createApiHandler({ kinds: servedKinds(), storage: this.storage });
  readonly client = createKubeClient(inProcessTransport(this.api, ADMIN));
  readonly log: RequestLog = [];

  /** A server with the namespace of the tests. */
  static async start(): Promise<Server> {
    const server = new Server();
    await server.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: NS } });
    return server;
  }

  /** A client whose writes are logged. */
  loggedClient(user: UserInfo = ADMIN): KubeClient {
    return createKubeClient(logged(inProcessTransport(this.api, user), this.log));
  }

  async release(name: string): Promise<Release> {
    return await this.client.get<Release>(RELEASES, { namespace: NS, name });
  }

  async inventory(name: string): Promise<ReleaseInventory> {
    return await this.client.get<ReleaseInventory>(RELEASE_INVENTORIES, { namespace: NS, name });
  }

  async apply<T extends KubeObject>(resource: Resource, object: object): Promise<T> {
    return await this.client.apply<T>(resource, object as KubeObject, { fieldManager: "test", force: true });
  }

  /** A Release as a user makes it. */
  async addRelease(name: string, spec: object = {}): Promise<Release> {
    return await this.apply<Release>(RELEASES, {
      apiVersion: API_VERSION,
      kind: "Release",
      metadata: { name, namespace: NS },
      spec: { cluster: { name: "c1" }, source: { git: { repository: "apps", path: name } }, ...spec },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.close();
    await this.api.close();
    await this.storage.close();
  }
}

function logged(transport: Transport, log: RequestLog): Transport {
  return {
    ...transport,
    request: (r) => {
      log.push(`${r.method} ${r.path}`);
      return transport.request(r);
    },
    close: () => transport.close(),
  };
}

/** Artifacts that the test made up: digest → path → text. */
export class FakeArtifacts implements ArtifactStore {
  readonly trees = new Map<string, Record<string, string>>();

  add(files: Record<string, string>): string {
    const digest = `sha256:${createHash("sha256").update(JSON.stringify(files)).digest("hex")}`;
    this.trees.set(digest, files);
    return digest;
  }
  has(digest: string): Promise<boolean> {
    return Promise.resolve(this.trees.has(digest));
  }
  put(): Promise<string> {
    return Promise.reject(new Error("not used here"));
  }
  putEntries(): Promise<string> {
    return Promise.reject(new Error("not used here"));
  }
  files(ref: { digest: string }, path: string): Promise<ArtifactFile[]> {
    const tree = this.trees.get(ref.digest);
    if (!tree) return Promise.reject(new ArtifactError("NotFound", `No artifact ${ref.digest}`));
    const under = Object.entries(tree).filter(([file]) => path === "." || file.startsWith(`${path}/`));
    if (under.length === 0) return Promise.reject(new ArtifactError("NotFound", `No folder ${path}`));
    const encoder = new TextEncoder();
    return Promise.resolve(
      under.map(([file, text]) => ({ path: file, read: () => Promise.resolve(encoder.encode(text)) })),
    );
  }
  prune(): Promise<void> {
    return Promise.resolve();
  }
}

/** A whole set-up: server, simulated clusters, roles. */
export class World {
  readonly artifacts = new FakeArtifacts();
  readonly events: string[] = [];
  /** Requests to targets other than reads of version and discovery, by cluster. */
  readonly targetLog = new Map<string, RequestLog>();
  readonly #sims = new Map<string, SimCluster>();
  readonly #roles: { abort: AbortController; done: Promise<unknown> }[] = [];
  #revision = 0;

  private constructor(readonly server: Server) {}

  /** Starts with simulated clusters of those names, each with its Cluster object. */
  static async start(clusters: string[] = ["c1"]): Promise<World> {
    const world = new World(await Server.start());
    for (const name of clusters) await world.addCluster(name);
    return world;
  }

  sim(name = "c1"): SimCluster {
    return this.#sims.get(name)!;
  }

  /** The hand of the test on a cluster. */
  async target(name = "c1"): Promise<KubeClient> {
    return await this.sim(name).client();
  }

  async addCluster(name: string): Promise<void> {
    this.#sims.set(
      name,
      new SimCluster({
        name,
        clock: systemClock,
        logger: silentLogger,
        delays: { ready: 10, job: 10, bind: 5, address: 5 },
        children: false,
        nodes: 1,
        kubeconfig: () => `sim:${name}`,
      }),
    );
    this.targetLog.set(name, []);
    await this.server.apply(SECRETS, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: `${name}-kubeconfig`, namespace: NS },
      stringData: { kubeconfig: `sim:${name}` },
    });
    await this.server.apply<Cluster>(CLUSTERS, {
      apiVersion: API_VERSION,
      kind: "Cluster",
      metadata: { name, namespace: NS },
      spec: { kubeconfigSecretRef: { name: `${name}-kubeconfig` } },
    });
  }

  /** Runs roles as one process does; returns what kills it (no clean end is waited for). */
  run(roles: Role[] = [releaseRole], options: { client?: KubeClient } = {}): () => void {
    const abort = new AbortController();
    const { signal } = abort;
    const client = options.client ?? this.server.loggedClient();
    const informers = createInformerFactory({
      client,
      clock: systemClock,
      logger: silentLogger,
      signal,
      freeze: true,
    });
    const metrics = createMetrics({ process: false });
    const targets = createTargets({
      client,
      informers,
      clock: systemClock,
      logger: silentLogger,
      signal,
      connect: (kubeconfig) => this.#connect(kubeconfig.replace(/^sim:/, "")),
    });
    const context: RoleContext = {
      client,
      informers,
      targets,
      artifacts: this.artifacts,
      events: {
        event: (about, type, reason, message) =>
          this.events.push([about.metadata.name, type, reason, message].join(" ")),
      },
      clock: systemClock,
      logger: silentLogger,
      metrics,
      signal,
      options: {
        dataDir: "",
        resyncMs: 600_000,
        workers: 4,
        workersPerCluster: 2,
        identity: "test",
        healthWriteMs: 20,
        driftSweepMs: 600_000,
        allowExecPlugins: false,
      },
    };
    const running = roles.map((role) => role.run(context));
    const done = Promise.allSettled([...running, informers.done]).then(() => {
      targets.close();
      client.close();
    });
    this.#roles.push({ abort, done });
    return () => abort.abort();
  }

  #connect(name: string): Transport {
    const sim = this.#sims.get(name);
    if (!sim) throw new TypeError(`no such cluster: ${name}`);
    const log = this.targetLog.get(name)!;
    const handle: ApiServer["handle"] = async (request) => {
      const as = request.headers["impersonate-user"];
      const user = as ? { name: as, groups: ["system:authenticated"] } : ADMIN;
      try {
        return await sim.handle({ ...request, user });
      } catch (error) {
        throw new TransportError(`Cannot reach ${name}: ${(error as Error).message}`);
      }
    };
    const inner = inProcessTransport({ handle, close: () => Promise.resolve() }, ADMIN);
    return {
      ...inner,
      request(r) {
        const as = r.headers?.["impersonate-user"] ?? r.headers?.["Impersonate-User"];
        if (!/^\/(version|apis?|openapi)\b[^?]*$/.test(r.path) || r.path.split("/").length > 4) {
          if (!/[?&]watch=/.test(r.path)) log.push(`${r.method} ${r.path}${as ? ` as ${as}` : ""}`);
        }
        return inner.request(r);
      },
      close: () => inner.close(),
    };
  }

  /** A new revision of the GitRepository `apps`, as its controller would report it. */
  async push(files: Record<string, string>, name = "apps"): Promise<string> {
    const digest = this.artifacts.add(files);
    const revision = `main@sha1:${String(++this.#revision).padStart(4, "0")}`;
    await this.source(
      name,
      { artifact: { digest, revision, lastUpdateTime: "2026-01-01T00:00:00Z" } },
      "True",
      "Fetched",
      revision,
    );
    return revision;
  }

  /** Sets a GitRepository's status. */
  async source(name: string, status: object, ready: string, reason: string, message: string): Promise<void> {
    const created = await this.server.apply<GitRepository>(GIT_REPOSITORIES, {
      apiVersion: API_VERSION,
      kind: "GitRepository",
      metadata: { name, namespace: NS },
      spec: { url: "https://example.test/apps.git" },
    });
    await this.server.client.update(GIT_REPOSITORIES, {
      ...created,
      status: {
        ...created.status,
        ...status,
        observedGeneration: created.metadata.generation,
        conditions: [{
          type: "Ready",
          status: ready,
          reason,
          message,
          observedGeneration: created.metadata.generation,
          lastTransitionTime: "2026-01-01T00:00:00Z",
        }],
      },
    } as GitRepository, { subresource: "status" });
  }

  /** Waits until the Release is as wanted. */
  async until(name: string, wanted: (r: Release) => boolean, on: string): Promise<Release> {
    let last: Release | undefined;
    return await eventually(async () => {
      last = await this.server.release(name);
      return wanted(last) ? last : undefined;
    }, { timeout: 15_000, every: 10, on: `Release ${name}: ${on}` }).catch((error) => {
      const seen = (last?.status?.conditions ?? []).map((c) => `${c.type}=${c.status} ${c.reason}: ${c.message}`);
      throw new Error([error.message, ...seen, ...this.events].join("\n  "));
    });
  }

  /** Waits for a status and reason of `Applied`. */
  async untilApplied(name: string, reason = "Applied", message = /./): Promise<Release> {
    return await this.until(name, (r) => {
      const applied = condition(r, "Applied");
      return applied?.reason === reason && message.test(applied.message) &&
        applied.observedGeneration === r.metadata.generation;
    }, `Applied with ${reason} ${message}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { abort } of this.#roles) abort.abort();
    for (const { done } of this.#roles) await done;
    for (const sim of this.#sims.values()) await sim.close();
    await this.server[Symbol.asyncDispose]();
  }
}

/** One condition of a Release. */
export function condition(r: Release, type: string): Condition | undefined {
  return r.status?.conditions?.find((c) => c.type === type) as Condition | undefined;
}

/** A ConfigMap as YAML. */
export function configMap(name: string, data: Record<string, string> = { a: "1" }, namespace = "default"): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}}\ndata: ${
    JSON.stringify(data)
  }\n`;
}

/** ConfigMaps of a target. */
export const CONFIG_MAPS: Resource = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};

/**
 * For the tests of the observer: Convoy's API server and a target cluster in this process, both real, on a clock that the
 * test moves; the test plays the Release controller and the target's own controllers.
 *
 * @module
 */
import {
  API_VERSION,
  type Cluster,
  CLUSTERS,
  kindDefinitions,
  type Release,
  RELEASE_INVENTORIES,
  type ReleaseInventory,
  RELEASES,
  type ReleaseSpec,
  type Secret,
  SECRETS,
} from "../../shared/api/mod.ts";
import { applyObject, desiredObject, namespaceOf } from "../../shared/apply/mod.ts";
import { builtinKinds } from "../../shared/facts/mod.ts";
import { entryId, type Member, members, put, type PutEntry } from "../../shared/inventory/mod.ts";
import {
  createInformerFactory,
  createKubeClient,
  inProcessTransport,
  type KubeClient,
  type KubeObject,
  parseApiVersion,
  type Resource,
  type Transport,
  TransportError,
  type TransportResponse,
  type Unstructured,
} from "../../shared/kube/mod.ts";
import { putRender } from "../../shared/render/mod.ts";
import { createMetrics, FakeClock, type Role, silentLogger } from "../../shared/runtime/mod.ts";
import { createApiHandler } from "../../shared/server/mod.ts";
import { MemoryStorage } from "../../shared/server/storage/mod.ts";
import { findCondition, writerDeps } from "../../shared/status/mod.ts";
import { createTargets, type Target, type Targets } from "../../shared/target/mod.ts";
import { eventually } from "../../shared/testing/mod.ts";

/** Namespace of Convoy's objects. */
export const NS = "t1";
const ADMIN = { name: "admin", groups: ["system:masters"] };
const CORE = new Set(["/Namespace", "/Secret", "/ConfigMap", "/Event", "coordination.k8s.io/Lease"]);

/** A request that reached the target. */
export interface Seen {
  method: string;
  path: string;
  watch: boolean;
}

/** The world of one test; `await using` ends it. */
export class World {
  readonly clock = new FakeClock();
  readonly metrics = createMetrics({ process: false });
  /** Requests to the target since the last `requests.length = 0`. */
  readonly requests: Seen[] = [];
  /** Events that were recorded, as `Reason: message`. */
  readonly events: string[] = [];
  /** No request reaches the target, and its open watches break. */
  #down = false;
  #frozen = false;
  /** Refuses requests to the target in place of the server. */
  refuse: ((request: { method: string; path: string }) => { code: number; message: string } | undefined) | undefined;
  readonly #abort = new AbortController();
  readonly #convoyStore = new MemoryStorage();
  readonly #targetStore = new MemoryStorage();
  readonly #convoy;
  readonly #cluster;
  readonly #transports = new Set<Transport>();
  readonly client: KubeClient;
  readonly target: KubeClient;
  readonly #informers;
  readonly #targets: Targets;
  readonly #writer;
  #roles: Promise<void>[] = [];
  #runs = new AbortController();

  constructor() {
    const { clock } = this;
    this.#convoy = createApiHandler({
      kinds: [...builtinKinds(({ group, kind }) => CORE.has(`${group}/${kind}`)), ...kindDefinitions()],
      storage: this.#convoyStore,
      clock,
    });
    this.#cluster = createApiHandler({
      kinds: builtinKinds(),
      storage: this.#targetStore,
      clock,
      serveCrds: true,
    });
    this.client = createKubeClient(inProcessTransport(this.#convoy, ADMIN), { clock });
    this.target = createKubeClient(inProcessTransport(this.#cluster, ADMIN), { clock });
    this.#writer = writerDeps({ client: this.client, metrics: createMetrics({ process: false }) });
    this.#informers = createInformerFactory({
      client: this.client,
      clock,
      logger: silentLogger,
      signal: this.#abort.signal,
      freeze: true,
    });
    this.#targets = createTargets({
      client: this.client,
      informers: this.#informers,
      clock,
      logger: silentLogger,
      signal: this.#abort.signal,
      connect: () => this.#connect(),
    });
  }

  /** Namespaces, the Cluster and its Secret. */
  async begin(): Promise<void> {
    for (const client of [this.client, this.target]) {
      await client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: NS } });
    }
    const secret: Secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "c1", namespace: NS },
      data: { kubeconfig: btoa("x") },
    };
    await this.client.create(SECRETS, secret);
    await this.client.create<Cluster>(CLUSTERS, {
      apiVersion: API_VERSION,
      kind: "Cluster",
      metadata: { name: "c1", namespace: NS },
      spec: { kubeconfigSecretRef: { name: "c1" } },
    } as Cluster);
  }

  /** Starts roles; {@link stop} ends them, as a process that goes away does. */
  start(...roles: Role[]): void {
    this.#runs = new AbortController();
    this.#roles = roles.map((role) =>
      role.run({
        client: this.client,
        informers: this.#informers,
        targets: this.#targets,
        artifacts: undefined as never,
        events: { event: (_about, _type, reason, message) => void this.events.push(`${reason}: ${message}`) },
        clock: this.clock,
        logger: silentLogger,
        metrics: this.metrics,
        signal: this.#runs.signal,
        options: {
          dataDir: "",
          resyncMs: 600_000,
          workers: 4,
          workersPerCluster: 2,
          identity: "test",
          healthWriteMs: 1000,
          driftSweepMs: 600_000,
          allowExecPlugins: false,
        } as never,
      })
    );
  }

  /** Ends the roles. */
  async stop(): Promise<void> {
    this.#runs.abort();
    await Promise.all(this.#roles);
  }

  /** A Release as its user makes it. */
  async release(name: string, spec: Partial<ReleaseSpec> = {}): Promise<Release> {
    return await this.client.create<Release>(RELEASES, {
      apiVersion: API_VERSION,
      kind: "Release",
      metadata: { name, namespace: NS },
      spec: { cluster: { name: "c1" }, source: { git: { repository: "r", path: "." } }, ...spec } as ReleaseSpec,
    });
  }

  /** What the controller does first: Render, status of the rollout, Put. Returns the renderRef. */
  async put(name: string, ...objects: object[]): Promise<string> {
    const release = await this.get(name);
    const { renderRef, size } = await putRender(this.client, release, "main@1", objects as Unstructured[]);
    await this.status(name, (status) => {
      status.renders = [...(status.renders ?? []).filter((r) => r.renderRef !== renderRef), {
        renderRef,
        revision: "main@1",
        time: "2026-01-01T00:00:00Z",
        size,
        objects: objects.length,
      }];
      status.waves = [];
      setApplied(status, "Unknown", "Progressing");
    });
    const old = await this.inventory(name).catch(() => undefined);
    const entries = (objects as Unstructured[]).map((o): PutEntry => {
      const { group, version } = parseApiVersion(o.apiVersion);
      const namespace = namespaceOf(o, release, { namespaced: o.kind !== "Namespace" });
      return { group, kind: o.kind, namespace, name: o.metadata.name, version, renderRef, wave: waveOf(o) };
    });
    const wanted = new Set(entries.map(entryId));
    const left = members(old).filter((m) => !wanted.has(entryId(m))).map((m: Member): PutEntry => ({
      group: m.group,
      kind: m.kind,
      namespace: m.namespace,
      name: m.name,
      version: m.version ?? "",
      renderRef: m.renderRef,
      wave: m.wave ?? 0,
    }));
    await put(this.#writer, release, old, [...entries, ...left]);
    return renderRef;
  }

  /** What the controller does next: applies all, without a word in the status. */
  async apply(name: string, ...objects: object[]): Promise<void> {
    const release = await this.get(name);
    const target = { client: this.target } as unknown as Target;
    for (const object of objects as Unstructured[]) {
      const resource = resourceOf(object);
      const outcome = await applyObject(target, resource, desiredObject(object, release, resource), release);
      if (outcome.kind === "conflict") throw new Error(`conflict with ${outcome.owner}`);
    }
  }

  /** What the controller says when all is applied. */
  async applied(name: string, renderRef: string): Promise<void> {
    await this.status(name, (status) => {
      status.renderRef = renderRef;
      setApplied(status, "True", "Applied");
    });
  }

  /** Put, apply and applied in one. */
  async rollOut(name: string, ...objects: object[]): Promise<string> {
    const ref = await this.put(name, ...objects);
    await this.apply(name, ...objects);
    await this.applied(name, ref);
    return ref;
  }

  /** Changes the controller's part of the status. */
  async status(name: string, change: (status: NonNullable<Release["status"]>) => void): Promise<void> {
    const status: NonNullable<Release["status"]> = structuredClone((await this.get(name)).status ?? {});
    change(status);
    const { conditions, healthSummary: _, ...rest } = status;
    await this.client.patch(RELEASES, { namespace: NS, name }, {
      type: "apply",
      force: true,
      body: {
        apiVersion: API_VERSION,
        kind: "Release",
        metadata: { name, namespace: NS },
        status: { ...rest, conditions: (conditions ?? []).filter((c) => c.type === "Applied") },
      },
    }, { fieldManager: "convoy-release-controller", subresource: "status" });
  }

  /** The Release as it is stored. */
  get(name: string): Promise<Release> {
    return this.client.get<Release>(RELEASES, { namespace: NS, name });
  }

  /** The inventory as it is stored. */
  inventory(name: string): Promise<ReleaseInventory> {
    return this.client.get<ReleaseInventory>(RELEASE_INVENTORIES, { namespace: NS, name });
  }

  /** One condition as `Status/Reason`, with its message. */
  async condition(name: string, type: string): Promise<{ text: string; message: string } | undefined> {
    const c = findCondition((await this.get(name)).status?.conditions, type);
    return c && { text: `${c.status}/${c.reason}`, message: c.message };
  }

  /** One inventory entry by `Kind/name`. */
  async entry(name: string, object: string) {
    const inventory = await this.inventory(name);
    return inventory.inventory?.find((e) => `${e.kind}/${e.name}` === object);
  }

  /** Moves time on until the condition holds. */
  async until<T>(what: string, condition: () => T | Promise<T>, stepMs = 100): Promise<NonNullable<T>> {
    return await eventually(async () => {
      await this.pass(stepMs);
      return await condition();
    }, { on: what, timeout: 8000, every: 0 });
  }

  /** Waits for a condition of the Release, given as `Status/Reason`. */
  async untilCondition(name: string, type: string, text: string): Promise<string> {
    const found = await this.until(`${type} ${text} of ${name}`, async () => {
      const c = await this.condition(name, type);
      if (c?.text !== text) throw new Error(`it is ${c?.text}: ${c?.message}`);
      return c;
    });
    return found.message;
  }

  /** Lets time pass in small steps; what is under way gets its turn in each. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 100) {
      await this.clock.advance(Math.min(100, left));
      for (let i = 0; i < 3; i++) await new Promise((resolve) => setTimeout(resolve));
    }
  }

  /** Changes the target by hand. */
  async edit(object: { apiVersion: string; kind: string; metadata: { name: string } }, patch: object): Promise<void> {
    await this.target.patch(resourceOf(object), keyOn(object), { type: "merge", body: patch }, {
      fieldManager: "edit",
    });
  }

  /** Writes the status of an object as the target's own controllers do. */
  async report(
    object: { apiVersion: string; kind: string; metadata: { name: string } },
    status: object,
  ): Promise<void> {
    await this.target.patch(resourceOf(object), keyOn(object), { type: "merge", body: { status } }, {
      fieldManager: "kcm",
      subresource: "status",
    });
  }

  /** Makes a kind on the target and waits until it is served. */
  async addCrd(crd: { apiVersion: string; kind: string; metadata: { name: string } }): Promise<void> {
    await this.target.create(resourceOf(crd), crd);
    await this.#cluster.settled();
  }

  /** The target is gone, or back. */
  set down(down: boolean) {
    this.#down = down;
    if (!down) return;
    // Open watches break; the client makes new ones over the same transport.
    for (const transport of this.#transports) transport.close();
    this.#transports.clear();
  }

  /** Open watches of the target deliver nothing more; requests go on. */
  freezeWatches(): void {
    this.#frozen = true;
  }

  /** Requests to the target but for watches and what opens them. */
  get asked(): string[] {
    return this.requests.filter((r) => !r.watch).map((r) => `${r.method} ${r.path.split("?")[0]}`);
  }

  #connect(): Transport {
    let inner: Transport | undefined;
    const current = () => {
      if (this.#down) throw new TransportError("Cannot reach the test's target: it is down");
      if (!inner || !this.#transports.has(inner)) {
        this.#transports.add(inner = inProcessTransport(this.#cluster, ADMIN));
      }
      return inner;
    };
    return {
      server: "the test's target",
      request: async (request) => {
        this.requests.push({
          method: request.method,
          path: request.path,
          watch: /[?&]watch=(true|1)/.test(request.path),
        });
        const transport = current();
        const refusal = this.refuse?.(request);
        if (refusal) return answer(refusal.code, refusal.message);
        const response = await transport.request(request);
        if (!/[?&]watch=(true|1)/.test(request.path)) return response;
        return { ...response, lines: () => this.#thawed(response.lines()) };
      },
      close: () => inner?.close(),
    } as Transport;
  }

  async *#thawed(lines: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const line of lines) if (!this.#frozen) yield line;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.#abort.abort();
    this.#targets.close();
    await this.#informers.done;
    this.client.close();
    this.target.close();
    await this.#convoy.close();
    await this.#cluster.close();
    await this.#convoyStore.close();
    await this.#targetStore.close();
  }
}

function answer(code: number, message: string): TransportResponse {
  const text = JSON.stringify({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code });
  return {
    status: code,
    headers: { "content-type": "application/json" },
    text: () => Promise.resolve(text),
    async *lines() {
      yield text;
    },
  };
}

/** A world with a cluster. */
export async function world(): Promise<World> {
  const w = new World();
  await w.begin();
  return w;
}

const NAMESPACES: Resource = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };

/** Where an object of a test is served. */
export function resourceOf(o: { apiVersion: string; kind: string }): Resource {
  const plural = o.kind === "Ingress"
    ? "ingresses"
    : o.kind === "StorageClass"
    ? "storageclasses"
    : `${o.kind.toLowerCase()}s`;
  const cluster = ["Namespace", "StorageClass", "CustomResourceDefinition"];
  return { ...parseApiVersion(o.apiVersion), kind: o.kind, plural, namespaced: !cluster.includes(o.kind) };
}

function keyOn(o: { kind: string; apiVersion: string; metadata: { name: string } }) {
  return { name: o.metadata.name, ...(resourceOf(o).namespaced ? { namespace: NS } : {}) };
}

function waveOf(o: KubeObject): number {
  return Number(o.metadata.annotations?.["convoy.kumodo.io/wave"] ?? 0);
}

function setApplied(status: NonNullable<Release["status"]>, value: "True" | "False" | "Unknown", reason: string): void {
  status.conditions = [{
    type: "Applied",
    status: value,
    reason,
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  }];
}

/** A ConfigMap of a test. */
export const configMap = (name: string, data: Record<string, string>, wave = 0) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: NS, ...(wave ? { annotations: { "convoy.kumodo.io/wave": String(wave) } } : {}) },
  data,
});

/** A Deployment of a test. */
export const deployment = (name: string, image: string, replicas = 2) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: NS },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "c", image }] } },
  },
});

/** The status of a Deployment that is all up at a generation. */
export const up = (observedGeneration: number, replicas = 2) => ({
  observedGeneration,
  replicas,
  updatedReplicas: replicas,
  readyReplicas: replicas,
  availableReplicas: replicas,
});

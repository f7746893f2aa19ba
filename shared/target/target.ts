/** One target cluster of this process. @module */
import type { Cluster } from "../api/mod.ts";
import {
  apiVersionOf,
  createRestMapper,
  type KubeClient,
  type Resource,
  type RestMapper,
  StatusError,
  TransportError,
  type Unstructured,
} from "../kube/mod.ts";
import type { Logger } from "../runtime/logger.ts";
import { CircuitBreaker } from "./breaker.ts";
import { clusterName, type Connection, connectionOf, type ConnectionOptions } from "./connection.ts";
import { type GroupKind, type Target, TargetError, type TargetWatchHandler } from "./contract.ts";
import { guardedClient, judge, unreachable } from "./guarded_client.ts";
import type { SecretWatch } from "./secret_watch.ts";
import { Semaphore } from "./semaphore.ts";
import { SharedWatch } from "./shared_watch.ts";

/** Options of a {@link ClusterTarget}. */
export interface TargetOptions extends ConnectionOptions {
  logger: Logger;
  /** The Cluster as it is now; undefined when it is gone. */
  cluster: () => Cluster | undefined;
  secrets: SecretWatch;
  /** Requests at once, without watches. @default 10 */
  maxInFlight?: number;
  /** A watch ends this long after its last handler left, ms. @default 300_000 */
  idleMs?: number;
  /** See {@link SharedWatch}. @default 5_000 */
  lostGraceMs?: number;
  /** The cluster became reachable or unreachable. */
  onReachable: (reachable: boolean) => void;
}

/** Without a live watch of Secrets the credentials are read again at the first use after this time, ms. */
const RECHECK_MS = 30_000;
/** A connection that was replaced may finish what it has under way for so long, ms. */
const DRAIN_MS = 30_000;

/** A target. Its identity stays while its connection is replaced below it. */
export class ClusterTarget implements Target {
  readonly key: string;
  readonly client: KubeClient;
  readonly #o: TargetOptions;
  readonly #breaker: CircuitBreaker;
  readonly #mapper: RestMapper;
  readonly #watches = new Map<string, { watch: SharedWatch; cancelIdle: () => void }>();
  readonly #draining = new Set<() => void>();
  #connection: Connection | undefined;
  #problem: TargetError | undefined;
  /** What the connection, or the problem, was made of. */
  #basis: { generation: number | undefined; secretVersion: string | undefined; at: number } | undefined;
  #refreshing: Promise<KubeClient> | undefined;
  #closed = false;

  constructor(key: string, o: TargetOptions) {
    this.key = key;
    this.#o = o;
    this.#breaker = new CircuitBreaker({
      clock: o.clock,
      probe: () => this.#signOfLife(),
      onChange: (closed) => {
        if (!closed) budget.refuseWaiting(unreachable(this.name, this.#breaker.lastError));
        o.onReachable(closed);
      },
    });
    const budget = new Semaphore(o.maxInFlight ?? 10);
    this.client = guardedClient({
      name: this.name,
      breaker: this.#breaker,
      budget,
      current: () => this.current(),
      onUnauthorized: () => this.#basis = undefined,
    });
    this.#mapper = createRestMapper(this.client, { clock: o.clock });
  }

  get name(): string {
    return clusterName(this.key);
  }
  /** False while the breaker is open or the Cluster cannot be used as it is. */
  get reachable(): boolean {
    return !this.#breaker.open && this.#problem === undefined;
  }
  /** Whether this target's credentials come from that Secret. */
  usesSecret(secretKey: string): boolean {
    const cluster = this.#o.cluster();
    const name = cluster?.spec.kubeconfigSecretRef?.name;
    return name !== undefined && secretKey === `${cluster!.metadata.namespace}/${name}`;
  }

  resourceFor(gk: GroupKind): Promise<Resource | undefined> {
    return this.#mapper.resourceFor(gk);
  }
  invalidateDiscovery(): void {
    this.#mapper.invalidate();
  }

  watch(resource: Resource, handler: TargetWatchHandler): () => void {
    const id = watchId(resource);
    let entry = this.#watches.get(id);
    if (!entry) {
      const { clock, logger, lostGraceMs = 5_000 } = this.#o;
      const watch = new SharedWatch({
        client: this.client,
        resource,
        breaker: this.#breaker,
        clock,
        logger,
        name: this.name,
        lostGraceMs,
      });
      this.#watches.set(id, entry = { watch, cancelIdle: () => {} });
    }
    entry.cancelIdle();
    const { watch } = entry;
    const remove = watch.add(handler);
    let removed = false;
    return () => {
      if (removed) return;
      removed = true;
      remove();
      const own = this.#watches.get(id);
      if (own?.watch !== watch || watch.handlers > 0) return;
      own.cancelIdle = this.#o.clock.after(this.#o.idleMs ?? 300_000, () => {
        this.#watches.delete(id);
        watch.stop();
      });
    };
  }

  cached(resource: Resource, key: string): Unstructured | undefined {
    const entry = this.#watches.get(watchId(resource));
    if (!entry) throw new TargetError("ClusterUnreachable", `${this.name}: ${resource.plural} are not watched`);
    return entry.watch.get(key);
  }

  /** The client of the connection as the Cluster and its Secret say now. @throws TargetError */
  current(): Promise<KubeClient> {
    const cluster = this.#o.cluster();
    if (!cluster || this.#closed) {
      return Promise.reject(new TargetError("ClusterNotFound", `${this.name} does not exist`));
    }
    if (cluster.spec.suspend) {
      return Promise.reject(new TargetError("Suspended", `${this.name} is suspended; unset spec.suspend to use it`));
    }
    if (this.#isFresh(cluster)) {
      return this.#problem ? Promise.reject(this.#problem) : Promise.resolve(this.#connection!.client);
    }
    return this.refresh(cluster);
  }

  #isFresh(cluster: Cluster): boolean {
    if (!this.#basis || this.#basis.generation !== cluster.metadata.generation) return false;
    const version = this.#secretVersion(cluster);
    if (version !== undefined) return version === this.#basis.secretVersion;
    return this.#o.clock.now() - this.#basis.at < RECHECK_MS;
  }

  #secretVersion(cluster: Cluster): string | undefined {
    const name = cluster.spec.kubeconfigSecretRef?.name;
    return name ? this.#o.secrets.versionOf(cluster.metadata.namespace ?? "", name) : "";
  }

  /** Reads the Secret and replaces the connection when something has changed. @throws TargetError */
  refresh(cluster: Cluster): Promise<KubeClient> {
    this.#refreshing ??= this.#refresh(cluster).finally(() => this.#refreshing = undefined);
    return this.#refreshing;
  }

  async #refresh(cluster: Cluster): Promise<KubeClient> {
    // Taken before the read: a change after it makes the next use read again.
    const secretVersion = this.#secretVersion(cluster);
    const basis = { generation: cluster.metadata.generation, secretVersion, at: this.#o.clock.now() };
    let made: Connection;
    try {
      made = await connectionOf(cluster, this.#connection, this.#o);
    } catch (error) {
      if (error instanceof TargetError) {
        this.#basis = basis;
        this.#problem = error;
        throw error;
      }
      // Convoy's own API server did not answer: what is known still holds.
      if (this.#connection) return this.#connection.client;
      const why = error instanceof Error ? error.message : String(error);
      throw new TargetError("ClusterUnreachable", `${this.name} cannot be used: its kubeconfig was not read: ${why}`, {
        cause: error,
      });
    }
    if (this.#closed) {
      made.client.close();
      throw new TargetError("ClusterNotFound", `${this.name} does not exist`);
    }
    const mended = this.#problem !== undefined;
    this.#basis = basis;
    this.#problem = undefined;
    if (made !== this.#connection) {
      if (this.#connection) this.#drain(this.#connection.client);
      this.#connection = made;
      this.#mapper.invalidate();
    }
    if (mended) this.#o.onReachable(!this.#breaker.open);
    return made.client;
  }

  /** The Cluster was suspended: the connection and its watches end; they come back with the next use. */
  disconnect(): void {
    this.#connection?.client.close();
    this.#connection = undefined;
    this.#basis = undefined;
  }

  /** Lets requests under way finish on the old connection; watches move over when it ends. */
  #drain(client: KubeClient): void {
    const end = () => {
      cancel();
      this.#draining.delete(end);
      client.close();
    };
    const cancel = this.#o.clock.after(DRAIN_MS, end);
    this.#draining.add(end);
  }

  /** Asks for the version past the breaker; a new Secret counts at once. @throws TargetError */
  async probe(cluster: Cluster): Promise<{ version: string; resources: number }> {
    const client = await this.refresh(cluster);
    const guard = { name: this.name, breaker: this.#breaker, onUnauthorized: () => this.#basis = undefined };
    try {
      const version = await client.raw<{ gitVersion?: unknown }>({ method: "GET", path: "/version" });
      this.#breaker.success();
      this.#mapper.invalidate();
      const resources = await this.#mapper.resources();
      return { version: String(version?.gitVersion ?? "unknown"), resources: resources.length };
    } catch (error) {
      const judged = judge(guard, error);
      if (judged instanceof TargetError) throw judged;
      const why = error instanceof StatusError && (error.code === 401 || error.code === 403)
        ? `the server refused the credentials (${error.code} ${error.reason}); renew the kubeconfig`
        : error instanceof Error
        ? error.message
        : String(error);
      throw new TargetError("ClusterUnreachable", `${this.name} cannot be used: ${why}`, { cause: error });
    }
  }

  /** Any answer to any question, even a refusal, is a sign of life. */
  async #signOfLife(): Promise<void> {
    const cluster = this.#o.cluster();
    if (!cluster || cluster.spec.suspend) throw new Error("not to be asked");
    const client = await this.refresh(cluster);
    try {
      await client.raw({ method: "GET", path: "/version" });
    } catch (error) {
      const sign = error instanceof StatusError && error.code < 500;
      if (!sign) throw error instanceof TransportError ? error : new Error(String(error), { cause: error });
    }
  }

  /** Ends everything. */
  close(reason: TargetError): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#breaker.stop();
    for (const { watch, cancelIdle } of this.#watches.values()) {
      cancelIdle();
      watch.stop(reason);
    }
    this.#watches.clear();
    for (const end of [...this.#draining]) end();
    this.#connection?.client.close();
  }
}

function watchId(resource: Resource): string {
  return `${apiVersionOf(resource)}/${resource.plural}`;
}

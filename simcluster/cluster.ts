/** One simulated cluster: API server, store, controllers, faults. Opened at the first request. @module */
import { createApiHandler, parseRequest } from "../shared/server/mod.ts";
import type { ApiHandler, ApiServer, ServerRequest, ServerResponse, UserInfo } from "../shared/server/contract.ts";
import { MemoryStorage, openStorage, type Storage } from "../shared/server/storage/mod.ts";
import { builtinKinds } from "../shared/facts/mod.ts";
import { createKubeClient, inProcessTransport, type KubeClient } from "../shared/kube/mod.ts";
import { failure, StatusError } from "../shared/kube/status.ts";
import { stringifyJson } from "../shared/json/mod.ts";
import { type Clock, sleep } from "../shared/runtime/clock.ts";
import type { Logger } from "../shared/runtime/logger.ts";
import { seed } from "./boot.ts";
import { Engine } from "./engine.ts";
import { FaultState } from "./faults.ts";
import { denied } from "./rules.ts";
import { createSimStore } from "./store.ts";
import type { Delays, ImpersonationRule } from "./types.ts";

/** The user that a cluster's kubeconfig stands for. */
export const ADMIN: UserInfo = { name: "admin", groups: ["system:masters", "system:authenticated"] };

/** What the connection of a cluster that is down ends with. */
export class ClusterDown extends Error {
  override readonly name = "ClusterDown";
  constructor(name: string) {
    super(`The simulated cluster ${name} is down`);
  }
}

/** Options of one cluster. */
export interface SimClusterOptions {
  name: string;
  /** SQLite file; absent = in memory. */
  file?: string;
  clock: Clock;
  logger: Logger;
  delays: Delays;
  /** Whether workloads get ReplicaSets, Pods and claims. */
  children: boolean;
  /** Number of nodes. */
  nodes: number;
  /** What impersonated users may do; absent = everything. */
  impersonation?: ImpersonationRule[];
  kubeconfig(): string;
}

interface Opened {
  storage: Storage;
  handler: ApiServer;
  engine: Engine;
}

/** A simulated cluster. Its handler is what the outside sees: faults and rules apply. */
export class SimCluster implements ApiHandler {
  readonly name: string;
  readonly faults = new FaultState();
  readonly #o: SimClusterOptions;
  readonly #cut = new Set<() => void>();
  #opened: Promise<Opened> | undefined;
  #closed = false;

  constructor(options: SimClusterOptions) {
    this.#o = options;
    this.name = options.name;
    this.faults.onChange(() => {
      if (this.faults.current.down) { for (const cut of [...this.#cut]) cut(); }
    });
  }

  /** Whether the cluster was used, so that its store is open. */
  get opened(): boolean {
    return this.#opened !== undefined;
  }

  /** YAML for kubectl and for a Cluster's Secret. */
  kubeconfig(): string {
    return this.#o.kubeconfig();
  }

  /** A client in this process that neither faults nor rules touch: the hand of a test. Close it after use. */
  async client(): Promise<KubeClient> {
    const { handler } = await this.#open();
    return createKubeClient(inProcessTransport(handler, ADMIN), { clock: this.#o.clock });
  }

  /** Resolves when the controllers have nothing left to do before the clock moves. */
  async settled(): Promise<void> {
    const { engine, handler } = await this.#open();
    // Garbage collection wakes controllers and the other way round.
    for (let i = 0; i < 3; i++) {
      await engine.settled();
      await handler.settled();
    }
    await engine.settled();
  }

  /** Answers as the cluster does. @throws ClusterDown */
  async handle(request: ServerRequest): Promise<ServerResponse> {
    const { slow, down } = this.faults.current;
    if (down || this.#closed) throw new ClusterDown(this.name);
    if (slow) await this.#orCut(sleep(this.#o.clock, slow, request.signal));
    const info = parseRequest(request.method, request.path);
    try {
      if (info) {
        this.faults.refuse(info);
        const reason = denied(this.#o.impersonation, request.user, info);
        if (reason) {
          throw failure(403, "Forbidden", reason, { name: info.name, group: info.group, kind: info.resource });
        }
      }
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return {
        status: error.code,
        headers: { "content-type": "application/json" },
        body: stringifyJson(error.status),
      };
    }
    const { handler } = await this.#open();
    const answer = await this.#orCut(handler.handle(request));
    const { body } = answer;
    return typeof body === "string" || body instanceof Uint8Array ? answer : { ...answer, body: this.#cuttable(body) };
  }

  /** Ends watches and controllers, and closes the store. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const cut of [...this.#cut]) cut();
    const opened = await this.#opened?.catch(() => undefined);
    if (!opened) return;
    await opened.engine.stop();
    await opened.handler.close();
    await opened.storage.close();
  }

  #open(): Promise<Opened> {
    if (this.#closed) return Promise.reject(new ClusterDown(this.name));
    this.#opened ??= this.#doOpen().catch((error) => {
      // The next request tries again.
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async #doOpen(): Promise<Opened> {
    const { file, clock, logger, delays, children, nodes } = this.#o;
    const storage = file
      ? openStorage(`sqlite:${file}`, { clock })
      : new MemoryStorage({ history: { count: 500 }, clock });
    const handler = createApiHandler({
      storage,
      kinds: builtinKinds(),
      clock,
      logger,
      serveCrds: true,
      version: { major: "1", minor: "36", gitVersion: "v1.36.3" },
    });
    const store = createSimStore(handler, storage);
    await seed(store, nodes, clock.now());
    const engine = new Engine({ storage, store, faults: this.faults, delays, children, clock, logger });
    await engine.start();
    return { storage, handler, engine };
  }

  /** The promise, or ClusterDown as soon as the cluster goes down. */
  #orCut<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cut = () => {
        this.#cut.delete(cut);
        reject(new ClusterDown(this.name));
      };
      this.#cut.add(cut);
      promise.then(resolve, reject).finally(() => this.#cut.delete(cut));
    });
  }

  /** A stream that breaks when the cluster goes down. */
  async *#cuttable(body: AsyncIterable<string>): AsyncIterable<string> {
    const iterator = body[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.#orCut(iterator.next());
        if (next.done) return;
        yield next.value;
      }
    } finally {
      // Not awaited: a stream that waits for its next event returns only when it is woken.
      iterator.return?.().catch(() => {});
    }
  }
}

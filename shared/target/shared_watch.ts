/** One watch of a target's objects of one resource, shared by all who want to know. @module */
import { createInformer, dropManagedFields, type KubeClient, type Resource, type Unstructured } from "../kube/mod.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import type { CircuitBreaker } from "./breaker.ts";
import { TargetError, type TargetWatchHandler } from "./contract.ts";
import { OWNER_LABEL } from "./owner.ts";
import { emptyWhenUnserved } from "./unserved.ts";

/** Options of a {@link SharedWatch}. */
export interface SharedWatchOptions {
  client: KubeClient;
  resource: Resource;
  breaker: CircuitBreaker;
  clock: Clock;
  logger: Logger;
  /** Name for messages. */
  name: string;
  /** A break that mends within this time is not told, ms. */
  lostGraceMs: number;
}

/** A running watch; the objects in it bear no managedFields. */
export class SharedWatch {
  readonly #o: SharedWatchOptions;
  readonly #abort = new AbortController();
  readonly #handlers = new Set<TargetWatchHandler>();
  readonly #informer;
  /** Whether the cache is true. */
  #live = false;
  #lost: Error | undefined;
  #cancelGrace: (() => void) | undefined;

  constructor(o: SharedWatchOptions) {
    this.#o = o;
    const { breaker, resource } = o;
    const client = emptyWhenUnserved(o.client, o.clock);
    this.#informer = createInformer<Unstructured>({
      // While the breaker is open a watch waits instead of failing again and again, and is there as soon as it closes.
      client: {
        ...client,
        list: async (r, options) => {
          await breaker.whenClosed(this.#abort.signal);
          return await client.list(r, options);
        },
        watch: async (r, options) => {
          await breaker.whenClosed(options?.signal ?? this.#abort.signal);
          return await client.watch(r, options);
        },
      },
      resource,
      labelSelector: OWNER_LABEL,
      clock: o.clock,
      logger: o.logger,
      signal: this.#abort.signal,
      backoff: { minMs: 500, maxMs: 10_000 },
      transform: dropManagedFields,
      onLive: () => this.#onLive(),
      onLost: (error) => this.#onLost(error),
    });
    this.#informer.addHandler({
      onAdd: (object) => this.#tell((h) => h.onChange(object, undefined)),
      onUpdate: (old, object) => this.#tell((h) => h.onChange(object, old)),
      onDelete: (object) => this.#tell((h) => h.onDelete(object)),
    });
    this.#informer.start();
  }

  get handlers(): number {
    return this.#handlers.size;
  }

  /** Adds a handler, which is told of all objects that are there. Returns the remover. */
  add(handler: TargetWatchHandler): () => void {
    const own = { ...wrap(handler) };
    this.#handlers.add(own);
    for (const object of [...this.#informer.list()]) this.#tellOne(own, (h) => h.onChange(object, undefined));
    if (this.#live && !this.#lost) this.#tellOne(own, (h) => h.onSynced?.());
    return () => void this.#handlers.delete(own);
  }

  /** @throws TargetError while the cache is not true. */
  get(key: string): Unstructured | undefined {
    if (this.#lost || !this.#informer.synced) {
      const why = this.#lost?.message ?? "its objects have not been listed yet";
      throw new TargetError("ClusterUnreachable", `${this.#o.name}: ${this.#o.resource.plural} are not known: ${why}`);
    }
    return this.#informer.get(key);
  }

  /** Ends the watch; handlers that are left are told why. */
  stop(reason?: Error): void {
    this.#cancelGrace?.();
    this.#abort.abort(reason ?? new DOMException("The watch is not wanted any more", "AbortError"));
    if (reason) this.#tell((h) => h.onLost?.(reason));
    this.#handlers.clear();
  }

  #onLive(): void {
    this.#cancelGrace?.();
    this.#cancelGrace = undefined;
    const news = !this.#live || this.#lost !== undefined;
    this.#live = true;
    this.#lost = undefined;
    if (news) this.#tell((h) => h.onSynced?.());
  }

  #onLost(error: Error): void {
    if (this.#lost || this.#cancelGrace || this.#abort.signal.aborted) return;
    this.#cancelGrace = this.#o.clock.after(this.#live ? this.#o.lostGraceMs : 0, () => {
      this.#cancelGrace = undefined;
      this.#lost = this.#o.breaker.lastError ?? error;
      this.#tell((h) => h.onLost?.(this.#lost!));
    });
  }

  #tell(f: (handler: TargetWatchHandler) => void): void {
    for (const handler of [...this.#handlers]) this.#tellOne(handler, f);
  }

  #tellOne(handler: TargetWatchHandler, f: (handler: TargetWatchHandler) => void): void {
    try {
      f(handler);
    } catch (error) {
      this.#o.logger.error("Target watch handler failed", error, { resource: this.#o.resource.plural });
    }
  }
}

/** The same handler may be added twice; each time is its own. */
function wrap(handler: TargetWatchHandler): TargetWatchHandler {
  return {
    onChange: (object, old) => handler.onChange(object, old),
    onDelete: (object) => handler.onDelete(object),
    onSynced: () => handler.onSynced?.(),
    onLost: (error) => handler.onLost?.(error),
  };
}

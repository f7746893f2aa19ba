/** Runs the controllers of one simulated cluster: one object at a time, woken by the store, the clock or a fault. @module */
import { type JsonObject, parseJson } from "../shared/json/mod.ts";
import type { Clock } from "../shared/runtime/clock.ts";
import type { Logger } from "../shared/runtime/logger.ts";
import type { Storage } from "../shared/server/storage/contract.ts";
import { CONTROLLERS, PLACES, type SimContext, type SimController, type SimStore } from "./controllers/mod.ts";
import type { FaultState } from "./faults.ts";
import { keyOf, objectOf, prefixOf } from "./store.ts";
import type { Delays } from "./types.ts";

const BY_PREFIX = new Map(CONTROLLERS.map((c) => [prefixOf(c.place), c]));

/** Kinds whose objects are looked at again when faults change. */
const FAULTY = [
  PLACES.Deployment,
  PLACES.StatefulSet,
  PLACES.DaemonSet,
  PLACES.ReplicaSet,
  PLACES.Job,
  PLACES.Pod,
];

/** What an engine works on. */
export interface EngineOptions {
  storage: Storage;
  store: SimStore;
  faults: FaultState;
  delays: Delays;
  children: boolean;
  clock: Clock;
  logger: Logger;
}

/** The controllers of one cluster at work. Idle costs nothing but a watch on the store. */
export class Engine {
  readonly #o: EngineOptions;
  readonly #queue = new Set<string>();
  readonly #gone = new Map<string, string>();
  readonly #timers = new Map<string, () => void>();
  readonly #failures = new Map<string, number>();
  readonly #rollouts: SimContext["rollouts"] = new Map();
  #running: Promise<void> | undefined;
  #stops: (() => void)[] = [];
  #stopped = false;

  constructor(options: EngineOptions) {
    this.#o = options;
  }

  /** Looks at all that is there, then waits for changes. */
  async start(): Promise<void> {
    const { storage, faults } = this.#o;
    const from = await storage.currentRevision();
    for (const { place } of CONTROLLERS) await this.#wakeAll(prefixOf(place));
    this.#stops.push(faults.onChange(() => void this.#faultsChanged()));
    this.#stops.push(
      await storage.watch("/", from, (event) => {
        if (!BY_PREFIX.has(prefixIn(event.key))) return;
        if (event.type === "DELETE") this.#gone.set(event.key, event.value);
        this.#add(event.key);
      }),
    );
  }

  /** Resolves when nothing is left to do before the clock moves. */
  async settled(): Promise<void> {
    while (this.#running) await this.#running;
  }

  /** Stops; what runs is finished first. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const stop of this.#stops) stop();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#queue.clear();
    await this.#running;
  }

  async #wakeAll(prefix: string): Promise<void> {
    for (const { key } of (await this.#o.storage.list(prefix)).items) this.#add(key);
  }

  async #faultsChanged(): Promise<void> {
    for (const place of FAULTY) if (!this.#stopped) await this.#wakeAll(prefixOf(place));
  }

  #add(key: string): void {
    if (this.#stopped) return;
    this.#queue.add(key);
    this.#running ??= this.#drain();
  }

  async #drain(): Promise<void> {
    // A turn of its own: the writer whose event this is goes on first.
    await Promise.resolve();
    for (const key of this.#queue) {
      if (this.#stopped) break;
      this.#queue.delete(key);
      await this.#one(key, BY_PREFIX.get(prefixIn(key))!);
    }
    // In the same turn in which the queue was seen empty: what is added later starts a new run.
    this.#running = undefined;
  }

  async #one(key: string, controller: SimController): Promise<void> {
    const { storage, store, faults, delays, children, clock, logger } = this.#o;
    this.#timers.get(key)?.();
    this.#timers.delete(key);
    const ctx: SimContext = {
      store,
      now: clock.now(),
      delays,
      faults,
      rollouts: this.#rollouts,
      children,
      wake: (place, namespace, name) => this.#add(keyOf(place, namespace, name)),
    };
    try {
      const gone = this.#gone.get(key);
      if (gone !== undefined) {
        this.#gone.delete(key);
        await controller.gone?.(parseJson(gone) as JsonObject, ctx);
      }
      const stored = await storage.get(key);
      const after = stored && await controller.reconcile(objectOf(stored), ctx);
      this.#failures.delete(key);
      if (after !== undefined) this.#later(key, after);
    } catch (error) {
      if (this.#stopped) return;
      const failures = (this.#failures.get(key) ?? 0) + 1;
      this.#failures.set(key, failures);
      logger.debug("A simulated controller will try again", { key, error: (error as Error).message });
      this.#later(key, Math.min(30_000, 200 * 2 ** failures));
    }
  }

  #later(key: string, ms: number): void {
    if (this.#stopped) return;
    this.#timers.get(key)?.();
    const cancel = this.#o.clock.after(Math.max(1, ms), () => {
      this.#timers.delete(key);
      this.#add(key);
    });
    this.#timers.set(key, cancel);
  }
}

/** `/group/plural/` of a key. */
function prefixIn(key: string): string {
  const second = key.indexOf("/", 1);
  return key.slice(0, key.indexOf("/", second + 1) + 1);
}

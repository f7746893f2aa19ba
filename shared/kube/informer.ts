/** An informer: a reflector with a cache, indexes, handlers and a spread resync. @module */
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import type { Informer, InformerHandler, KubeClient } from "./contract.ts";
import { deepFreeze } from "./freeze.ts";
import { type ReflectorOptions, runReflector } from "./reflector.ts";
import { isOlder } from "./resource_version.ts";
import { startResync } from "./resync.ts";
import { Store } from "./store.ts";
import { keyOf, type KubeObject, type Resource } from "./types.ts";

/** Options of {@link createInformer}. */
export interface InformerOptions<T extends KubeObject>
  extends Omit<ReflectorOptions, "client" | "resource" | "clock" | "logger"> {
  client: KubeClient;
  resource: Resource;
  clock: Clock;
  logger: Logger;
  /** Ends the informer. */
  signal: AbortSignal;
  /** Each object is told again as an update once in this time, ms; 0 = never. @default 0 */
  resyncMs?: number;
  /** Changes an object before it is kept, e.g. {@link ./freeze.ts dropManagedFields}. */
  transform?: (object: T) => T;
  /** Freezes what is kept, so that a handler that changes it throws. For tests. @default false */
  freeze?: boolean;
  /** The watch broke; the cache may be behind until `onLive`. */
  onLost?: (error: Error) => void;
  /** The watch is open again. */
  onLive?: () => void;
}

/** An informer that is started by its maker. */
export interface StartableInformer<T extends KubeObject> extends Informer<T> {
  /** Starts the reflector; calls after the first do nothing. */
  start(): void;
  /** Resolves when the informer has ended (never before its signal is aborted). */
  readonly done: Promise<void>;
}

/** Makes an informer; nothing runs before `start`. */
export function createInformer<T extends KubeObject>(o: InformerOptions<T>): StartableInformer<T> {
  const store = new Store<T>();
  const handlers = new Set<InformerHandler<T>>();
  let synced = false;
  let started = false;
  const ended = Promise.withResolvers<void>();
  const firstSync = Promise.withResolvers<void>();
  firstSync.promise.catch(() => {});

  const call = (f: (handler: InformerHandler<T>) => void) => {
    for (const handler of [...handlers]) tell(handler, f);
  };
  const tell = (handler: InformerHandler<T>, f: (handler: InformerHandler<T>) => void) => {
    try {
      f(handler);
    } catch (error) {
      o.logger.error("Informer handler failed", error, { resource: o.resource.plural });
    }
  };

  const keep = (incoming: T, whole = false) => {
    const key = keyOf(incoming);
    const old = store.get(key);
    if (old && old.metadata.uid === incoming.metadata.uid) {
      const { resourceVersion } = incoming.metadata;
      // Told already: a watch that goes on, or a list beside it.
      if (resourceVersion !== undefined && resourceVersion === old.metadata.resourceVersion) return;
      // A list is the truth even when it is older: the reflector has judged that.
      if (!whole && isOlder(resourceVersion ?? "", old.metadata.resourceVersion ?? "")) return;
    }
    let object = o.transform ? o.transform(incoming) : incoming;
    if (o.freeze) object = deepFreeze(object);
    store.set(object);
    if (!old) return call((h) => h.onAdd?.(object));
    if (old.metadata.uid === object.metadata.uid) return call((h) => h.onUpdate?.(old, object));
    // Deleted and made anew while nobody looked.
    call((h) => h.onDelete?.(old));
    call((h) => h.onAdd?.(object));
  };
  const drop = (key: string, last?: T) => {
    const old = store.delete(key);
    if (!old) return;
    // The last state comes with the event; after a gap only the cached one is known.
    let object = last && o.transform ? o.transform(last) : last ?? old;
    if (o.freeze) object = deepFreeze(object);
    call((h) => h.onDelete?.(object));
  };

  const sink = {
    replace(objects: T[]) {
      const present = new Set(objects.map(keyOf));
      for (const key of [...store.keys()]) if (!present.has(key)) drop(key);
      for (const object of objects) keep(object, true);
      if (!synced) {
        synced = true;
        firstSync.resolve();
      }
    },
    set: (object: T) => keep(object),
    delete: (object: T) => drop(keyOf(object), object),
    ...(o.onLost ? { onLost: o.onLost } : {}),
    ...(o.onLive ? { onLive: o.onLive } : {}),
  };

  return {
    resource: o.resource,
    done: ended.promise,
    get: (key) => store.get(key),
    list: () => store.list(),
    get size() {
      return store.size;
    },
    addIndex: (name, valuesOf) => store.addIndex(name, valuesOf),
    byIndex: (name, value) => store.byIndex(name, value),
    addHandler(handler) {
      // A handler may be added twice by two roles: each registration is its own.
      const own: InformerHandler<T> = {
        onAdd: (object) => handler.onAdd?.(object),
        onUpdate: (old, object) => handler.onUpdate?.(old, object),
        onDelete: (object) => handler.onDelete?.(object),
      };
      handlers.add(own);
      if (store.size > 0) { for (const object of [...store.list()]) tell(own, (h) => h.onAdd?.(object)); }
      return () => void handlers.delete(own);
    },
    get synced() {
      return synced;
    },
    async whenSynced(signal) {
      if (synced) return;
      await orAborted(firstSync.promise, signal ? [signal, o.signal] : [o.signal]);
    },
    start() {
      if (started) return;
      started = true;
      let stopResync = () => {};
      // From the first sync on: a period that began before it would have nothing to tell.
      firstSync.promise.then(() => {
        if (o.signal.aborted) return;
        stopResync = startResync({
          clock: o.clock,
          periodMs: o.resyncMs ?? 0,
          keys: () => store.keys(),
          emit(key) {
            const object = store.get(key);
            if (object && !o.signal.aborted) call((h) => h.onUpdate?.(object, object));
          },
        });
      });
      runReflector<T>(o, sink, o.signal).finally(() => {
        stopResync();
        ended.resolve();
      });
    },
  };
}

async function orAborted(promise: Promise<void>, signals: AbortSignal[]): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const removers = signals.map((signal) => {
    const onAbort = () => aborted.reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    return () => signal.removeEventListener("abort", onAbort);
  });
  try {
    await Promise.race([promise, aborted.promise]);
  } finally {
    for (const remove of removers) remove();
  }
}

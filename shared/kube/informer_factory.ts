/** Informers shared by all roles of a process. @module */
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import type { Metrics } from "../runtime/metrics.ts";
import type { Informer, InformerFactory, KubeClient } from "./contract.ts";
import { createInformer, type InformerOptions, type StartableInformer } from "./informer.ts";
import { apiVersionOf, type KubeObject, type Resource } from "./types.ts";

/** Options of {@link createInformerFactory}. */
export interface InformerFactoryOptions {
  client: KubeClient;
  clock: Clock;
  logger: Logger;
  /** Ends all informers. */
  signal: AbortSignal;
  metrics?: Metrics;
  /** See {@link InformerOptions.resyncMs}. @default 600_000 */
  resyncMs?: number;
  /** More options by resource, e.g. a transform. */
  optionsFor?: (resource: Resource) => Partial<
    Pick<
      InformerOptions<KubeObject>,
      "transform" | "namespace" | "labelSelector" | "fieldSelector" | "resyncMs" | "watchList" | "pageSize" | "backoff"
    >
  >;
  /** See {@link InformerOptions.freeze}. @default false */
  freeze?: boolean;
}

/** Makes the factory. `done` resolves when all its informers have ended after the signal. */
export function createInformerFactory(o: InformerFactoryOptions): InformerFactory & { readonly done: Promise<void> } {
  const informers = new Map<string, StartableInformer<KubeObject>>();
  const lost = o.metrics?.counter("convoy_watch_failures_total", "Watches that broke or failed", ["resource"]);
  const live = o.metrics?.gauge("convoy_watch_live", "1 while the watch of a resource is open", ["resource"]);
  return {
    for<T extends KubeObject>(resource: Resource): Informer<T> {
      const id = `${apiVersionOf(resource)}/${resource.plural}`;
      let informer = informers.get(id);
      if (!informer) {
        informer = createInformer<KubeObject>({
          client: o.client,
          resource,
          clock: o.clock,
          logger: o.logger,
          signal: o.signal,
          resyncMs: o.resyncMs ?? 600_000,
          freeze: o.freeze ?? false,
          onLost: () => {
            lost?.inc({ resource: id });
            live?.set(0, { resource: id });
          },
          onLive: () => live?.set(1, { resource: id }),
          ...o.optionsFor?.(resource),
        });
        informers.set(id, informer);
        // After the caller has added its indexes and handlers.
        queueMicrotask(informer.start);
      }
      return informer as unknown as Informer<T>;
    },
    async whenSynced(signal) {
      await Promise.all([...informers.values()].map((informer) => informer.whenSynced(signal)));
    },
    get done() {
      return Promise.all([...informers.values()].map((informer) => informer.done)).then(() => {});
    },
  };
}

/** The Cluster loop: its informers and what wakes it. @module */
import { type Cluster, CLUSTERS, NAMESPACES, type Release, RELEASES } from "../../shared/api/mod.ts";
import { runController } from "../../shared/controller/mod.ts";
import { keyOf, StatusError } from "../../shared/kube/mod.ts";
import type { Role, RoleContext } from "../../shared/runtime/role.ts";
import { WriteMemory } from "../../shared/status/mod.ts";
import { addIndexes, clusterKeyOf } from "./indexes.ts";
import { ClusterReconciler } from "./reconcile.ts";

// A probe waits for its cluster alone; with few workers, clusters that hang would hold up the others.
const LEAST_WORKERS = 64;

/** Role `cluster`. */
export const clusterRole: Role = {
  name: "cluster",
  group: "controller-manager",
  async run(ctx) {
    const clusters = ctx.informers.for<Cluster>(CLUSTERS);
    const releases = ctx.informers.for<Release>(RELEASES);
    addIndexes(releases);
    const memory = new WriteMemory();
    const lifelines = new Lifelines(ctx);
    const reconciler = new ClusterReconciler({
      ...ctx,
      memory,
      clusters,
      releases,
      onUse: (cluster, used) => used ? void lifelines.hold(cluster) : lifelines.drop(keyOf(cluster)),
    });
    const unfollow = memory.follow(clusters);
    try {
      await runController<Cluster>({
        name: "cluster",
        informer: clusters,
        needs: [releases],
        reconcile: (key, { signal }) => reconciler.reconcile(key, signal),
        clock: ctx.clock,
        logger: ctx.logger,
        metrics: ctx.metrics,
        signal: ctx.signal,
        workers: Math.max(ctx.options.workers, LEAST_WORKERS),
        sources(enqueue) {
          const ofRelease = (release: Release) => enqueue.add(clusterKeyOf(release));
          const removers = [
            releases.addHandler({ onAdd: ofRelease, onDelete: ofRelease }),
            clusters.addHandler({ onDelete: (cluster) => lifelines.drop(keyOf(cluster)) }),
            ctx.targets.onChange((key) => {
              reconciler.probeNext(key);
              enqueue.add(key);
            }),
          ];
          return () => removers.forEach((remove) => remove());
        },
      });
    } finally {
      unfollow();
      lifelines.close();
    }
  },
};

/**
 * One watch per cluster, so that a process without an observer also learns at once that a cluster is gone: the watch
 * breaks, its tries to come back open the breaker, and the breaker tells.
 */
class Lifelines {
  readonly #ctx: RoleContext;
  readonly #removers = new Map<string, () => void>();

  constructor(ctx: RoleContext) {
    this.#ctx = ctx;
  }

  async hold(cluster: Cluster): Promise<void> {
    const key = keyOf(cluster);
    if (this.#removers.has(key)) return;
    this.#removers.set(key, () => {});
    try {
      const target = await this.#ctx.targets.get(cluster.metadata.namespace ?? "", cluster.metadata.name);
      if (!this.#removers.has(key)) return;
      const remove = target.watch(NAMESPACES, {
        onChange() {},
        onDelete() {},
        // Not allowed to watch: the interval must do.
        onLost: (error) => error instanceof StatusError && error.code === 403 && this.drop(key),
      });
      this.#removers.set(key, remove);
    } catch (error) {
      this.#removers.delete(key);
      this.#ctx.logger.debug("Cluster not watched", { cluster: key, error: String(error) });
    }
  }

  drop(key: string): void {
    this.#removers.get(key)?.();
    this.#removers.delete(key);
  }

  close(): void {
    for (const key of [...this.#removers.keys()]) this.drop(key);
  }
}

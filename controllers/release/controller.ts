/** The Release loop: its informers, what wakes it, and its queue, which is split by target cluster. @module */
import {
  type Cluster,
  CLUSTERS,
  GIT_REPOSITORIES,
  type GitRepository,
  type Release,
  RELEASE_INVENTORIES,
  type ReleaseInventory,
  RELEASES,
} from "../../shared/api/mod.ts";
import { type Enqueue, runController, SYNC_ANNOTATION } from "../../shared/controller/mod.ts";
import { type Informer, keyOf } from "../../shared/kube/mod.ts";
import type { Role, RoleContext } from "../../shared/runtime/role.ts";
import { writerDeps } from "../../shared/status/mod.ts";
import { addIndexes, clusterKey, releasesOfSource, releasesOnCluster } from "./indexes.ts";
import { appliedOrHealthyChanged, clusterChanged, inventoryChanged, sourceChanged } from "./predicates.ts";
import { ReleaseReconciler } from "./reconcile.ts";

// Workers mostly wait for targets. With few of them, as many clusters that hang would hold up all others.
const LEAST_WORKERS = 64;

interface Informers {
  releases: Informer<Release>;
  inventories: Informer<ReleaseInventory>;
  clusters: Informer<Cluster>;
  repositories: Informer<GitRepository>;
}

/** Role `release`. */
export const releaseRole: Role = {
  name: "release",
  group: "controller-manager",
  async run(ctx) {
    const informers: Informers = {
      releases: ctx.informers.for<Release>(RELEASES),
      inventories: ctx.informers.for<ReleaseInventory>(RELEASE_INVENTORIES),
      clusters: ctx.informers.for<Cluster>(CLUSTERS),
      repositories: ctx.informers.for<GitRepository>(GIT_REPOSITORIES),
    };
    addIndexes(informers.releases);
    const writer = writerDeps(ctx);
    const lost = new Set<string>();
    const reconciler = new ReleaseReconciler({ ...ctx, ...informers, writer, lost });
    const removers = [writer.memory.follow(informers.releases), writer.memory.follow(informers.inventories)];
    try {
      await runController<Release>({
        name: "release",
        informer: informers.releases,
        needs: [informers.inventories, informers.clusters, informers.repositories],
        reconcile: (key, { signal }) => reconciler.reconcile(key, signal),
        clock: ctx.clock,
        logger: ctx.logger,
        metrics: ctx.metrics,
        signal: ctx.signal,
        workers: Math.max(ctx.options.workers, LEAST_WORKERS),
        partitionOf(key) {
          const release = informers.releases.get(key);
          return release ? clusterKey(release) : "";
        },
        partitionBudget: ctx.options.workersPerCluster,
        syncAnnotation: SYNC_ANNOTATION,
        sources: (enqueue) => wakeOn(ctx, informers, lost, enqueue),
      });
    } finally {
      for (const remove of removers) remove();
    }
  },
};

/** Adds the handlers that wake Releases; returns what removes them. */
function wakeOn(ctx: RoleContext, i: Informers, lost: Set<string>, enqueue: Enqueue): () => void {
  const higherWaves = (lower: Release) => {
    for (const other of releasesOnCluster(i.releases, clusterKey(lower))) {
      if (other.spec.clusterWave > lower.spec.clusterWave) enqueue.add(keyOf(other));
    }
  };
  const onCluster = (key: string) => {
    for (const release of releasesOnCluster(i.releases, key)) enqueue.add(keyOf(release));
  };
  const ofSource = (source: GitRepository) => {
    const key = `GitRepository ${keyOf(source)}`;
    for (const release of releasesOfSource(i.releases, key)) enqueue.add(keyOf(release));
  };
  const wantsDrift = (key: string) => i.releases.get(key)?.spec.drift.mode === "Correct";
  const removers = [
    i.releases.addHandler({
      onUpdate: (old, release) => appliedOrHealthyChanged(old, release) && higherWaves(release),
      onDelete: higherWaves,
    }),
    i.inventories.addHandler({
      onUpdate(old, inventory) {
        const key = keyOf(inventory);
        if (inventoryChanged(old, inventory, wantsDrift(key))) enqueue.add(key);
      },
      onDelete: (inventory) => enqueue.add(keyOf(inventory)),
    }),
    i.repositories.addHandler({
      onAdd: ofSource,
      onUpdate: (old, source) => sourceChanged(old, source) && ofSource(source),
      onDelete: ofSource,
    }),
    i.clusters.addHandler({
      onAdd: (cluster) => onCluster(keyOf(cluster)),
      onUpdate: (old, cluster) => clusterChanged(old, cluster) && onCluster(keyOf(cluster)),
      onDelete: (cluster) => onCluster(keyOf(cluster)),
    }),
    ctx.targets.onChange((key, reachable) => {
      if (reachable) lost.delete(key);
      else lost.add(key);
      onCluster(key);
    }),
  ];
  return () => removers.forEach((remove) => remove());
}

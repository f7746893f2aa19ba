/** The health loop: what wakes it, and how its work is shared out. @module */
import { type Release, RELEASE_INVENTORIES, type ReleaseInventory, RELEASES } from "../../shared/api/mod.ts";
import { type Enqueue, runController } from "../../shared/controller/mod.ts";
import { keyOf } from "../../shared/kube/mod.ts";
import type { RoleContext } from "../../shared/runtime/role.ts";
import { writerDeps } from "../../shared/status/mod.ts";
import { LiveObjects, membershipChanged } from "../live/mod.ts";
import { hooksOf } from "./hooks.ts";
import { HealthReconciler } from "./reconcile.ts";

/** Events of one Release within this time become one pass, ms. */
const DEBOUNCE_MS = 100;

/** Runs the loop until `ctx.signal` is aborted. */
export async function runHealth(ctx: RoleContext): Promise<void> {
  const releases = ctx.informers.for<Release>(RELEASES);
  const inventories = ctx.informers.for<ReleaseInventory>(RELEASE_INVENTORIES);
  const writer = writerDeps(ctx);
  let enqueue: Enqueue = { add() {}, addAfter() {} };
  const soon = (key: string) => {
    reconciler.memories.peek(key)?.poll.reset();
    enqueue.addAfter(key, DEBOUNCE_MS);
  };
  const live = new LiveObjects(ctx.targets, ctx.clock, {
    onChange({ release, object, old }) {
      for (const hook of hooksOf(object ?? old!)) reconciler.memories.peek(release)?.hooks.set(hook, object);
      if (releases.get(release)) soon(release);
    },
    onWake: soon,
  });
  const reconciler = new HealthReconciler({
    releases,
    inventories,
    live,
    writer,
    clock: ctx.clock,
    metrics: ctx.metrics,
    writeMs: ctx.options.healthWriteMs,
  });
  const stopFollowing = [writer.memory.follow(releases), writer.memory.follow(inventories)];
  try {
    await runController<Release>({
      name: "health",
      informer: releases,
      needs: [inventories],
      reconcile: (key, { signal }) => reconciler.reconcile(key, signal),
      partitionOf: (key) => {
        const release = releases.get(key);
        return release ? `${release.metadata.namespace}/${release.spec.cluster.name}` : "";
      },
      partitionBudget: ctx.options.workersPerCluster,
      workers: ctx.options.workers,
      clock: ctx.clock,
      logger: ctx.logger,
      metrics: ctx.metrics,
      signal: ctx.signal,
      sources(e) {
        enqueue = e;
        return inventories.addHandler({
          onAdd: (inventory) => soon(keyOf(inventory)),
          onUpdate(old, inventory) {
            if (membershipChanged(old, inventory)) soon(keyOf(inventory));
          },
        });
      },
    });
  } finally {
    for (const stop of stopFollowing) stop();
    live.close();
  }
}

/** The drift loop: what wakes it, and how its work is shared out. @module */
import { type Release, RELEASE_INVENTORIES, type ReleaseInventory, RELEASES } from "../../shared/api/mod.ts";
import { type Enqueue, runController } from "../../shared/controller/mod.ts";
import { changedBeyondStatus } from "../../shared/drift/mod.ts";
import { keyOf } from "../../shared/kube/mod.ts";
import type { RoleContext } from "../../shared/runtime/role.ts";
import { writerDeps } from "../../shared/status/mod.ts";
import { type LiveChange, LiveObjects, membershipChanged } from "../live/mod.ts";
import { DriftReconciler } from "./reconcile.ts";

/** Events of one Release within this time become one pass, ms. */
const DEBOUNCE_MS = 200;

/** Runs the loop until `ctx.signal` is aborted. */
export async function runDrift(ctx: RoleContext): Promise<void> {
  const releases = ctx.informers.for<Release>(RELEASES);
  const inventories = ctx.informers.for<ReleaseInventory>(RELEASE_INVENTORIES);
  const writer = writerDeps(ctx);
  let enqueue: Enqueue = { add() {}, addAfter() {} };
  const soon = (key: string) => {
    reconciler.memories.peek(key)?.poll.reset();
    enqueue.addAfter(key, DEBOUNCE_MS);
  };
  const live = new LiveObjects(ctx.targets, ctx.clock, {
    onChange(change) {
      if (noteChange(reconciler, change) && releases.get(change.release)) soon(change.release);
    },
    onWake: soon,
  });
  const reconciler = new DriftReconciler({
    client: ctx.client,
    releases,
    inventories,
    live,
    events: ctx.events,
    writer,
    clock: ctx.clock,
    metrics: ctx.metrics,
    writeMs: ctx.options.healthWriteMs,
    sweepMs: ctx.options.driftSweepMs,
    placeOf,
  });
  const stopFollowing = [writer.memory.follow(releases), writer.memory.follow(inventories)];
  try {
    await runController<Release>({
      name: "drift",
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

/** Notes what a change means for the checks made so far; true when the object has to be checked. */
function noteChange(reconciler: DriftReconciler, { release, entry, object, old, initial }: LiveChange): boolean {
  if (initial) return false;
  const memory = reconciler.memories.peek(release);
  const check = memory?.checks.get(entry);
  if (object && check?.version === object.metadata.resourceVersion) return false;
  if (object && old && !changedBeyondStatus(old, object)) {
    // What was found about the old version holds for the new one too: only status moved.
    if (check && check.version === old.metadata.resourceVersion) check.version = object.metadata.resourceVersion;
    return false;
  }
  memory?.dirty.add(entry);
  return true;
}

/** A place in [0, 1) that stays the same for a key: FNV-1a. */
function placeOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  return (hash >>> 0) / 2 ** 32;
}

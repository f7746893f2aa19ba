/** The end of a Release: its objects, its inventory, its finalizer, in this order, each step repeatable. @module */
import {
  type Cluster,
  FINALIZER,
  type Release,
  RELEASE_INVENTORIES,
  type ReleaseInventory,
  RELEASES,
} from "../../shared/api/mod.ts";
import { impersonation, releaseObject } from "../../shared/apply/mod.ts";
import type { Action, EventRecorder } from "../../shared/controller/mod.ts";
import { entryId, type Member, members } from "../../shared/inventory/mod.ts";
import { hasReason, type KubeClient } from "../../shared/kube/mod.ts";
import type { Targets } from "../../shared/target/contract.ts";
import type { Draft } from "./draft.ts";
import { lookAgain } from "./look_again.ts";
import type { Memo } from "./memo.ts";
import { forEachLimit } from "./pool.ts";
import { count, someOf } from "./reasons.ts";
import { removeMembers } from "./step_prune.ts";
import { onTarget, Stop } from "./stop.ts";

/** Annotation of a Release whose objects cannot be deleted any more: `Orphan` lets it go without them. */
export const DELETION_POLICY_ANNOTATION = "convoy.kumodo.io/deletion-policy";

const LOOK_AGAIN_MS = 30_000;

/** What the end of a Release needs. */
export interface FinalizeStep {
  release: Release;
  draft: Draft;
  memo: Memo;
  client: KubeClient;
  targets: Targets;
  events: EventRecorder;
  signal: AbortSignal;
  cluster(): Cluster | undefined;
}

/** True when the Release lets go of its objects instead of deleting them. */
export function isOrphaned(release: Release): boolean {
  return release.spec.deletionPolicy === "Orphan" ||
    release.metadata.annotations?.[DELETION_POLICY_ANNOTATION] === "Orphan";
}

/**
 * One pass of the end. Resolves to undefined when the Release is gone; else to when to look again, and the draft says
 * what it waits for.
 *
 * @throws Stop when the cluster cannot be used
 */
export async function finalize(step: FinalizeStep): Promise<Action | undefined> {
  const { release, client, signal } = step;
  if (!release.metadata.finalizers?.includes(FINALIZER)) return undefined;
  const inventory = await readInventory(step);
  const all = members(inventory);
  if (all.length > 0) {
    if (isOrphaned(release)) await orphan(all, step);
    else {
      const again = await deleteAll(all, step);
      if (again) return again;
    }
  }
  if (inventory) await deleteInventory(inventory, client, signal);
  await removeFinalizer(release, client, signal);
  return undefined;
}

// From the server, not from the cache: a cache that lags would lose track of objects, and this is the last chance.
async function readInventory(step: FinalizeStep): Promise<ReleaseInventory | undefined> {
  const { namespace, name, uid } = step.release.metadata;
  try {
    const key = { name, ...(namespace ? { namespace } : {}) };
    const found = await step.client.get<ReleaseInventory>(RELEASE_INVENTORIES, key, { signal: step.signal });
    const owners = found.metadata.ownerReferences;
    return !owners?.length || owners.some((o) => o.uid === uid) ? found : undefined;
  } catch (error) {
    if (hasReason(error, "NotFound")) return undefined;
    throw error;
  }
}

async function deleteAll(all: readonly Member[], step: FinalizeStep): Promise<Action | undefined> {
  const { release, draft, memo, events, targets, signal } = step;
  const name = release.spec.cluster.name;
  const mend =
    `set spec.deletionPolicy: Orphan, or the annotation ${DELETION_POLICY_ANNOTATION}: Orphan, to leave them`;
  if (!step.cluster()) {
    throw new Stop(
      "ClusterNotFound",
      `Cannot delete ${count(all.length, "object")}: Cluster ${name} does not exist; create it again, or ${mend}`,
      { after: LOOK_AGAIN_MS },
    );
  }
  const open = all.filter((member) => !memo.results.has(`removed ${entryId(member)}`));
  let removal;
  try {
    removal = await onTarget(name, async () => {
      const target = await targets.get(release.metadata.namespace ?? "", name);
      return await removeMembers(open, { target, release, signal, deleting: memo.deleting });
    });
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    throw new Stop(
      error.reason,
      `Cannot delete ${count(open.length, "object")}: ${error.message}; or ${mend}`,
      error.action,
    );
  }
  for (const member of removal.done) {
    memo.results.set(`removed ${entryId(member)}`, { state: "accepted", change: "changed" });
  }
  if (removal.open.length === 0) {
    events.event(release, "Normal", "Deleted", `${count(all.length, "object")} deleted from Cluster ${name}`);
    return undefined;
  }
  memo.deletionLooks = removal.done.length > 0 ? 0 : memo.deletionLooks + 1;
  draft.applied("Progressing", `Being deleted: ${someOf(removal.open)}`);
  if (memo.deletionLooks === 5) events.event(release, "Warning", "DeletionWaits", someOf(removal.open));
  return { after: lookAgain(memo.deletionLooks, 30_000) };
}

// Best effort: a cluster that cannot be reached keeps the marks, and an object with them is told as a conflict later.
async function orphan(all: readonly Member[], step: FinalizeStep): Promise<void> {
  const { release, events, targets, signal } = step;
  const name = release.spec.cluster.name;
  let left = 0;
  try {
    const target = await targets.get(release.metadata.namespace ?? "", name);
    await forEachLimit(all, 8, async (member) => {
      try {
        const resource = await target.resourceFor({ group: member.group, kind: member.kind });
        const key = { name: member.name, ...(member.namespace ? { namespace: member.namespace } : {}) };
        if (resource) await releaseObject(target, resource, key, release, { ...impersonation(release), signal });
      } catch (error) {
        if (signal.aborted) throw error;
        left++;
      }
    });
  } catch (error) {
    if (signal.aborted) throw error;
    left = all.length;
  }
  const marks = left > 0 ? `; the owner marks of ${count(left, "object")} could not be taken off` : "";
  events.event(
    release,
    left > 0 ? "Warning" : "Normal",
    "Deleted",
    `${count(all.length, "object")} left on Cluster ${name}${marks}`,
  );
}

async function deleteInventory(inventory: ReleaseInventory, client: KubeClient, signal: AbortSignal): Promise<void> {
  const { namespace, name, uid } = inventory.metadata;
  try {
    await client.delete(RELEASE_INVENTORIES, { name, ...(namespace ? { namespace } : {}) }, {
      signal,
      ...(uid ? { preconditions: { uid } } : {}),
    });
  } catch (error) {
    if (!hasReason(error, "NotFound")) throw error;
  }
}

/** Adds the finalizer by PUT of the whole object; the Release as it is then. */
export async function addFinalizer(release: Release, client: KubeClient, signal: AbortSignal): Promise<Release> {
  const finalizers = [...(release.metadata.finalizers ?? []), FINALIZER];
  return await client.update<Release>(RELEASES, { ...release, metadata: { ...release.metadata, finalizers } }, {
    signal,
  });
}

async function removeFinalizer(release: Release, client: KubeClient, signal: AbortSignal): Promise<void> {
  const finalizers = release.metadata.finalizers?.filter((f) => f !== FINALIZER) ?? [];
  try {
    await client.update<Release>(RELEASES, { ...release, metadata: { ...release.metadata, finalizers } }, { signal });
  } catch (error) {
    if (!hasReason(error, "NotFound")) throw error;
  }
}

/** Which changes of other objects wake a Release; the first two are of the status-ownership page. @module */
import type { Cluster, GitRepository, Release, ReleaseInventory } from "../../shared/api/mod.ts";
import { entryId } from "../../shared/inventory/mod.ts";
import { equalJson } from "../../shared/json/mod.ts";
import { findCondition } from "../../shared/status/mod.ts";

/** True when the status of `Applied` or `Healthy` changed: it wakes the Releases of a higher cluster wave. */
export function appliedOrHealthyChanged(old: Release, release: Release): boolean {
  return ["Applied", "Healthy"].some((type) =>
    findCondition(old.status?.conditions, type)?.status !== findCondition(release.status?.conditions, type)?.status
  );
}

/**
 * True when an entry's `state` or `assessedRenderRef`, or the number of entries, changed: it wakes the Release. The
 * controller's own `renderRef` and `wave` do not count. With `drift`, a change of `drift` counts too: for a Release
 * with `drift.mode: Correct`, which applies again what drifted.
 */
export function inventoryChanged(old: ReleaseInventory, inventory: ReleaseInventory, drift: boolean): boolean {
  const before = old.inventory ?? [], after = inventory.inventory ?? [];
  if (before.length !== after.length) return true;
  const byId = new Map(before.map((e) => [entryId(e), e]));
  return after.some((e) => {
    const b = byId.get(entryId(e));
    return !b || b.state !== e.state || b.assessedRenderRef !== e.assessedRenderRef ||
      (drift && !equalJson(b.drift, e.drift));
  });
}

/** True when a source has another artifact, or says something else about its readiness. */
export function sourceChanged(old: GitRepository, source: GitRepository): boolean {
  const a = old.status, b = source.status;
  return a?.artifact?.digest !== b?.artifact?.digest || a?.artifact?.revision !== b?.artifact?.revision ||
    a?.observedGeneration !== b?.observedGeneration ||
    !equalJson(brief(findCondition(a?.conditions, "Ready")), brief(findCondition(b?.conditions, "Ready")));
}

function brief(c: { status: string; reason: string; message: string } | undefined): unknown {
  return c && { status: c.status, reason: c.reason, message: c.message };
}

/** True when a Cluster's spec changed, or whether it can be reached. */
export function clusterChanged(old: Cluster, cluster: Cluster): boolean {
  return old.metadata.generation !== cluster.metadata.generation ||
    findCondition(old.status?.conditions, "Reachable")?.status !==
      findCondition(cluster.status?.conditions, "Reachable")?.status;
}

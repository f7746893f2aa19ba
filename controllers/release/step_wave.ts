/** The cluster wave: who must be there before this Release. @module */
import type { Release } from "../../shared/api/mod.ts";
import { findCondition } from "../../shared/status/mod.ts";
import { someOf } from "./reasons.ts";
import { Stop } from "./stop.ts";

// The page's handler wakes on Applied and Healthy; a lower Release whose spec changed meanwhile may stay True all along.
const LOOK_AGAIN_MS = 5_000;

/**
 * Ends the pass while a Release of a lower wave on the same cluster is not Applied and Healthy at its present generation.
 *
 * @param others all Releases on the cluster
 * @throws Stop
 */
export function waitForLowerWaves(release: Release, others: readonly Release[]): void {
  const waiting = others
    .filter((o) => o.spec.clusterWave < release.spec.clusterWave && !o.metadata.deletionTimestamp)
    .flatMap((o) => {
      const why = notThereYet(o);
      return why ? [{ wave: o.spec.clusterWave, text: `${o.metadata.name} (wave ${o.spec.clusterWave}: ${why})` }] : [];
    })
    .sort((a, b) => a.wave - b.wave || (a.text < b.text ? -1 : 1));
  if (waiting.length === 0) return;
  throw new Stop(
    "WaitingForClusterWave",
    `Wave ${release.spec.clusterWave} waits for ${someOf(waiting.map((w) => w.text))}`,
    { after: LOOK_AGAIN_MS },
  );
}

/** Why a Release does not let the next wave go on; undefined when it does. */
export function notThereYet(release: Release): string | undefined {
  const applied = findCondition(release.status?.conditions, "Applied");
  if (applied?.status !== "True") return `Applied is ${applied ? `${applied.status}, ${applied.reason}` : "not known"}`;
  if (applied.observedGeneration !== release.metadata.generation) return "its new spec is not applied yet";
  const healthy = findCondition(release.status?.conditions, "Healthy");
  if (healthy?.status !== "True") return `Healthy is ${healthy ? `${healthy.status}, ${healthy.reason}` : "not known"}`;
  // Healthy may still be about the render before: the waves count only what was assessed against this one.
  const open = release.status?.waves?.find((w) => w.healthy < w.objects);
  return open ? `${open.healthy} of ${open.objects} objects assessed as healthy` : undefined;
}

/** The metrics of the Release controller. @module */
import type { Metrics } from "../../shared/runtime/metrics.ts";

/** Counts objects by what became of them: created, changed, unchanged, adopted, failed, waiting, conflict, pruned. */
export function objectCounter(metrics: Metrics) {
  return metrics.counter("convoy_release_objects_total", "Objects sent to targets by result.", ["result"]);
}

/** Counts rollouts by how they ended: Succeeded, Failed, TimedOut. */
export function rolloutCounter(metrics: Metrics) {
  return metrics.counter("convoy_release_rollouts_total", "Rollouts that ended, by result.", ["result"]);
}

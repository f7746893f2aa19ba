/** The words of the conditions (design.md §2) and of the events. @module */

/** Reasons of `Applied`. */
export type AppliedReason =
  | "Applied"
  | "SourceFailed"
  | "RenderFailed"
  | "EmptyRender"
  | "ApplyFailed"
  | "OwnershipConflict"
  | "HookFailed"
  | "ClusterNotFound"
  | "Progressing"
  | "WaitingForClusterWave"
  | "Suspended"
  | "ClusterUnreachable";

/** Reasons of `RolloutSucceeded`. */
export type RolloutReason = "Succeeded" | "Failed" | "TimedOut" | "HookFailed" | "Progressing";

/** Reasons of events beside those of `Applied`. */
export type EventReason =
  | "Pruned"
  | "Adopted"
  | "Deleted"
  | "DeletionWaits"
  | "Corrected"
  | "RolloutSucceeded"
  | "RolloutFailed"
  | "KeptOnPrune";

const UNKNOWN: ReadonlySet<string> = new Set([
  "Progressing",
  "WaitingForClusterWave",
  "Suspended",
  "ClusterUnreachable",
]);

/** The status that goes with a reason of `Applied`. */
export function appliedStatus(reason: AppliedReason): "True" | "False" | "Unknown" {
  if (reason === "Applied") return "True";
  return UNKNOWN.has(reason) ? "Unknown" : "False";
}

/** The first `max` of them, and how many more there are. */
export function someOf(texts: readonly string[], max = 3): string {
  const more = texts.length - max;
  return texts.slice(0, max).join("; ") + (more > 0 ? `; and ${more} more` : "");
}

/** `Kind namespace/name`, with the group where it is not obvious. */
export function objectText(k: { group: string; kind: string; namespace: string; name: string }): string {
  const kind = k.group && !k.group.endsWith("k8s.io") && k.group !== "apps" && k.group !== "batch"
    ? `${k.kind}.${k.group}`
    : k.kind;
  return `${kind} ${k.namespace ? `${k.namespace}/` : ""}${k.name}`;
}

/** "1 object", "2 objects". */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

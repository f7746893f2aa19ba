/** From what is seen to a state for each member. @module */
import type { Release } from "../../shared/api/mod.ts";
import { assess, type Assessment, compileHealthRules, type HealthContext } from "../../shared/health/mod.ts";
import { entryId, type Member } from "../../shared/inventory/mod.ts";
import type { Unstructured } from "../../shared/kube/mod.ts";
import { isApplied, type View } from "../live/mod.ts";
import type { Memory } from "./memory.ts";
import { type Observation, observe } from "./observe.ts";
import type { StorageClasses } from "./storage_classes.ts";
import type { StatedMember } from "./summary.ts";

/** An object without the mark is read again after this time, ms: no event tells of it. */
const UNMARKED_MS = 30_000;

/** Members with their states. */
export interface Assessed {
  members: (StatedMember & { assessedRenderRef: string | undefined })[];
  /** A state may change by time alone: look again after so many ms. */
  after: number;
  /** A watch has not delivered its first list yet: nothing can be said as a whole. */
  pending: boolean;
}

/** Assesses all members as they are seen now. `now` in ms. */
export async function assessMembers(
  release: Release,
  members: readonly Member[],
  view: View,
  memory: Memory,
  classes: StorageClasses,
  now: number,
  signal: AbortSignal,
): Promise<Assessed> {
  const rules = memory.rules(release.spec.healthRules, compileHealthRules);
  const result: Assessed = { members: [], after: Infinity, pending: false };
  for (const m of members) {
    const entry = memory.entry(entryId(m));
    const seenNow = m.assessedRenderRef === m.renderRef || entry.confirmed === m.renderRef;
    const before = { member: m, state: m.state, message: m.message ?? "", assessedRenderRef: m.assessedRenderRef };
    if (!seenNow && m.assessedRenderRef === undefined && !unwatchable(release, m, view)) {
      // Nothing of it was ever applied, as far as is known: what is there is not ours to judge yet.
      result.members.push({ ...before, current: false });
      continue;
    }
    const seen = await observe(m, view, memory, now, signal);
    if (seen.kind === "pending") {
      result.pending = true;
      return result;
    }
    if (seen.unmarked) result.after = Math.min(result.after, UNMARKED_MS);
    if (seen.kind === "object") await loadClass(seen.object, classes, signal);
    const found = judgeSeen(m, seen, {
      now,
      rules,
      storageClass: (name) => classes.get(name),
      ...(entry.healthyGeneration === undefined ? {} : { healthyGeneration: entry.healthyGeneration }),
    });
    if (found.state === "Healthy" && seen.kind === "object" && seen.object.metadata.generation !== undefined) {
      entry.healthyGeneration = seen.object.metadata.generation;
    }
    if (found.after !== undefined) result.after = Math.min(result.after, found.after);
    result.members.push({
      member: m,
      state: found.state,
      message: found.message,
      current: seenNow || seen.kind === "refused",
      assessedRenderRef: seenNow ? m.renderRef : m.assessedRenderRef,
    });
  }
  return result;
}

/** Applied, and yet nothing can be listed or watched: it stays Unknown, with the reason. */
function unwatchable(release: Release, m: Member, view: View): boolean {
  return isApplied(release, m) && view.see(m).kind === "refused";
}

function judgeSeen(m: Member, seen: Observation, ctx: HealthContext): Assessment {
  switch (seen.kind) {
    case "object":
      return assess(seen.object, ctx);
    case "unserved":
      return { state: "Missing", message: `the cluster has no kind ${m.kind}${m.group ? ` in ${m.group}` : ""}` };
    case "refused":
      return { state: "Unknown", message: seen.why };
    default:
      // A finished Job goes by itself (ttlSecondsAfterFinished): its end is not undone by that.
      if (m.kind === "Job" && m.group === "batch" && m.state === "Healthy" && m.assessedRenderRef === m.renderRef) {
        return { state: "Healthy", message: m.message ?? "" };
      }
      return assess(undefined, ctx);
  }
}

/** A claim that waits is judged by its class. */
async function loadClass(object: Unstructured, classes: StorageClasses, signal: AbortSignal): Promise<void> {
  if (object.kind !== "PersistentVolumeClaim" || object.apiVersion !== "v1") return;
  const { phase } = (object.status ?? {}) as { phase?: unknown };
  const { storageClassName } = (object.spec ?? {}) as { storageClassName?: unknown };
  if (phase === "Bound" || storageClassName === "") return;
  await classes.load(typeof storageClassName === "string" ? storageClassName : undefined, signal);
}

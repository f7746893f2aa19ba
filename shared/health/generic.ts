/** Any other kind, by the conventions that kstatus reads; a kind that says nothing is Healthy once it exists. @module */
import type { JsonObject } from "../json/mod.ts";
import { condition, degraded, healthy, num, progressing, said, type SeenCondition, staleStatus } from "./read.ts";
import type { Assessment } from "./types.ts";

/** Conditions that mean trouble while True. */
const BAD = ["Stalled", "Failed", "Degraded"];
/** Conditions that mean "up" while True, the most telling first. */
const GOOD = ["Ready", "Available"];

/** Assesses a kind without a rule of its own. */
export function generic(object: JsonObject): Assessment {
  const stale = staleStatus(object, false);
  if (stale) return stale;
  const generation = num(object, "metadata", "generation");
  /** A condition that says which generation it is about counts only for that one (C21). */
  const current = (c: SeenCondition) =>
    c.observedGeneration === undefined || generation === undefined || c.observedGeneration === generation;

  for (const type of BAD) {
    const c = condition(object, type);
    if (c?.status === "True" && current(c)) return degraded(said(c));
  }
  const reconciling = condition(object, "Reconciling");
  if (reconciling?.status === "True" && current(reconciling)) return progressing(said(reconciling));
  for (const type of GOOD) {
    const c = condition(object, type);
    if (!c) continue;
    if (!current(c)) return progressing(`${type} is about generation ${c.observedGeneration}, not ${generation}`);
    return c.status === "True" ? healthy() : progressing(said(c));
  }
  return healthy();
}

/** The one setter of conditions. @module */
import type { Condition } from "../kube/types.ts";
import { rfc3339 } from "../runtime/clock.ts";

/** The condition of that type. */
export function findCondition(list: readonly Condition[] | undefined, type: string): Condition | undefined {
  return list?.find((condition) => condition.type === type);
}

/**
 * The list with `condition` in it, in its old place or at the end. `lastTransitionTime` stays while the status is the
 * same. When nothing at all changes, the same list comes back. Changes no argument.
 *
 * @param now ms since the epoch.
 */
export function setCondition(
  list: readonly Condition[] | undefined,
  condition: Omit<Condition, "lastTransitionTime">,
  now: number,
): Condition[] {
  const old = findCondition(list, condition.type);
  if (
    old && old.status === condition.status && old.reason === condition.reason && old.message === condition.message &&
    old.observedGeneration === condition.observedGeneration
  ) return list as Condition[];
  const next: Condition = {
    ...condition,
    lastTransitionTime: old?.status === condition.status ? old.lastTransitionTime : rfc3339(now),
  };
  if (!old) return [...list ?? [], next];
  return list!.map((c) => c === old ? next : c);
}

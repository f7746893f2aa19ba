/** Reading and setting `status.conditions`. @module */
import type { Condition } from "../kube/types.ts";
import { rfc3339 } from "../runtime/clock.ts";

/** What a loop says about one condition; the rest is filled in by {@link transition}. */
export interface ConditionInput {
  type: string;
  status: Condition["status"];
  reason: string;
  message: string;
  /** Generation of the object that this is about. */
  observedGeneration: number | undefined;
}

/** The condition of that type. */
export function findCondition<T extends { type: string }>(
  conditions: readonly T[] | undefined,
  type: string,
): T | undefined {
  return conditions?.find((c) => c.type === type);
}

/** The wire form; `lastTransitionTime` moves only when the status does. `now` in ms. */
export function transition(
  previous: { status: string; lastTransitionTime: string } | undefined,
  input: ConditionInput,
  now: number,
): Condition {
  return {
    type: input.type,
    status: input.status,
    reason: input.reason,
    message: input.message,
    ...(input.observedGeneration === undefined ? {} : { observedGeneration: input.observedGeneration }),
    lastTransitionTime: previous?.status === input.status ? previous.lastTransitionTime : rfc3339(now),
  };
}

/** True when status, reason, message and observed generation are the same. */
export function sameCondition(
  previous: { status: string; reason: string; message: string; observedGeneration?: number | undefined } | undefined,
  input: ConditionInput,
): boolean {
  return previous !== undefined && previous.status === input.status && previous.reason === input.reason &&
    previous.message === input.message && previous.observedGeneration === input.observedGeneration;
}

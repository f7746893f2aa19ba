/** The changed copy of a Release's cached status that a pass works on. @module */
import type { Release, ReleaseStatus } from "../../shared/api/mod.ts";
import { cloneJson } from "../../shared/json/mod.ts";
import { findCondition, transition } from "../../shared/status/mod.ts";
import { type AppliedReason, appliedStatus, type RolloutReason } from "./reasons.ts";

type Conditions = NonNullable<ReleaseStatus["conditions"]>;

/** A copy of the cached status with setters for what the controller owns. */
export class Draft {
  readonly status: ReleaseStatus;
  /** The Release as cached or as written last: what the status is compared with. */
  base: Release;

  /** @param now ms */
  constructor(readonly release: Release, readonly now: number) {
    this.base = release;
    this.status = cloneJson(release.status ?? {});
    if (release.metadata.generation !== undefined) this.status.observedGeneration = release.metadata.generation;
  }

  /** The condition of that type, as changed so far. */
  condition(type: string): Conditions[number] | undefined {
    return findCondition(this.status.conditions, type);
  }

  /** Sets one of the controller's conditions. */
  set(
    type: "Applied" | "RolloutSucceeded" | "LifecycleSucceeded",
    status: "True" | "False" | "Unknown",
    reason: string,
    message: string,
  ): void {
    const next = transition(this.condition(type), {
      type,
      status,
      reason,
      message: message.slice(0, 4096),
      observedGeneration: this.release.metadata.generation,
    }, this.now);
    const list = this.status.conditions ?? [];
    this.status.conditions = list.some((c) => c.type === type)
      ? list.map((c) => c.type === type ? next : c)
      : [...list, next];
  }

  /** Sets `Applied`. */
  applied(reason: AppliedReason, message: string): void {
    this.set("Applied", appliedStatus(reason), reason, message);
  }

  /** Sets `RolloutSucceeded`. */
  rollout(status: "True" | "False" | "Unknown", reason: RolloutReason, message: string): void {
    this.set("RolloutSucceeded", status, reason, message);
  }

  /** Takes a condition away. */
  remove(type: "LifecycleSucceeded"): void {
    if (this.condition(type)) this.status.conditions = this.status.conditions!.filter((c) => c.type !== type);
  }
}

/** `status.waves` and `RolloutSucceeded`, computed from the inventory's per-object states: pure. @module */
import type { HealthState, ReleaseStatus } from "../../shared/api/mod.ts";
import { entryId, type EntryKey } from "../../shared/inventory/mod.ts";
import { rfc3339 } from "../../shared/runtime/clock.ts";
import { count, objectText, type RolloutReason, someOf } from "./reasons.ts";

/** One wave of the status. */
export type Wave = NonNullable<ReleaseStatus["waves"]>[number];

/** A member of the render that is rolled out, with what the health loop says about it. */
export interface RolloutEntry extends EntryKey {
  wave: number;
  applied: boolean;
  /** Only when it was assessed against this render. */
  state?: HealthState;
  message?: string;
  /** Degraded before this rollout, which did not change it: it does not fail the rollout at once (C21 E). */
  excused?: boolean;
}

/** Healthy, or suspended, which blocks nothing. */
export function isGood(state: HealthState | undefined): boolean {
  return state === "Healthy" || state === "Suspended";
}

/** Joins the members of a render with the states of the inventory that are about this render. */
export function withStates(
  entries: readonly (EntryKey & { wave: number; applied: boolean; excused?: boolean })[],
  states: readonly (EntryKey & {
    state?: HealthState | undefined;
    message?: string | undefined;
    assessedRenderRef?: string | undefined;
  })[],
  renderRef: string,
): RolloutEntry[] {
  const byId = new Map(states.filter((s) => s.assessedRenderRef === renderRef).map((s) => [entryId(s), s]));
  return entries.map((e) => {
    const s = byId.get(entryId(e));
    return {
      ...e,
      ...(s?.state === undefined ? {} : { state: s.state }),
      ...(s?.message === undefined ? {} : { message: s.message }),
    };
  });
}

/** The waves of the status. `startedAt` and `finishedAt` are kept from `previous`. */
export function computeWaves(entries: readonly RolloutEntry[], previous: readonly Wave[], now: number): Wave[] {
  const waves = new Map<number, Wave>();
  for (const e of entries) {
    let wave = waves.get(e.wave);
    if (!wave) waves.set(e.wave, wave = { wave: e.wave, objects: 0, applied: 0, healthy: 0 });
    wave.objects++;
    if (e.applied) wave.applied++;
    if (isGood(e.state)) wave.healthy++;
  }
  for (const wave of waves.values()) {
    const before = previous.find((w) => w.wave === wave.wave);
    wave.startedAt = before?.startedAt ?? rfc3339(now);
    const done = wave.applied === wave.objects && wave.healthy === wave.objects;
    if (before?.finishedAt) wave.finishedAt = before.finishedAt;
    else if (done) wave.finishedAt = rfc3339(now);
  }
  return [...waves.values()].sort((a, b) => a.wave - b.wave);
}

/** When the rollout began, ms; undefined when none did. */
export function rolloutStart(waves: readonly Wave[] | undefined): number | undefined {
  const starts = (waves ?? []).flatMap((w) => w.startedAt ? [Date.parse(w.startedAt)] : []);
  return starts.length > 0 ? Math.min(...starts) : undefined;
}

/** What to judge a rollout by. Times in ms. */
export interface RolloutInput {
  entries: readonly RolloutEntry[];
  /** `Applied` of this pass. */
  applied: { status: "True" | "False" | "Unknown"; message: string };
  /** It has succeeded already: what happens later does not change the result. */
  succeeded: boolean;
  startedAt: number;
  timeout: number;
  now: number;
}

/** The result of the rollout so far. `after`: ms until it times out. */
export interface RolloutVerdict {
  status: "True" | "False" | "Unknown";
  reason: RolloutReason;
  message: string;
  after?: number;
}

/**
 * Judges the rollout of one render. A success stays. A failure or a time-out becomes a success when all gets well after
 * all, as a Deployment's Progressing condition does.
 */
export function judgeRollout(i: RolloutInput): RolloutVerdict | undefined {
  if (i.succeeded) return undefined;
  const total = count(i.entries.length, "object");
  const good = i.entries.filter((e) => isGood(e.state)).length;
  if (i.applied.status === "True" && good === i.entries.length) {
    return { status: "True", reason: "Succeeded", message: `${total} applied and healthy` };
  }
  if (i.applied.status === "False") return { status: "False", reason: "Failed", message: i.applied.message };
  const degraded = i.entries.filter((e) => e.state === "Degraded" && !e.excused);
  if (degraded.length > 0) {
    return {
      status: "False",
      reason: "Failed",
      message: `${count(degraded.length, "object")} degraded: ${describe(degraded)}`,
    };
  }
  const waiting = i.applied.status === "True"
    ? `${good} of ${total} healthy; waiting for ${describe(i.entries.filter((e) => !isGood(e.state)))}`
    : i.applied.message;
  const left = i.startedAt + i.timeout - i.now;
  if (left <= 0) {
    return {
      status: "False",
      reason: "TimedOut",
      message: `Not done within ${Math.round(i.timeout / 1000)} s: ${waiting}`,
    };
  }
  return { status: "Unknown", reason: "Progressing", message: waiting, after: left };
}

function describe(entries: readonly RolloutEntry[]): string {
  return someOf(entries.map((e) => {
    const text = `${objectText(e)} (${e.state ?? "not assessed yet"}`;
    return e.message ? `${text}: ${e.message.slice(0, 200)})` : `${text})`;
  }));
}

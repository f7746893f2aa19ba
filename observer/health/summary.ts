/** `Healthy` and `healthSummary`, from the states of the members: pure. @module */
import type { HealthState, Release } from "../../shared/api/mod.ts";
import type { Member } from "../../shared/inventory/mod.ts";
import type { HealthSummary, Verdict } from "../../shared/status/mod.ts";
import { count, firstThree, isRollingOut, objectText } from "../live/mod.ts";

/** A member with its state as it is now; undefined = never assessed. */
export interface StatedMember {
  member: Member;
  state: HealthState | undefined;
  message: string;
  /** Seen at the member's own renderRef. */
  current: boolean;
}

/** Number of members per state; one that was never assessed is unknown. */
export function summarize(members: readonly StatedMember[]): HealthSummary {
  const summary = { healthy: 0, progressing: 0, degraded: 0, suspended: 0, missing: 0, unknown: 0 };
  for (const { state } of members) summary[(state ?? "Unknown").toLowerCase() as keyof HealthSummary]++;
  return summary;
}

/** The condition. Suspended objects do not make a Release unhealthy. */
export function judge(release: Release, members: readonly StatedMember[]): Verdict {
  if (members.length === 0) return unknown("NotAssessed", "There is nothing to assess: no object was applied yet");
  const bad = members.filter((m) => m.state === "Degraded" || m.state === "Missing");
  if (bad.length > 0) return { status: "False", reason: "Degraded", message: list(bad, members.length) };
  const moving = members.filter((m) => m.state === "Progressing");
  if (moving.length > 0) return unknown("Progressing", list(moving, members.length));
  const unclear = members.filter((m) => m.state === "Unknown");
  if (unclear.length > 0) return unknown("NotAssessed", list(unclear, members.length));
  const open = members.filter((m) => !m.current);
  if (open.length > 0 && isRollingOut(release)) {
    return unknown("Progressing", "A new render is being applied; it was not seen on the cluster yet");
  }
  const unseen = members.filter((m) => m.state === undefined);
  if (unseen.length > 0) return unknown("NotAssessed", `${count(unseen.length)} of ${members.length} not applied yet`);
  const suspended = members.filter((m) => m.state === "Suspended").length;
  return {
    status: "True",
    reason: "Healthy",
    message: `${count(members.length)} healthy${suspended > 0 ? `, of these ${suspended} suspended` : ""}`,
  };
}

/** Nobody can say. */
export function unknown(reason: string, message: string): Verdict {
  return { status: "Unknown", reason, message };
}

function list(some: readonly StatedMember[], total: number): string {
  const texts = some.map((m) => `${objectText(m.member)} (${m.message || m.state})`);
  return `${some.length} of ${count(total)}: ${firstThree(texts)}`;
}

/** What the status of a Release says about the members of its inventory: pure. @module */
import type { Release } from "../../shared/api/mod.ts";
import type { Member } from "../../shared/inventory/mod.ts";
import { findCondition } from "../../shared/status/mod.ts";

/** The render that the controller rolls out, or rolled out last. `status.renderRef` follows when all of it is applied. */
function currentRender(release: Release): string | undefined {
  return release.status?.renders?.at(-1)?.renderRef ?? release.status?.renderRef;
}

/**
 * True when the target has accepted this member at its `renderRef`: all of the render is applied, or all of the
 * member's wave. The controller writes both after the fact, so a stale cache can only say "not yet".
 */
export function isApplied(release: Release, member: Member): boolean {
  const status = release.status;
  if (!status || currentRender(release) !== member.renderRef) return false;
  if (status.renderRef === member.renderRef && findCondition(status.conditions, "Applied")?.status === "True") {
    return true;
  }
  const wave = status.waves?.find((w) => w.wave === (member.wave ?? 0));
  return wave !== undefined && wave.objects > 0 && wave.applied >= wave.objects;
}

/** Members without those that left the render and only wait to be deleted. */
export function stayingMembers(release: Release, members: readonly Member[]): Member[] {
  const current = currentRender(release);
  if (current === undefined || !members.some((m) => m.renderRef === current)) return [...members];
  // A Put that the status has not caught up with has newer refs beside the current one: those members stay.
  return members.filter((m) => m.renderRef === current || !wasSeenAt(m));
}

/** Seen at its renderRef before: its render is an old one, not one still to be applied. */
function wasSeenAt(m: Member): boolean {
  return m.assessedRenderRef === m.renderRef || m.drift?.checkedRenderRef === m.renderRef;
}

/** True while the controller is at work on a render: what is not applied yet will be. */
export function isRollingOut(release: Release): boolean {
  const applied = findCondition(release.status?.conditions, "Applied");
  if (!applied) return true;
  return applied.status === "True" || (applied.status === "Unknown" && applied.reason === "Progressing");
}

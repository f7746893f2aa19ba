/** `InSync`, from what was found of the members: pure. @module */
import type { Release } from "../../shared/api/mod.ts";
import type { Member } from "../../shared/inventory/mod.ts";
import type { Verdict } from "../../shared/status/mod.ts";
import { count, firstThree, isRollingOut, objectText } from "../live/mod.ts";
import type { Finding } from "./memory.ts";

/** A member with what is known of it now; undefined = not checked at its renderRef. */
export interface CheckedMember {
  member: Member;
  finding: Finding | undefined;
}

/** The condition. It speaks only about what was applied: a render under way makes it Unknown, never False. */
export function judge(release: Release, members: readonly CheckedMember[]): Verdict {
  const total = members.length;
  if (total === 0) return unknown("NotChecked", "There is nothing to check: no object was applied yet");
  const off = members.filter((m) => m.finding?.state === "Drifted" || m.finding?.state === "Missing");
  if (off.length > 0) {
    const texts = off.map((m) => objectText(m.member) + (m.finding!.state === "Missing" ? " (missing)" : ""));
    const differ = off.length === 1 ? "differs" : "differ";
    return {
      status: "False",
      reason: "Drifted",
      message: `${off.length} of ${count(total)} ${differ} from the render: ${firstThree(texts)}`,
    };
  }
  const failed = members.flatMap((m) =>
    m.finding?.state === "Unknown" ? [`${objectText(m.member)}: ${m.finding.why}`] : []
  );
  if (failed.length > 0) {
    return unknown("CheckFailed", `${failed.length} of ${count(total)} not checked: ${firstThree(failed)}`);
  }
  const open = members.filter((m) => !m.finding);
  if (open.length > 0) {
    return unknown(
      "NotChecked",
      isRollingOut(release)
        ? "A new render is being applied; it was not compared with the cluster yet"
        : `${open.length} of ${count(total)} not applied yet`,
    );
  }
  return { status: "True", reason: "InSync", message: `${count(total)} match${total === 1 ? "es" : ""} the render` };
}

/** Nobody can say. */
export function unknown(reason: string, message: string): Verdict {
  return { status: "Unknown", reason, message };
}

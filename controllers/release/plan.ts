/** What a rollout does, planned from the render, the inventory and the live owner marks: pure. @module */
import { entryId, type EntryKey, entryKey, type Member, type PutEntry } from "../../shared/inventory/mod.ts";

/** What is known of the live object of an entry. */
export type LiveMark =
  | { kind: "absent" }
  | { kind: "own" | "former" | "none" }
  | { kind: "other"; owner: string };

/** One object of the render. */
export interface PlanObject extends EntryKey {
  version: string;
  wave: number;
}

/** Input of {@link planRollout}. */
export interface PlanInput<T extends PlanObject> {
  renderRef: string;
  /** In apply order. */
  objects: readonly T[];
  /** Members of the inventory. */
  members: readonly Member[];
  /** Live owner marks by {@link entryId}, as far as they are known. */
  marks: ReadonlyMap<string, LiveMark>;
  /** `spec.prune`. */
  prune: boolean;
  /** Every object of the render was accepted by the target. */
  fullyApplied: boolean;
}

/** A plan. Each list is in the order to work in. */
export interface Plan<T extends PlanObject> {
  /** Objects to apply. */
  apply: T[];
  /** Objects that are another Release's. */
  conflicts: { object: T; owner: string }[];
  /** Members to delete, last applied first; empty until all is applied. */
  prune: Member[];
  /** Members that leave the inventory without a deletion, and why. */
  letGo: { member: Member; why: "pruning is off" | "gone" | "without an owner mark" | "owned by another Release" }[];
  /** Membership now: the render, and what is still to be deleted. A crash never loses track of an object. */
  entries: PutEntry[];
}

/** Plans. Deterministic; looks at nothing but its input. */
export function planRollout<T extends PlanObject>(i: PlanInput<T>): Plan<T> {
  const wanted = new Set(i.objects.map(entryId));
  const plan: Plan<T> = { apply: [], conflicts: [], prune: [], letGo: [], entries: [] };
  for (const object of i.objects) {
    const mark = i.marks.get(entryId(object));
    if (mark?.kind === "other") plan.conflicts.push({ object, owner: mark.owner });
    else plan.apply.push(object);
    plan.entries.push({ ...entryKey(object), version: object.version, renderRef: i.renderRef, wave: object.wave });
  }
  for (const member of i.members) {
    if (wanted.has(entryId(member))) continue;
    const why = letGoReason(i.prune, i.marks.get(entryId(member)));
    if (why && i.fullyApplied) {
      plan.letGo.push({ member, why });
      continue;
    }
    if (!why && i.fullyApplied) plan.prune.push(member);
    plan.entries.push({
      ...entryKey(member),
      version: member.version ?? "",
      renderRef: member.renderRef,
      wave: member.wave ?? 0,
    });
  }
  plan.prune.reverse();
  return plan;
}

function letGoReason(prune: boolean, mark: LiveMark | undefined): Plan<PlanObject>["letGo"][number]["why"] | undefined {
  if (!prune) return "pruning is off";
  switch (mark?.kind) {
    case "absent":
      return "gone";
    case "none":
      return "without an owner mark";
    case "other":
      return "owned by another Release";
    default:
      return undefined;
  }
}

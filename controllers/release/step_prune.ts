/** Deletes members of the inventory from the target: what left the render, or all of a Release that goes. @module */
import type { Release } from "../../shared/api/mod.ts";
import { impersonation, removeObject } from "../../shared/apply/mod.ts";
import { entryId, type Member } from "../../shared/inventory/mod.ts";
import { StatusError } from "../../shared/kube/mod.ts";
import { applyRank } from "../../shared/render/mod.ts";
import type { Target } from "../../shared/target/contract.ts";
import { forEachLimit, runsBy } from "./pool.ts";
import { objectText } from "./reasons.ts";

const PARALLEL = 8;

/** What the deletion needs. */
export interface RemoveStep {
  target: Target;
  release: Release;
  signal: AbortSignal;
  /** uids of objects that were told to go. Changed. */
  deleting: Map<string, string>;
}

/** What became of the members. */
export interface Removal {
  /** Nothing is left to do for them. */
  done: Member[];
  /** Of those done, the ones that were left alone, and why. */
  kept: { member: Member; why: string }[];
  /** Why the others are still there, by object. */
  open: string[];
  /** Some could not be deleted. */
  failed: boolean;
}

/**
 * Deletes members in reverse apply order. A rank of kinds begins when all that comes before it is gone: objects of a
 * custom kind need their controller, their definition and their namespace to the end.
 *
 * @throws TargetError, TransportError when the target cannot be reached
 */
export async function removeMembers(members: readonly Member[], step: RemoveStep): Promise<Removal> {
  const removal: Removal = { done: [], kept: [], open: [], failed: false };
  const sorted = members
    .map((member, at) => ({ member, at, rank: applyRank(member.group, member.kind) }))
    .sort((a, b) => (b.member.wave ?? 0) - (a.member.wave ?? 0) || b.rank - a.rank || b.at - a.at);
  for (const run of runsBy(sorted, (m) => (m.member.wave ?? 0) * 1000 + m.rank)) {
    await forEachLimit(run, PARALLEL, async ({ member }) => await removeMember(member, step, removal));
    if (removal.open.length > 0) break;
  }
  const left = members.length - removal.done.length - removal.open.length;
  if (left > 0) removal.open.push(`${left} more after that`);
  return removal;
}

async function removeMember(member: Member, step: RemoveStep, removal: Removal): Promise<void> {
  const { target, release, signal, deleting } = step;
  const id = entryId(member);
  const resource = await target.resourceFor({ group: member.group, kind: member.kind });
  const done = (why?: string) => {
    deleting.delete(id);
    removal.done.push(member);
    if (why) removal.kept.push({ member, why });
  };
  // Its CustomResourceDefinition is gone, and with it all its objects.
  if (!resource) return done();
  try {
    const uid = deleting.get(id);
    const outcome = await removeObject(
      target,
      resource,
      { name: member.name, ...(member.namespace ? { namespace: member.namespace } : {}) },
      release,
      { ...impersonation(release), signal, ...(uid ? { deletedUid: uid } : {}) },
    );
    if (outcome.kind === "gone") return done();
    if (outcome.kind === "kept") return done(outcome.why);
    deleting.set(id, outcome.uid);
    const held = outcome.finalizers.length > 0 ? ` (held by finalizers ${outcome.finalizers.join(", ")})` : "";
    removal.open.push(`${objectText(member)} is going${held}`);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    removal.failed = true;
    removal.open.push(`${objectText(member)} cannot be deleted: ${error.message}`);
  }
}

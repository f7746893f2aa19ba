/** One pass of a rollout: membership, apply, prune, result. @module */
import { durationMs, type Release, type ReleaseInventory } from "../../shared/api/mod.ts";
import type { EventRecorder } from "../../shared/controller/mod.ts";
import { entryId, type EntryKey, members, put } from "../../shared/inventory/mod.ts";
import type { KubeClient } from "../../shared/kube/mod.ts";
import { putRender } from "../../shared/render/mod.ts";
import { rfc3339 } from "../../shared/runtime/clock.ts";
import type { Metrics } from "../../shared/runtime/metrics.ts";
import type { WriterDeps } from "../../shared/status/mod.ts";
import type { Target } from "../../shared/target/contract.ts";
import type { Draft } from "./draft.ts";
import { type Item, makeItems } from "./items.ts";
import { lookAgain } from "./look_again.ts";
import type { Memo } from "./memo.ts";
import { objectCounter } from "./metrics.ts";
import { planRollout } from "./plan.ts";
import { count, objectText, someOf } from "./reasons.ts";
import { applyItems, summarize } from "./step_apply.ts";
import { removeMembers } from "./step_prune.ts";
import type { Rendered } from "./step_render.ts";
import { retainRenders } from "./step_retention.ts";
import { onTarget } from "./stop.ts";
import { computeWaves, judgeRollout, rolloutStart, withStates } from "./waves.ts";

/** What a pass of a rollout needs. */
export interface RolloutStep {
  release: Release;
  draft: Draft;
  memo: Memo;
  rendered: Rendered;
  inventory: ReleaseInventory | undefined;
  target: Target;
  client: KubeClient;
  writer: WriterDeps;
  events: EventRecorder;
  metrics: Metrics;
  signal: AbortSignal;
  /** Writes the draft as it is now. */
  write(): Promise<void>;
}

/** A new rollout: its Render is stored, its waves begin, and the status says so before anything is sent. */
export async function beginRollout(step: RolloutStep): Promise<void> {
  const { release, draft, rendered, client } = step;
  const { status } = draft;
  const stored = await putRender(client, release, rendered.revision, rendered.objects);
  const row = {
    renderRef: rendered.renderRef,
    revision: rendered.revision,
    time: rfc3339(draft.now),
    size: stored.size,
    objects: stored.objects,
  };
  status.renders = [...(status.renders ?? []).filter((r) => r.renderRef !== row.renderRef), row];
  await retainRenders(draft, release, client, members(step.inventory).map((m) => m.renderRef));
  restartRollout(draft, rendered, stored.objects);
}

/** The waves begin anew; `RolloutSucceeded` is about what begins now. */
export function restartRollout(draft: Draft, rendered: Rendered, objects: number): void {
  draft.status.waves = [];
  const message = `Applying ${count(objects, "object")} of ${rendered.revision}`;
  draft.applied("Progressing", message);
  draft.rollout("Unknown", "Progressing", message);
}

/**
 * Applies what is not accepted yet, then prunes what left the render, and sets `Applied`. Resolves to ms until the next
 * look; undefined when nothing is left to do.
 */
export async function applyAndPrune(step: RolloutStep, begun: boolean): Promise<{ items: Item[]; after?: number }> {
  const { release, draft, memo, rendered, target } = step;
  const cluster = release.spec.cluster.name;
  const items = await onTarget(cluster, () => makeItems(rendered.objects, release, target));
  const current = members(step.inventory);
  const plan = {
    renderRef: rendered.renderRef,
    objects: items,
    members: current,
    marks: new Map(),
    prune: release.spec.prune,
  };
  await put(step.writer, release, step.inventory, planRollout({ ...plan, fullyApplied: false }).entries);
  if (begun) {
    draft.status.waves = computeWaves(withStates(standing(items, memo), [], rendered.renderRef), [], draft.now);
    await step.write();
  }
  const before = accepted(items, memo);
  if (draft.now >= memo.nextTry) await onTarget(cluster, () => send(step, items));
  const summary = summarize(items, memo.results, rendered.revision);
  draft.applied(summary.reason, summary.message);
  if (!summary.complete) {
    if (draft.now >= memo.nextTry) {
      memo.attempts = accepted(items, memo) > before ? 0 : memo.attempts + 1;
      const wait = summary.onlyWaiting ? lookAgain(memo.attempts, 30_000) : lookAgain(memo.attempts + 4, 300_000);
      memo.nextTry = draft.now + wait;
    }
    return { items, after: Math.max(1, memo.nextTry - draft.now) };
  }
  memo.appliedAt ??= draft.now;
  draft.status.source = { revision: rendered.revision, digest: rendered.digest };
  draft.status.renderRef = rendered.renderRef;
  const full = planRollout({ ...plan, fullyApplied: true });
  const after = await prune(step, full, summary.message);
  return { items, ...(after === undefined ? {} : { after }) };
}

async function send(step: RolloutStep, items: readonly Item[]): Promise<void> {
  const { release, memo, metrics, events, target, signal } = step;
  const sent = items.filter((item) => memo.results.get(item.id)?.state !== "accepted");
  const states = new Map((step.inventory?.inventory ?? []).map((e) => [entryId(e), e.state]));
  try {
    await applyItems(items, {
      target,
      release,
      signal,
      results: memo.results,
      onAccepted(item, live, object) {
        const same = live && live.metadata.generation === object.metadata.generation;
        if (same && states.get(item.id) === "Degraded") memo.excused.add(item.id);
      },
    });
  } finally {
    const counter = objectCounter(metrics);
    const adopted: string[] = [];
    for (const item of sent) {
      const result = memo.results.get(item.id);
      if (!result) continue;
      counter.inc({ result: result.state === "accepted" ? result.change : result.state });
      if (result.state === "accepted" && result.change === "adopted") adopted.push(objectText(item));
    }
    if (adopted.length > 0) {
      events.event(release, "Normal", "Adopted", `Took over ${count(adopted.length, "object")}: ${someOf(adopted)}`);
    }
  }
}

async function prune(
  step: RolloutStep,
  full: ReturnType<typeof planRollout<Item>>,
  message: string,
): Promise<number | undefined> {
  const { release, draft, memo, events, metrics, target, signal } = step;
  const stay = new Set(full.entries.map(entryId));
  let after: number | undefined;
  if (full.prune.length > 0) {
    const removal = await onTarget(
      release.spec.cluster.name,
      () => removeMembers(full.prune, { target, release, signal, deleting: memo.deleting }),
    );
    for (const member of removal.done) stay.delete(entryId(member));
    objectCounter(metrics).inc({ result: "pruned" }, removal.done.length - removal.kept.length);
    const pruned = removal.done.filter((m) => !removal.kept.some((k) => k.member === m));
    if (pruned.length > 0) {
      events.event(
        release,
        "Normal",
        "Pruned",
        `Deleted ${count(pruned.length, "object")}: ${someOf(pruned.map(objectText))}`,
      );
    }
    for (const { member, why } of removal.kept) {
      events.event(release, "Normal", "KeptOnPrune", `Left ${objectText(member)} alone: ${why}`);
    }
    if (removal.open.length > 0) {
      memo.deletionLooks = removal.done.length > 0 ? 0 : memo.deletionLooks + 1;
      after = lookAgain(memo.deletionLooks, removal.failed ? 300_000 : 30_000);
      draft.applied("Applied", `${message}; to be deleted: ${someOf(removal.open)}`);
    } else memo.deletionLooks = 0;
  }
  const inventory = step.writer.memory.latest("ReleaseInventory", keyText(release), step.inventory);
  await put(step.writer, release, inventory, full.entries.filter((e) => stay.has(entryId(e))));
  return after;
}

function keyText(release: Release): string {
  return `${release.metadata.namespace ?? ""}/${release.metadata.name}`;
}

/** The members with whether each is applied. */
export function standing(
  items: readonly (EntryKey & { wave: number })[],
  memo: Memo,
): (EntryKey & { wave: number; applied: boolean; excused: boolean })[] {
  return items.map((item) => {
    const id = entryId(item);
    return {
      group: item.group,
      kind: item.kind,
      namespace: item.namespace,
      name: item.name,
      wave: item.wave,
      applied: memo.results.get(id)?.state === "accepted",
      excused: memo.excused.has(id),
    };
  });
}

function accepted(items: readonly Item[], memo: Memo): number {
  return items.filter((item) => memo.results.get(item.id)?.state === "accepted").length;
}

/** Sets the waves and `RolloutSucceeded` from what the health loop wrote. Resolves to ms until the rollout times out. */
export function judge(
  draft: Draft,
  entries: ReturnType<typeof standing>,
  inventory: ReleaseInventory | undefined,
  renderRef: string,
): number | undefined {
  const { status, now, release } = draft;
  const joined = withStates(entries, inventory?.inventory ?? [], renderRef);
  const applied = draft.condition("Applied");
  status.waves = computeWaves(joined, status.waves ?? [], now);
  const before = draft.condition("RolloutSucceeded");
  const verdict = judgeRollout({
    entries: joined,
    applied: { status: applied?.status ?? "Unknown", message: applied?.message ?? "" },
    succeeded: before?.status === "True",
    startedAt: rolloutStart(status.waves) ?? now,
    timeout: durationMs(release.spec.timeout),
    now,
  });
  if (verdict) draft.rollout(verdict.status, verdict.reason, verdict.message);
  // The result stays; that it also holds for a changed spec with the same render is news.
  else if (before) draft.set("RolloutSucceeded", before.status, before.reason, before.message);
  return verdict?.after;
}

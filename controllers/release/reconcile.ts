/** The order of steps of one pass over a Release. Each step may be the last; the status says where and why. @module */
import {
  type Cluster,
  durationMs,
  FINALIZER,
  type GitRepository,
  type Release,
  type ReleaseInventory,
  SYNC_REQUESTED_AT,
} from "../../shared/api/mod.ts";
import type { ArtifactStore } from "../../shared/artifact/mod.ts";
import type { Action, EventRecorder } from "../../shared/controller/mod.ts";
import { entryId, type Member, members } from "../../shared/inventory/mod.ts";
import { canonicalJson } from "../../shared/json/mod.ts";
import { type Informer, keyOf, type KubeClient } from "../../shared/kube/mod.ts";
import type { Clock } from "../../shared/runtime/clock.ts";
import type { Metrics } from "../../shared/runtime/metrics.ts";
import { findCondition, type WriterDeps, writeReleaseStatus } from "../../shared/status/mod.ts";
import type { Targets } from "../../shared/target/contract.ts";
import { Draft } from "./draft.ts";
import { clusterKey, releasesOnCluster } from "./indexes.ts";
import { type Memo, Memos } from "./memo.ts";
import { rolloutCounter } from "./metrics.ts";
import { objectText, someOf } from "./reasons.ts";
import { applyAndPrune, beginRollout, judge, restartRollout, type RolloutStep, standing } from "./rollout.ts";
import { addFinalizer, finalize } from "./step_finalize.ts";
import { Renderer, renderInputs } from "./step_render.ts";
import { recordRequests } from "./step_requests.ts";
import { findSource } from "./step_source.ts";
import { waitForLowerWaves } from "./step_wave.ts";
import { onTarget, Stop } from "./stop.ts";
import { rolloutStart } from "./waves.ts";

/** Drift that was corrected and is told again unchanged is corrected again only after this time. */
const CORRECT_AGAIN_MS = 30_000;
const LOOK_AGAIN_MS = 30_000;

/** What the reconciler needs. */
export interface ReconcilerDeps {
  client: KubeClient;
  targets: Targets;
  artifacts: ArtifactStore;
  events: EventRecorder;
  metrics: Metrics;
  clock: Clock;
  writer: WriterDeps;
  releases: Informer<Release>;
  inventories: Informer<ReleaseInventory>;
  clusters: Informer<Cluster>;
  repositories: Informer<GitRepository>;
  /** Keys of Clusters whose connection was lost. Shared with who listens to `Targets.onChange`. */
  lost: Set<string>;
}

/** Reconciles Releases; safe to run for several keys at once, for one key once at a time. */
export class ReleaseReconciler {
  readonly #d: ReconcilerDeps;
  readonly #memos = new Memos();
  readonly #renderer: Renderer;

  constructor(deps: ReconcilerDeps) {
    this.#d = deps;
    this.#renderer = new Renderer(deps.artifacts);
  }

  /** One pass over the Release of that key. */
  async reconcile(key: string, signal: AbortSignal): Promise<Action> {
    const cached = this.#d.releases.get(key);
    if (!cached) {
      this.#memos.forget(key);
      return { await: "change" };
    }
    let release = this.#d.writer.memory.fresher(cached);
    const memo = this.#memos.get(key, release.metadata.uid ?? "");
    if (release.metadata.deletionTimestamp) return await this.#end(release, memo, signal);
    if (!release.metadata.finalizers?.includes(FINALIZER)) {
      release = await addFinalizer(release, this.#d.client, signal);
      this.#d.writer.memory.remember(release);
    }
    const draft = new Draft(release, this.#d.clock.now());
    let action: Action;
    try {
      recordRequests(draft);
      action = await this.#pursue(key, draft, memo, signal);
    } catch (error) {
      if (!(error instanceof Stop)) throw error;
      memo.settledInputs = "";
      draft.applied(error.reason, error.message);
      action = stopped(draft, error);
    }
    await this.#write(draft);
    this.#tell(release, draft);
    return action;
  }

  async #end(release: Release, memo: Memo, signal: AbortSignal): Promise<Action> {
    const { client, targets, events, clusters, clock } = this.#d;
    const draft = new Draft(release, clock.now());
    let action: Action | undefined;
    try {
      const cluster = () => clusters.get(clusterKey(release));
      action = await finalize({ release, draft, memo, client, targets, events, signal, cluster });
    } catch (error) {
      if (!(error instanceof Stop)) throw error;
      draft.applied(error.reason, error.message);
      action = error.action;
    }
    if (!action) return { await: "change" };
    await this.#write(draft);
    this.#tell(release, draft);
    return action;
  }

  async #pursue(key: string, draft: Draft, memo: Memo, signal: AbortSignal): Promise<Action> {
    const { release, now } = draft;
    const { writer, inventories, repositories, clock } = this.#d;
    await this.#checkCluster(release, signal);
    const source = findSource(release, (name) => repositories.get(`${release.metadata.namespace}/${name}`));
    const inventory = writer.memory.latest("ReleaseInventory", key, inventories.get(key));
    const inputs = canonicalJson([renderInputs(release, source), release.metadata.generation ?? 0]);
    const sync = syncDue(release, memo);
    const { renderRef } = draft.status;
    const settled = memo.settledInputs === inputs && !sync && renderRef !== undefined &&
      isWhole(inventory, renderRef, memo.results.size);
    if (settled && again(release, inventory, memo, renderRef, now).length === 0) {
      draft.status.source = { revision: source.artifact.revision, digest: source.artifact.digest };
      return this.#rest(draft, memo, judge(draft, standing(memberItems(inventory), memo), inventory, renderRef));
    }
    const rendered = await this.#renderer.render(release, source);
    const step: RolloutStep = {
      ...this.#d,
      release,
      draft,
      memo,
      rendered,
      inventory,
      target: await onTarget(
        release.spec.cluster.name,
        () => this.#d.targets.get(release.metadata.namespace ?? "", release.spec.cluster.name),
      ),
      signal,
      write: () => this.#write(draft),
    };
    const begun = await this.#choose(step, sync);
    const { items, after } = await applyAndPrune(step, begun);
    const latest = writer.memory.latest("ReleaseInventory", key, inventories.get(key));
    const timeout = judge(draft, standing(items, memo), latest, rendered.renderRef);
    if (after !== undefined) return { after: Math.min(after, timeout ?? Infinity) };
    memo.settledInputs = inputs;
    memo.appliedAt ??= clock.now();
    return this.#rest(draft, memo, timeout);
  }

  /** Decides what of the render is to be sent: all, what drifted, or nothing. True when a rollout begins. */
  async #choose(step: RolloutStep, sync: boolean): Promise<boolean> {
    const { release, draft, memo, rendered, inventory } = step;
    const { renderRef } = rendered;
    const fresh = draft.status.renders?.at(-1)?.renderRef !== renderRef;
    const applied = draft.condition("Applied");
    const current = !fresh && !sync && draft.status.renderRef === renderRef && applied?.status === "True" &&
      applied.observedGeneration === release.metadata.generation;
    if (current && hasAll(inventory, renderRef, rendered.objects.length)) {
      // Applied before, maybe by a process that is gone: only what is known to differ, or not known at all, is sent.
      const ids = new Set(again(release, inventory, memo, renderRef, draft.now).map(entryId));
      for (const member of members(inventory)) {
        if (member.renderRef !== renderRef) continue;
        const id = entryId(member);
        if (ids.has(id)) memo.results.delete(id);
        else if (!memo.results.has(id)) memo.results.set(id, { state: "accepted", change: "unchanged" });
      }
      if (ids.size > 0) this.#remember(step, ids);
      else memo.syncSeen ??= release.metadata.annotations?.[SYNC_REQUESTED_AT] ?? "";
      return false;
    }
    const applyId = [renderRef, release.metadata.generation, release.metadata.annotations?.[SYNC_REQUESTED_AT]].join(
      " ",
    );
    if (memo.applyId === applyId && !fresh && !sync && applied?.reason !== "ClusterUnreachable") return false;
    waitForLowerWaves(release, releasesOnCluster(this.#d.releases, clusterKey(release)));
    memo.begin(applyId);
    memo.syncSeen = release.metadata.annotations?.[SYNC_REQUESTED_AT] ?? "";
    memo.appliedAt = undefined;
    if (fresh) {
      await beginRollout(step);
      return true;
    }
    const retried = sync && draft.condition("RolloutSucceeded")?.status === "False";
    if (retried) restartRollout(draft, rendered, rendered.objects.length);
    return retried;
  }

  // Nothing of the objects' content is told here: what is shown is never what is sent (C16).
  #remember(step: RolloutStep, ids: ReadonlySet<string>): void {
    const { memo, release, draft } = step;
    const drifted = members(step.inventory).filter((m) => ids.has(entryId(m)) && isDrifted(m));
    for (const m of drifted) memo.corrected.set(entryId(m), { drift: canonicalJson(m.drift), at: draft.now });
    memo.appliedAt = undefined;
    memo.nextTry = 0;
    if (drifted.length > 0) {
      this.#d.events.event(
        release,
        "Normal",
        "Corrected",
        `Applied again what drifted: ${someOf(drifted.map(objectText))}`,
      );
    }
  }

  async #checkCluster(release: Release, signal: AbortSignal): Promise<void> {
    if (release.spec.suspend) {
      const last = release.status?.source ? `; applied last: ${release.status.source.revision}` : "";
      throw new Stop("Suspended", `spec.suspend is true${last}`);
    }
    const key = clusterKey(release), name = release.spec.cluster.name;
    const cluster = this.#d.clusters.get(key);
    if (!cluster) throw new Stop("ClusterNotFound", `Cluster ${key} not found: create it or mend spec.cluster.name`);
    if (cluster.spec.suspend) throw new Stop("Suspended", `Cluster ${name} is suspended (spec.suspend)`);
    const reachable = findCondition(cluster.status?.conditions, "Reachable");
    if (reachable?.status === "False" && reachable.observedGeneration === cluster.metadata.generation) {
      throw new Stop("ClusterUnreachable", `Cluster ${name}: ${reachable.reason}: ${reachable.message}`);
    }
    if (!this.#d.lost.has(key)) return;
    await onTarget(name, async () => {
      const target = await this.#d.targets.get(release.metadata.namespace ?? "", name);
      await target.client.raw({ method: "GET", path: "/version", signal });
    });
    this.#d.lost.delete(key);
  }

  /** Nothing to do but wait: for a change, the rollout's end, or the interval. */
  #rest(draft: Draft, memo: Memo, timeout: number | undefined): Action {
    const interval = durationMs(draft.release.spec.interval);
    const due = (memo.appliedAt ?? draft.now) + interval - draft.now;
    return { after: Math.max(1000, Math.min(due * (0.95 + 0.1 * Math.random()), timeout ?? Infinity)) };
  }

  async #write(draft: Draft): Promise<void> {
    const { writer, clock } = this.#d;
    await writeReleaseStatus(writer, draft.base, draft.status, clock.now());
    draft.base = writer.memory.latest("Release", keyOf(draft.base), draft.base) ?? draft.base;
  }

  /** Events and metrics for what changed in this pass. */
  #tell(release: Release, draft: Draft): void {
    const { events, metrics } = this.#d;
    const changed = (type: string) => {
      const a = findCondition(release.status?.conditions, type), b = draft.condition(type);
      return b && (a?.status !== b.status || a.reason !== b.reason) ? b : undefined;
    };
    const applied = changed("Applied");
    if (applied) {
      events.event(release, applied.status === "False" ? "Warning" : "Normal", applied.reason, applied.message);
    }
    const rollout = changed("RolloutSucceeded");
    if (rollout && rollout.status !== "Unknown") {
      rolloutCounter(metrics).inc({ result: rollout.reason });
      const good = rollout.status === "True";
      events.event(release, good ? "Normal" : "Warning", good ? "RolloutSucceeded" : "RolloutFailed", rollout.message);
    }
  }
}

/** A pass that a step ended: a rollout that is under way goes on towards its time limit. */
function stopped(draft: Draft, stop: Stop): Action {
  const rollout = draft.condition("RolloutSucceeded");
  if (!rollout) {
    draft.rollout("Unknown", "Progressing", `No rollout has begun: ${stop.message}`);
    return stop.action;
  }
  const started = rolloutStart(draft.status.waves);
  if (rollout.status !== "Unknown" || stop.reason === "Suspended" || started === undefined) return stop.action;
  const left = started + durationMs(draft.release.spec.timeout) - draft.now;
  if (left <= 0) {
    const limit = draft.release.spec.timeout;
    draft.rollout("False", "TimedOut", `Not done within ${limit}: ${stop.message}`);
    return stop.action;
  }
  draft.rollout("Unknown", "Progressing", stop.message);
  return { after: Math.min(left, "after" in stop.action ? stop.action.after : LOOK_AGAIN_MS) };
}

/** Whether a sync request waits. One from before this process is due when no pass has written since. */
function syncDue(release: Release, memo: Memo): boolean {
  const asked = release.metadata.annotations?.[SYNC_REQUESTED_AT] ?? "";
  if (memo.syncSeen !== undefined) return memo.syncSeen !== asked;
  if (!asked) return false;
  const done = release.status?.reconciledAt;
  return done === undefined || Date.parse(asked) > Date.parse(done);
}

/** Members whose drift is known to need another apply (mode Correct), or is not known when the interval is over. */
function again(
  release: Release,
  inventory: ReleaseInventory | undefined,
  memo: Memo,
  renderRef: string,
  now: number,
): Member[] {
  const correct = release.spec.drift.mode === "Correct";
  const due = memo.appliedAt !== undefined && now - memo.appliedAt >= durationMs(release.spec.interval);
  const found = members(inventory).filter((m) => {
    if (m.renderRef !== renderRef) return false;
    const known = m.drift?.checkedRenderRef === renderRef && m.drift.state !== "Unknown";
    if (!known) return due;
    if (!isDrifted(m)) {
      memo.corrected.delete(entryId(m));
      return false;
    }
    if (!correct) return false;
    const last = memo.corrected.get(entryId(m));
    return !last || last.drift !== canonicalJson(m.drift) || now - last.at >= CORRECT_AGAIN_MS;
  });
  if (due && found.length === 0) memo.appliedAt = now;
  return found;
}

function isDrifted(m: Member): boolean {
  return m.drift?.state === "Drifted" || m.drift?.state === "Missing";
}

/** All members are of that render, and there are so many. */
function isWhole(inventory: ReleaseInventory | undefined, renderRef: string, objects: number): boolean {
  const all = members(inventory);
  return all.length === objects && all.every((m) => m.renderRef === renderRef);
}

/** The members of that render are so many; others may wait for their deletion. */
function hasAll(inventory: ReleaseInventory | undefined, renderRef: string, objects: number): boolean {
  return members(inventory).filter((m) => m.renderRef === renderRef).length === objects;
}

function memberItems(inventory: ReleaseInventory | undefined) {
  return members(inventory).map((m) => ({
    group: m.group ?? "",
    kind: m.kind,
    namespace: m.namespace ?? "",
    name: m.name,
    wave: m.wave ?? 0,
  }));
}

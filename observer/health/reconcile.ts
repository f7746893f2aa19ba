/** One pass of the health loop over a Release. @module */
import type { Release, ReleaseInventory } from "../../shared/api/mod.ts";
import type { Action } from "../../shared/controller/mod.ts";
import { type AssessedEntry, entryId, entryKey, memberHooks, members, putHealth } from "../../shared/inventory/mod.ts";
import { type Informer, TransportError } from "../../shared/kube/mod.ts";
import type { Clock } from "../../shared/runtime/clock.ts";
import type { Metrics } from "../../shared/runtime/metrics.ts";
import { writeHealth, type WriterDeps } from "../../shared/status/mod.ts";
import { type Target, TargetError } from "../../shared/target/contract.ts";
import { isRollingOut, type LiveObjects, Memories, stayingMembers } from "../live/mod.ts";
import { type Assessed, assessMembers } from "./assess_members.ts";
import { assessHooks, HOOK_KINDS } from "./hooks.ts";
import { Memory } from "./memory.ts";
import { confirm, toConfirm } from "./observe.ts";
import { StorageClasses } from "./storage_classes.ts";
import { judge, summarize, unknown } from "./summary.ts";

/** A cluster that cannot be reached is looked at again after this time even when nothing is heard of it, ms. */
const UNREACHABLE_MS = 15_000;

/** A watch that has not synced is looked at again after this time, ms. */
const PENDING_MS = 5_000;

/** What the reconciler needs. */
export interface HealthDeps {
  releases: Informer<Release>;
  inventories: Informer<ReleaseInventory>;
  live: LiveObjects;
  writer: WriterDeps;
  clock: Clock;
  metrics: Metrics;
  /** Shortest time between two writes of one Release, ms. */
  writeMs: number;
}

/** Assesses Releases; for one key once at a time. */
export class HealthReconciler {
  readonly memories = new Memories(() => new Memory());
  readonly #d: HealthDeps;
  readonly #classes = new WeakMap<Target, StorageClasses>();
  readonly #assessments;
  readonly #lists;

  constructor(deps: HealthDeps) {
    this.#d = deps;
    this.#assessments = deps.metrics.counter(
      "convoy_health_assessments_total",
      "Objects assessed, by state; unknown also for those that were not seen yet",
      ["state"],
    );
    this.#lists = deps.metrics.counter(
      "convoy_health_confirm_lists_total",
      "Lists of one kind of a Release's objects after a new render was applied",
    );
  }

  /** One pass. Writes at most once per `writeMs`. */
  async reconcile(key: string, signal: AbortSignal): Promise<Action> {
    const { releases, inventories, live, writer, clock, writeMs } = this.#d;
    const release = releases.get(key);
    if (!release || release.metadata.deletionTimestamp) {
      // What is being deleted is not judged any more: that its objects go is no illness.
      live.detach(key);
      this.memories.delete(key);
      return { await: "change" };
    }
    const memory = this.memories.get(key, release);
    const wait = memory.writtenAt + writeMs - clock.now();
    if (wait > 0) return { after: wait };
    const inventory = writer.memory.latest<ReleaseInventory>("ReleaseInventory", key, inventories.get(key));
    const all = stayingMembers(release, members(inventory));
    memory.keep(new Set(all.map(entryId)));
    let found: Assessed = { members: [], after: Infinity, pending: false };
    try {
      if (all.length > 0) found = await this.#assess(release, inventory!, memory, key, signal);
    } catch (error) {
      const why = unusable(error);
      if (!why) throw error;
      await this.#writeUnknown(release, inventory, memory, why);
      return { after: UNREACHABLE_MS };
    }
    // The watch tells when it has synced; one that never does makes the cluster count as unreachable.
    if (found.pending) return { after: PENDING_MS };
    const hooks = assessHooks(memberHooks(inventory), memory.hooks, clock.now());
    const written = inventory && await putHealth(writer, inventory, { entries: entriesOf(found.members), hooks });
    const verdict = judge(release, found.members);
    const status = await writeHealth(writer, release, verdict, summarize(found.members), clock.now());
    if (written === "written" || status === "written") memory.writtenAt = clock.now();
    const open = found.members.some((m) => !m.current);
    if (!open) memory.poll.reset();
    const after = Math.min(found.after, open ? memory.poll.next() : Infinity);
    return after === Infinity ? { await: "change" } : { after };
  }

  async #assess(
    release: Release,
    inventory: ReleaseInventory,
    memory: Memory,
    key: string,
    signal: AbortSignal,
  ): Promise<Assessed> {
    const { live, clock } = this.#d;
    const all = stayingMembers(release, members(inventory));
    const hooksRun = memberHooks(inventory).some((h) => h.startedAt && !h.finishedAt);
    const view = await live.attach(
      key,
      release.metadata.namespace ?? "",
      release.spec.cluster.name,
      hooksRun ? [...all, ...HOOK_KINDS] : all,
      isRollingOut(release) && all.some((m) => m.assessedRenderRef !== m.renderRef),
    );
    for (const [resource, some] of toConfirm(release, all, view, memory)) {
      this.#lists.inc();
      await confirm(release, resource, some, view, memory, signal);
    }
    let classes = this.#classes.get(view.target);
    if (!classes) this.#classes.set(view.target, classes = new StorageClasses(view.target, clock));
    const found = await assessMembers(release, all, view, memory, classes, clock.now(), signal);
    for (const m of found.members) this.#assessments.inc({ state: m.state ?? "Unknown" });
    return found;
  }

  /** Nothing is known of the cluster now: no stale word stays. What was seen at which render stays known. */
  async #writeUnknown(
    release: Release,
    inventory: ReleaseInventory | undefined,
    memory: Memory,
    why: { reason: string; message: string },
  ): Promise<void> {
    const { writer, clock } = this.#d;
    const all = stayingMembers(release, members(inventory)).map((member) => ({
      member,
      state: "Unknown" as const,
      message: why.message,
      current: false,
      assessedRenderRef: member.assessedRenderRef,
    }));
    const entries = entriesOf(all);
    const written = inventory && await putHealth(writer, inventory, { entries });
    const status = await writeHealth(writer, release, unknown(why.reason, why.message), summarize(all), clock.now());
    if (written === "written" || status === "written") memory.writtenAt = clock.now();
  }
}

/** What goes into the inventory: members that were seen at some render. */
function entriesOf(members: Assessed["members"]): AssessedEntry[] {
  return members.flatMap(({ member, state, message, assessedRenderRef }) =>
    state === undefined || assessedRenderRef === undefined
      ? []
      : [{ ...entryKey(member), state, ...(message ? { message } : {}), assessedRenderRef }]
  );
}

/** Why the cluster cannot be looked at; undefined for other errors. The message does not vary from try to try. */
function unusable(error: unknown): { reason: string; message: string } | undefined {
  if (error instanceof TargetError && error.reason !== "ClusterUnreachable") {
    return { reason: "NotAssessed", message: error.message };
  }
  if (error instanceof TargetError || error instanceof TransportError) {
    return { reason: "ClusterUnreachable", message: "The cluster does not answer" };
  }
  return undefined;
}

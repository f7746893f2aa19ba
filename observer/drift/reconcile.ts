/** One pass of the drift loop over a Release. @module */
import type { Release, ReleaseInventory } from "../../shared/api/mod.ts";
import type { Action, EventRecorder } from "../../shared/controller/mod.ts";
import { type CheckedEntry, entryId, entryKey, type Member, members, putDrift } from "../../shared/inventory/mod.ts";
import { type Informer, isOlder, type KubeClient, TransportError } from "../../shared/kube/mod.ts";
import { getRender, RenderStoreError, type StoredRender } from "../../shared/render/mod.ts";
import type { Clock } from "../../shared/runtime/clock.ts";
import type { Metrics } from "../../shared/runtime/metrics.ts";
import { writeInSync, type WriterDeps } from "../../shared/status/mod.ts";
import { type Target, TargetError } from "../../shared/target/contract.ts";
import { isApplied, isRollingOut, type LiveObjects, Memories, stayingMembers, type View } from "../live/mod.ts";
import { checkObject } from "./check.ts";
import { CrdSchemas } from "./crd_schemas.ts";
import { type Check, type Finding, Memory } from "./memory.ts";
import { renderedObject } from "./render_index.ts";
import { type CheckedMember, judge, unknown } from "./verdict.ts";

/** Checks of one Release at once. */
const PARALLEL = 4;
/** A pass writes what it has found after this time and goes on in another one, ms. */
const PASS_MS = 5_000;
/** A cluster that cannot be reached is looked at again after this time even when nothing is heard of it, ms. */
const UNREACHABLE_MS = 15_000;
/** A watch that has not synced, and an object that changes all the time, are looked at again after this time, ms. */
const PENDING_MS = 5_000, CHANGING_MS = 1_000;
/** Delays before a failed check is tried again, ms. */
const FAILED_MS = 30_000, FAILED_MAX_MS = 300_000;

/** What the reconciler needs. */
export interface DriftDeps {
  client: KubeClient;
  releases: Informer<Release>;
  inventories: Informer<ReleaseInventory>;
  live: LiveObjects;
  events: EventRecorder;
  writer: WriterDeps;
  clock: Clock;
  metrics: Metrics;
  /** Shortest time between two writes of one Release, ms. */
  writeMs: number;
  /** Period of the slow sweep, ms. */
  sweepMs: number;
  /** In [0, 1): where in the sweep a Release has its place. */
  placeOf(key: string): number;
}

/** One pass's inputs. */
interface Pass {
  release: Release;
  view: View;
  memory: Memory;
  signal: AbortSignal;
}

/** What is known after a pass. */
interface Found {
  checked: CheckedMember[];
  /** Some member has to be checked and is not applied yet: only the status tells when. */
  open: boolean;
  /** ms until the next look. */
  after: number;
}

/** Checks Releases; for one key once at a time. */
export class DriftReconciler {
  readonly memories = new Memories(() => new Memory());
  readonly #d: DriftDeps;
  readonly #schemas = new WeakMap<Target, CrdSchemas>();
  readonly #checks;

  constructor(deps: DriftDeps) {
    this.#d = deps;
    this.#checks = deps.metrics.counter("convoy_drift_dry_runs_total", "Dry runs by what they found", ["result"]);
  }

  /** One pass. Writes at most once per `writeMs`. */
  async reconcile(key: string, signal: AbortSignal): Promise<Action> {
    const { releases, inventories, live, writer, clock, writeMs } = this.#d;
    const release = releases.get(key);
    if (!release || release.metadata.deletionTimestamp) {
      live.detach(key);
      this.memories.delete(key);
      return { await: "change" };
    }
    const memory = this.memories.get(key, release);
    for (const problem of memory.read(release)) {
      this.#d.events.event(release, "Warning", "IgnoreUnreadable", `spec.drift.ignore: ${problem}`);
    }
    const wait = memory.writtenAt + writeMs - clock.now();
    if (wait > 0) return { after: wait };
    const inventory = writer.memory.latest<ReleaseInventory>("ReleaseInventory", key, inventories.get(key));
    const all = stayingMembers(release, members(inventory));
    memory.keep(new Set(all.map(entryId)));
    let found: Found = { checked: [], open: false, after: Infinity };
    try {
      if (all.length > 0) {
        const view = await live.attach(
          key,
          release.metadata.namespace ?? "",
          release.spec.cluster.name,
          all,
          isRollingOut(release) && all.some((m) => m.drift?.checkedRenderRef !== m.renderRef),
        );
        if (all.some((m) => view.see(m).kind === "pending")) return { after: PENDING_MS };
        found = await this.#check(key, { release, view, memory, signal }, all);
      }
    } catch (error) {
      const why = unusable(error);
      if (!why) throw error;
      await this.#writeUnknown(release, inventory, memory, all, why);
      return { after: UNREACHABLE_MS };
    }
    const written = inventory && await putDrift(writer, inventory, entriesOf(found.checked));
    const status = await writeInSync(writer, release, judge(release, found.checked), clock.now());
    if (written === "written" || status === "written") memory.writtenAt = clock.now();
    if (!found.open) memory.poll.reset();
    return { after: Math.min(found.after, found.open ? memory.poll.next() : Infinity, this.#untilSweep(key)) };
  }

  /** What is known of each member, after checking those that need it. */
  async #check(key: string, pass: Pass, all: readonly Member[]): Promise<Found> {
    const { clock } = this.#d;
    const { memory } = pass;
    memory.believeUntil ??= clock.now() + this.#d.placeOf(key) * Math.min(this.#d.sweepMs, 60_000);
    const needed = all.filter((m) => this.#needsCheck(m, pass));
    const due = needed.filter((m) => isApplied(pass.release, m));
    const end = clock.now() + PASS_MS;
    let after = Infinity;
    const queue = due.values();
    const worker = async () => {
      for (const m of queue) {
        if (clock.now() >= end) {
          after = 1;
          return;
        }
        after = Math.min(after, await this.#checkOne(m, pass));
      }
    };
    // All have ended before a failure is told: nothing goes on behind the pass.
    const ended = await Promise.allSettled(Array.from({ length: Math.min(PARALLEL, due.length) }, worker));
    for (const e of ended) if (e.status === "rejected") throw e.reason;
    const now = clock.now();
    for (const check of memory.checks.values()) if (check.until > now) after = Math.min(after, check.until - now);
    if (all.some((m) => believed(m, memory, now))) after = Math.min(after, memory.believeUntil - now);
    const checked = all.map((member) => ({ member, finding: this.#known(member, pass) }));
    return { checked, open: due.length < needed.length, after };
  }

  /** Checks one member and remembers what was found; resolves to ms until it has to be looked at again. */
  async #checkOne(m: Member, pass: Pass): Promise<number> {
    const { release, view, memory, signal } = pass;
    const { basis } = memory;
    const id = entryId(m);
    memory.dirty.delete(id);
    const now = this.#d.clock.now();
    const failures = memory.checks.get(id)?.failures ?? 0;
    const remember = (finding: Finding, version: string | undefined, until = Infinity) => {
      const check: Check = { finding, version, basis, renderRef: m.renderRef, until, failures: 0 };
      if (finding.state === "Unknown") {
        check.failures = failures + 1;
        check.until = now + Math.min(FAILED_MAX_MS, FAILED_MS * 2 ** failures);
      }
      memory.checks.set(id, check);
      this.#checks.inc({ result: finding.state });
    };
    const seen = view.see(m);
    const resource = view.resourceOf(m);
    if (!resource) {
      remember({ state: "Missing" }, undefined);
      return Infinity;
    }
    const render = await this.#render(release, m.renderRef);
    const rendered = typeof render === "string" ? undefined : renderedObject(render, m, release, resource);
    if (!rendered) {
      remember(
        { state: "Unknown", why: typeof render === "string" ? render : "its render does not name it" },
        undefined,
      );
      return Infinity;
    }
    let schemas = this.#schemas.get(view.target);
    if (!schemas) this.#schemas.set(view.target, schemas = new CrdSchemas(view.target, this.#d.clock));
    const cached = seen.kind === "object" ? seen.object : undefined;
    const result = await checkObject({
      release,
      target: view.target,
      resource,
      rendered,
      cached,
      ignore: memory.ignore.for(m),
      schemas,
      signal,
    }).catch((error) => {
      memory.dirty.add(id);
      throw error;
    });
    if ("changing" in result) {
      memory.dirty.add(id);
      return CHANGING_MS;
    }
    // No event tells of an object without the mark, or of a kind that may not be watched: it is read again in the sweep.
    const untold = result.unmarked || seen.kind === "refused";
    remember(result.finding, result.version, untold ? now + this.#d.sweepMs : Infinity);
    return Infinity;
  }

  async #render(release: Release, renderRef: string): Promise<StoredRender | string> {
    try {
      return await getRender(this.#d.client, release.metadata.namespace ?? "", renderRef);
    } catch (error) {
      if (error instanceof RenderStoreError) return error.message;
      throw error;
    }
  }

  #needsCheck(m: Member, { view, memory }: Pass): boolean {
    const id = entryId(m);
    if (memory.dirty.has(id)) return true;
    const now = this.#d.clock.now();
    const check = memory.checks.get(id);
    if (!check) return !believed(m, memory, now);
    if (check.renderRef !== m.renderRef || check.basis !== memory.basis || now >= check.until) return true;
    const seen = view.see(m);
    if (seen.kind !== "object") return check.version !== undefined && check.until === Infinity;
    const { resourceVersion = "" } = seen.object.metadata;
    // A check may be ahead of the cache: it was made on the object as it was read.
    return check.version !== resourceVersion && !isOlder(resourceVersion, check.version ?? "");
  }

  #known(m: Member, { memory }: Pass): Finding | undefined {
    const check = memory.checks.get(entryId(m));
    if (check?.renderRef === m.renderRef) return check.finding;
    return believed(m, memory, this.#d.clock.now()) ? recorded(m) : undefined;
  }

  #untilSweep(key: string): number {
    const { clock, sweepMs, placeOf } = this.#d;
    const phase = (clock.now() / sweepMs + placeOf(key)) % 1;
    return Math.max(1_000, (1 - phase) * sweepMs);
  }

  /** Nothing is known of the cluster now: no stale word stays. */
  async #writeUnknown(
    release: Release,
    inventory: ReleaseInventory | undefined,
    memory: Memory,
    all: readonly Member[],
    why: { reason: string; message: string },
  ): Promise<void> {
    const { writer, clock } = this.#d;
    // Checks hold for the versions they were made on: what did not change meanwhile need not be checked again.
    const entries = all.flatMap((m) =>
      m.drift ? [{ ...entryKey(m), drift: { ...stay(m), state: "Unknown" as const } }] : []
    );
    const written = inventory && await putDrift(writer, inventory, entries);
    const status = await writeInSync(writer, release, unknown(why.reason, why.message), clock.now());
    if (written === "written" || status === "written") memory.writtenAt = clock.now();
  }
}

/** What an earlier life of this process recorded about the present render, while it is believed. */
function believed(m: Member, memory: Memory, now: number): boolean {
  return !memory.checks.has(entryId(m)) && m.drift?.checkedRenderRef === m.renderRef && m.drift.state !== "Unknown" &&
    memory.believeUntil !== undefined && now < memory.believeUntil;
}

function recorded(m: Member): Finding | undefined {
  if (!m.drift || m.drift.state === "Unknown") return undefined;
  return m.drift.state === "Drifted" ? { state: "Drifted", fields: m.drift.fields ?? [] } : { state: m.drift.state };
}

function stay(m: Member): { checkedRenderRef?: string } {
  return m.drift?.checkedRenderRef === undefined ? {} : { checkedRenderRef: m.drift.checkedRenderRef };
}

/** What goes into the inventory; members that were not checked keep what is there. */
function entriesOf(checked: readonly CheckedMember[]): CheckedEntry[] {
  return checked.flatMap(({ member, finding }): CheckedEntry[] => {
    if (!finding) return [];
    if (finding.state === "Unknown") {
      return [{ ...entryKey(member), drift: { state: "Unknown", ...stay(member) } }];
    }
    return [{
      ...entryKey(member),
      drift: {
        state: finding.state,
        ...(finding.state === "Drifted" ? { fields: finding.fields } : {}),
        checkedRenderRef: member.renderRef,
      },
    }];
  });
}

/** Why the cluster cannot be looked at; undefined for other errors. The message does not vary from try to try. */
function unusable(error: unknown): { reason: string; message: string } | undefined {
  if (error instanceof TargetError && error.reason !== "ClusterUnreachable") {
    return { reason: "NotChecked", message: error.message };
  }
  if (error instanceof TargetError || error instanceof TransportError) {
    return { reason: "ClusterUnreachable", message: "The cluster does not answer" };
  }
  return undefined;
}

/** The harness that all loops run in: informer events → queue → workers → reconcile. @module */
import type { BackoffOptions } from "../runtime/backoff.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import type { Metrics } from "../runtime/metrics.ts";
import type { Informer } from "../kube/contract.ts";
import { StatusError } from "../kube/status.ts";
import { keyOf, type KubeObject } from "../kube/types.ts";
import { type Action, TerminalError } from "./contract.ts";
import { shouldEnqueueOnUpdate } from "./should_enqueue.ts";
import { WorkQueue } from "./work_queue.ts";

/** What one reconcile is given. */
export interface ReconcileContext {
  /** Aborted when the time is over or the loop stops. */
  signal: AbortSignal;
  /** Has the loop's name and the key. */
  logger: Logger;
  clock: Clock;
  /** Failures of this key in a row before this try. */
  failures: number;
}

/** How others put keys into a loop's queue. */
export interface Enqueue {
  add(key: string): void;
  /** The earliest of several for one key counts. */
  addAfter(key: string, ms: number): void;
}

/** Options of {@link runController}. */
export interface ControllerOptions<T extends KubeObject> {
  /** Name of the loop in logs and metrics. */
  name: string;
  /** The loop's objects: adds, deletes and {@link shouldEnqueueOnUpdate} updates enqueue. */
  informer: Informer<T>;
  /** Called with `namespace/name`; the object may be gone. */
  reconcile(key: string, ctx: ReconcileContext): Promise<Action>;
  clock: Clock;
  logger: Logger;
  metrics?: Metrics;
  /** Ends the loop. */
  signal: AbortSignal;
  /** Reconciles at once. @default 8 */
  workers?: number;
  /** See {@link ./work_queue.ts WorkQueueOptions}. */
  partitionOf?: (key: string) => string;
  partitionBudget?: number;
  backoff?: BackoffOptions;
  /** Case 3 of {@link shouldEnqueueOnUpdate}: the Release controller gives `SYNC_ANNOTATION`. @default none */
  syncAnnotation?: string;
  /** Adds handlers on other informers; returns what removes them. */
  sources?: (enqueue: Enqueue) => () => void;
  /** Other informers that must have synced before the first reconcile. */
  needs?: Informer<never>[] | readonly { whenSynced(signal?: AbortSignal): Promise<void> }[];
  /** Longest time of one reconcile, ms. @default 300_000 */
  timeoutMs?: number;
  /** After the time limit, and at the stop, a reconcile has this long to end, ms. @default 3_000 */
  graceMs?: number;
}

/** Runs a loop until its signal is aborted and the work under way has ended. */
export async function runController<T extends KubeObject>(o: ControllerOptions<T>): Promise<void> {
  const logger = o.logger.with({ loop: o.name });
  const queue = new WorkQueue({
    name: o.name,
    clock: o.clock,
    ...(o.metrics ? { metrics: o.metrics } : {}),
    ...(o.partitionOf ? { partitionOf: o.partitionOf } : {}),
    ...(o.partitionBudget ? { partitionBudget: o.partitionBudget } : {}),
    ...(o.backoff ? { backoff: o.backoff } : {}),
  });
  const removeSources = o.sources?.({ add: (key) => queue.add(key), addAfter: (key, ms) => queue.addAfter(key, ms) });
  const removeHandler = o.informer.addHandler({
    onAdd: (object) => queue.add(keyOf(object)),
    onUpdate(old, object) {
      if (shouldEnqueueOnUpdate(old, object, o.syncAnnotation)) queue.add(keyOf(object));
    },
    onDelete: (object) => queue.add(keyOf(object)),
  });
  try {
    await Promise.all([o.informer, ...(o.needs ?? [])].map((informer) => informer.whenSynced(o.signal)));
    const stopped = new Promise<void>((resolve) => {
      if (o.signal.aborted) return resolve();
      o.signal.addEventListener("abort", () => resolve(), { once: true });
    });
    stopped.then(() => queue.close());
    logger.info("Loop started", { workers: o.workers ?? 8 });
    await Promise.all(Array.from({ length: o.workers ?? 8 }, () => worker(o, queue, logger)));
    logger.info("Loop stopped");
  } catch (error) {
    if (!o.signal.aborted) throw error;
  } finally {
    removeHandler();
    removeSources?.();
    queue.close();
  }
}

async function worker<T extends KubeObject>(o: ControllerOptions<T>, queue: WorkQueue, logger: Logger): Promise<void> {
  const seconds = o.metrics?.histogram("convoy_reconcile_seconds", "Time of one reconcile", ["loop"]);
  const results = o.metrics?.counter("convoy_reconcile_total", "Reconciles by result", ["loop", "result"]);
  for (;;) {
    const key = await queue.take();
    if (key === undefined) return;
    const started = o.clock.now();
    const { result, ended } = await reconcileOne(o, queue, key, logger.with({ key }));
    seconds?.observe((o.clock.now() - started) / 1000, { loop: o.name });
    results?.inc({ loop: o.name, result });
    if (result === "abandoned") {
      // The worker goes on; the key stays locked until its reconcile has really ended.
      ended.then(() => queue.done(key));
    } else queue.done(key);
  }
}

type Result = "success" | "requeue" | "conflict" | "terminal" | "error" | "timeout" | "abandoned" | "stopped";

/** Runs one reconcile under its limits and tells the queue what comes next; never throws. */
async function reconcileOne<T extends KubeObject>(
  o: ControllerOptions<T>,
  queue: WorkQueue,
  key: string,
  logger: Logger,
): Promise<{ result: Result; ended: Promise<unknown> }> {
  const limits = limitsOf(o);
  const work =
    (async () =>
      await o.reconcile(key, { signal: limits.signal, logger, clock: o.clock, failures: queue.failures(key) }))();
  const ended = work.then(() => {}, () => {});
  try {
    const action = await Promise.race([work, limits.abandoned]);
    queue.forget(key);
    queue.setNext(key, "after" in action ? action.after : undefined);
    return { result: "after" in action ? "requeue" : "success", ended };
  } catch (error) {
    return { result: failed(o, queue, key, logger, error, limits.timedOut()), ended };
  } finally {
    limits.clear();
  }
}

/** Sorts an error: what the queue does with the key, and what is logged. */
function failed(
  o: { signal: AbortSignal },
  queue: WorkQueue,
  key: string,
  logger: Logger,
  error: unknown,
  timedOut: boolean,
): Result {
  if (error instanceof Abandoned) {
    logger.error("Reconcile does not end", error);
    if (!o.signal.aborted) queue.retry(key);
    return "abandoned";
  }
  if (o.signal.aborted) return "stopped";
  if (error instanceof TerminalError) {
    queue.forget(key);
    queue.setNext(key, undefined);
    logger.error("Reconcile failed for good", error);
    return "terminal";
  }
  const retryMs = Math.round(queue.retry(key));
  if (isStaleWrite(error)) return "conflict";
  logger.error("Reconcile failed", error, { retryMs, failures: queue.failures(key) });
  return timedOut ? "timeout" : "error";
}

/** A reconcile did not end although it was told to. */
class Abandoned extends Error {
  override readonly name = "Abandoned";
}

/** The time limit of one reconcile, and its end at the stop of the loop. */
function limitsOf(o: { clock: Clock; signal: AbortSignal; timeoutMs?: number; graceMs?: number }) {
  const timeoutMs = o.timeoutMs ?? 300_000, graceMs = o.graceMs ?? 3_000;
  const abort = new AbortController();
  const abandoned = Promise.withResolvers<never>();
  abandoned.promise.catch(() => {});
  let timedOut = false;
  let cancelGrace = () => {};
  const end = (reason: unknown) => {
    abort.abort(reason);
    cancelGrace();
    cancelGrace = o.clock.after(
      graceMs,
      () => abandoned.reject(new Abandoned("The reconcile did not end when it was told to", { cause: reason })),
    );
  };
  const cancelTimeout = o.clock.after(timeoutMs, () => {
    timedOut = true;
    end(new Error(`Reconcile took longer than ${timeoutMs / 1000} s`));
  });
  // At the stop, work under way may first end by itself.
  const onStop = () => {
    cancelTimeout();
    cancelGrace();
    cancelGrace = o.clock.after(graceMs, () => end(o.signal.reason));
  };
  if (o.signal.aborted) onStop();
  else o.signal.addEventListener("abort", onStop, { once: true });
  return {
    signal: abort.signal,
    timedOut: () => timedOut,
    abandoned: abandoned.promise,
    clear() {
      cancelTimeout();
      cancelGrace();
      o.signal.removeEventListener("abort", onStop);
    },
  };
}

/** Someone else wrote first: normal, and the next try has the newer object. Not so a conflict of field managers. */
function isStaleWrite(error: unknown): boolean {
  return error instanceof StatusError && error.reason === "Conflict" &&
    !error.status.details?.causes?.some((cause) => cause.reason === "FieldManagerConflict");
}

/**
 * The work queue: each key at most once in it and at most once in work; partitions (target clusters) with a budget
 * each, served in turn, so that the keys of one dead cluster never hold all workers.
 *
 * @module
 */
import { Backoff, type BackoffOptions } from "../runtime/backoff.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Metrics } from "../runtime/metrics.ts";

/** Options of a {@link WorkQueue}. */
export interface WorkQueueOptions {
  /** Label `queue` of the metrics. */
  name: string;
  clock: Clock;
  metrics?: Metrics;
  /** The partition of a key, asked at each add. @default all keys in one */
  partitionOf?: (key: string) => string;
  /** Keys of one partition in work at once. @default no limit */
  partitionBudget?: number;
  /** Delays after failures of one key. @default 500 ms to 5 min */
  backoff?: BackoffOptions;
  /** Keys that may wait, now or later; more are dropped and counted, and come again with the resync. @default 200_000 */
  maxKeys?: number;
}

interface Partition {
  /** In the order of arrival. */
  waiting: Set<string>;
  running: number;
  /** In the row of partitions that have work and budget. */
  inRow: boolean;
}

/** A queue of keys. */
export class WorkQueue {
  readonly #o: WorkQueueOptions;
  readonly #partitions = new Map<string, Partition>();
  #row: string[] = [];
  #rowHead = 0;
  /** Waiting keys: their partition, and when they came. */
  readonly #waiting = new Map<string, { partition: string; since: number }>();
  /** Keys in work: their partition, and whether they were added again. */
  readonly #running = new Map<string, { partition: string; again: boolean }>();
  /** Delayed adds by others; the earliest of a key counts. */
  readonly #delayed = new Map<string, { at: number; cancel: () => void }>();
  /** The next look at a key that its last reconcile asked for. */
  readonly #next = new Map<string, () => void>();
  readonly #failures = new Map<string, Backoff>();
  readonly #takers: { give: (key: string | undefined) => void }[] = [];
  #closed = false;
  readonly #depth;
  readonly #adds;
  readonly #retries;
  readonly #dropped;
  readonly #latency;

  constructor(o: WorkQueueOptions) {
    this.#o = o;
    const labels = ["queue"];
    this.#depth = o.metrics?.gauge("convoy_queue_depth", "Keys that wait for a worker", labels);
    this.#adds = o.metrics?.counter("convoy_queue_adds_total", "Keys added, without those that waited already", labels);
    this.#retries = o.metrics?.counter("convoy_queue_retries_total", "Keys added again after a failure", labels);
    this.#dropped = o.metrics?.counter(
      "convoy_queue_dropped_total",
      "Keys not added because the queue is full",
      labels,
    );
    this.#latency = o.metrics?.histogram("convoy_queue_wait_seconds", "Time from add to work", labels);
  }

  /** Keys that wait for a worker. */
  get depth(): number {
    return this.#waiting.size;
  }
  /** Keys in work. */
  get running(): number {
    return this.#running.size;
  }

  /** Adds a key. A key that waits stays where it is; a key in work is added again when its work is done. */
  add(key: string): void {
    if (this.#closed || this.#waiting.has(key)) return;
    const running = this.#running.get(key);
    if (running) {
      running.again = true;
      return;
    }
    if (this.#full()) return;
    this.#enqueue(key);
  }

  /** Adds a key after `ms`; of several such adds of one key the earliest counts. */
  addAfter(key: string, ms: number): void {
    if (ms <= 0) return this.add(key);
    if (this.#closed) return;
    const at = this.#o.clock.now() + ms;
    const old = this.#delayed.get(key);
    if (old && old.at <= at) return;
    if (!old && this.#full()) return;
    old?.cancel();
    const cancel = this.#o.clock.after(ms, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { at, cancel });
  }

  /** Sets when the key is looked at next; replaces what an earlier reconcile asked for. undefined = only on a change. */
  setNext(key: string, ms: number | undefined): void {
    this.#next.get(key)?.();
    this.#next.delete(key);
    if (ms === undefined || this.#closed) return;
    if (ms <= 0) return this.add(key);
    this.#next.set(
      key,
      this.#o.clock.after(ms, () => {
        this.#next.delete(key);
        this.add(key);
      }),
    );
  }

  /** Counts a failure of the key and looks at it again after the backoff; returns the delay, ms. */
  retry(key: string): number {
    let backoff = this.#failures.get(key);
    if (!backoff) this.#failures.set(key, backoff = new Backoff({ maxMs: 300_000, ...this.#o.backoff }));
    const delay = backoff.next();
    this.#retries?.inc({ queue: this.#o.name });
    this.setNext(key, delay);
    return delay;
  }

  /** Failures of the key in a row. */
  failures(key: string): number {
    return this.#failures.get(key)?.failures ?? 0;
  }
  /** The key succeeded: its failures are forgotten. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** The next key, in work from now on; waits for one. undefined when the queue is closed. Pair with {@link done}. */
  take(): Promise<string | undefined> {
    const key = this.tryTake();
    if (key !== undefined || this.#closed) return Promise.resolve(key);
    return new Promise((give) => this.#takers.push({ give }));
  }

  /** The key's work is done. */
  done(key: string): void {
    const running = this.#running.get(key);
    if (!running) return;
    this.#running.delete(key);
    const partition = this.#partitions.get(running.partition)!;
    partition.running--;
    if (running.again && !this.#closed) this.#enqueue(key);
    this.#settle(running.partition, partition);
    this.#hand();
  }

  /** No more keys; what waits is dropped, timers end, takers get undefined. */
  close(): void {
    this.#closed = true;
    for (const { cancel } of this.#delayed.values()) cancel();
    for (const cancel of this.#next.values()) cancel();
    this.#delayed.clear();
    this.#next.clear();
    this.#waiting.clear();
    this.#failures.clear();
    for (const { give } of this.#takers.splice(0)) give(undefined);
  }

  #full(): boolean {
    if (this.#waiting.size + this.#delayed.size < (this.#o.maxKeys ?? 200_000)) return false;
    this.#dropped?.inc({ queue: this.#o.name });
    return true;
  }

  #enqueue(key: string): void {
    const name = this.#o.partitionOf?.(key) ?? "";
    let partition = this.#partitions.get(name);
    if (!partition) this.#partitions.set(name, partition = { waiting: new Set(), running: 0, inRow: false });
    partition.waiting.add(key);
    this.#waiting.set(key, { partition: name, since: this.#o.clock.now() });
    this.#adds?.inc({ queue: this.#o.name });
    this.#depth?.set(this.#waiting.size, { queue: this.#o.name });
    this.#settle(name, partition);
    this.#hand();
  }

  /** Puts the partition into the row when it has work and budget; drops it when it has nothing at all. */
  #settle(name: string, partition: Partition): void {
    if (partition.waiting.size === 0) {
      if (partition.running === 0 && !partition.inRow) this.#partitions.delete(name);
    } else if (!partition.inRow && partition.running < (this.#o.partitionBudget ?? Infinity)) {
      partition.inRow = true;
      this.#row.push(name);
    }
  }

  /** Like {@link take} without the wait: undefined when no key may be given out now. */
  tryTake(): string | undefined {
    if (this.#closed) return undefined;
    while (this.#rowHead < this.#row.length) {
      const name = this.#row[this.#rowHead++]!;
      if (this.#rowHead > 1024 && this.#rowHead * 2 > this.#row.length) {
        this.#row = this.#row.slice(this.#rowHead);
        this.#rowHead = 0;
      }
      const partition = this.#partitions.get(name)!;
      partition.inRow = false;
      const first = partition.waiting.values().next();
      if (first.done) {
        this.#settle(name, partition);
        continue;
      }
      const key = first.value;
      partition.waiting.delete(key);
      partition.running++;
      const { since } = this.#waiting.get(key)!;
      this.#waiting.delete(key);
      this.#running.set(key, { partition: name, again: false });
      this.#settle(name, partition);
      this.#depth?.set(this.#waiting.size, { queue: this.#o.name });
      this.#latency?.observe((this.#o.clock.now() - since) / 1000, { queue: this.#o.name });
      return key;
    }
    return undefined;
  }

  #hand(): void {
    while (this.#takers.length > 0) {
      const key = this.tryTake();
      if (key === undefined) return;
      this.#takers.shift()!.give(key);
    }
  }
}

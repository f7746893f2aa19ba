/** A store in memory: for tests, simulated clusters and throw-away servers. @module */
import { type Clock, systemClock } from "../../runtime/clock.ts";
import {
  type Storage,
  StorageClosed,
  StorageCompacted,
  StorageConflict,
  type StorageEvent,
  StorageFuture,
  type StoragePage,
  type StoredValue,
} from "./contract.ts";
import { type HistoryLimits, RevisionTimes } from "./history.ts";
import { checkKey, compareKeys } from "./keys.ts";
import { WatchHub } from "./watch_hub.ts";

/** Options of {@link MemoryStorage}. */
export interface MemoryStorageOptions {
  history?: Partial<HistoryLimits>;
  /** @default systemClock */
  clock?: Clock;
  /** Called after each write, as the sqlite store does after each transaction. */
  onCommit?(writes: number, seconds: number): void;
}

/** A change as it is remembered. `value` is undefined for a delete. */
interface Change {
  key: string;
  revision: number;
  value: StoredValue | undefined;
  previous: StoredValue | undefined;
}

/** Nothing outlives the process. Values are shared with the callers, not copied: they are strings. */
export class MemoryStorage implements Storage {
  readonly #values = new Map<string, StoredValue>();
  /** All keys in order. */
  readonly #keys: string[] = [];
  #history: Change[] = [];
  #compacted = 1;
  #revision = 1;
  #closed = false;
  readonly #hub = new WatchHub();
  readonly #limits: HistoryLimits;
  readonly #times: RevisionTimes;

  constructor(readonly options: MemoryStorageOptions = {}) {
    this.#limits = { count: 2_000, ageMs: 600_000, ...options.history };
    this.#times = new RevisionTimes(options.clock ?? systemClock);
  }

  async get(key: string): Promise<StoredValue | undefined> {
    this.#open();
    return this.#values.get(key);
  }

  async list(prefix: string, o: { after?: string; limit?: number; revision?: number } = {}): Promise<StoragePage> {
    this.#open();
    const revision = o.revision ?? this.#revision;
    if (revision > this.#revision) throw new StorageFuture(this.#revision);
    if (revision < this.#compacted) throw new StorageCompacted(this.#compacted);
    const past = revision < this.#revision ? this.#pastOf(prefix, revision) : undefined;
    const keys = past ? [...past.keys()].sort(compareKeys) : this.#keys;
    const start = o.after !== undefined && compareKeys(o.after, prefix) >= 0
      ? lowerBound(keys, o.after, true)
      : lowerBound(keys, prefix);
    const items: StoredValue[] = [];
    const limit = o.limit || Infinity;
    let i = start;
    for (; i < keys.length && keys[i]!.startsWith(prefix) && items.length < limit; i++) {
      items.push((past ?? this.#values).get(keys[i]!)!);
    }
    if (i >= keys.length || !keys[i]!.startsWith(prefix)) return { items, revision, more: false };
    let end = i;
    while (end < keys.length && keys[end]!.startsWith(prefix)) end++;
    return { items, revision, more: true, remaining: end - i };
  }

  async create(key: string, value: string): Promise<StoredValue> {
    this.#open();
    checkKey(key);
    const current = this.#values.get(key);
    if (current) throw new StorageConflict(current);
    return this.#write(key, value, undefined);
  }

  async update(key: string, value: string, expected: number): Promise<StoredValue> {
    return this.#write(key, value, this.#expect(key, expected));
  }

  async delete(key: string, expected: number): Promise<number> {
    const previous = this.#expect(key, expected);
    this.#values.delete(key);
    this.#keys.splice(lowerBound(this.#keys, key), 1);
    this.#record({ key, revision: ++this.#revision, value: undefined, previous });
    return this.#revision;
  }

  async watch(
    prefix: string,
    from: number,
    onEvent: (event: StorageEvent) => void,
    onLost?: (error: Error) => void,
  ): Promise<() => void> {
    this.#open();
    if (from < this.#compacted) throw new StorageCompacted(this.#compacted);
    const backlog = this.#history.filter((c) => c.revision > from && c.key.startsWith(prefix)).map(toEvent);
    return this.#hub.add(prefix, from, backlog, onEvent, onLost);
  }

  async currentRevision(): Promise<number> {
    this.#open();
    return this.#revision;
  }

  async compact(revision: number): Promise<void> {
    this.#open();
    this.#compact(Math.min(revision, this.#revision));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#hub.close(new StorageClosed());
    this.#values.clear();
    this.#keys.length = 0;
    this.#history = [];
  }

  #open(): void {
    if (this.#closed) throw new StorageClosed();
  }

  #expect(key: string, expected: number): StoredValue {
    this.#open();
    const current = this.#values.get(key);
    if (current?.revision !== expected) throw new StorageConflict(current);
    return current;
  }

  #write(key: string, value: string, previous: StoredValue | undefined): StoredValue {
    const stored = { key, value, revision: ++this.#revision };
    if (!previous) this.#keys.splice(lowerBound(this.#keys, key), 0, key);
    this.#values.set(key, stored);
    this.#record({ key, revision: stored.revision, value: stored, previous });
    return stored;
  }

  #record(change: Change): void {
    this.#times.mark(change.revision);
    this.#history.push(change);
    // Compacting in steps keeps the cost of a write constant on average.
    const { count, ageMs } = this.#limits;
    const tooMany = this.#history.length > count + Math.max(16, count / 4) ? this.#revision - count : 0;
    const until = Math.max(tooMany, this.#times.olderThan(ageMs));
    if (until > this.#compacted) this.#compact(until);
    this.options.onCommit?.(1, 0);
    this.#hub.publish(toEvent(change));
  }

  #compact(revision: number): void {
    if (revision <= this.#compacted) return;
    this.#compacted = revision;
    this.#history = this.#history.filter((c) => c.revision > revision);
  }

  /** The values under `prefix` as they were at `revision`: the present with later changes undone. */
  #pastOf(prefix: string, revision: number): Map<string, StoredValue> {
    const past = new Map<string, StoredValue>();
    for (let i = lowerBound(this.#keys, prefix); i < this.#keys.length && this.#keys[i]!.startsWith(prefix); i++) {
      past.set(this.#keys[i]!, this.#values.get(this.#keys[i]!)!);
    }
    for (let i = this.#history.length - 1; i >= 0; i--) {
      const change = this.#history[i]!;
      if (change.revision <= revision) break;
      if (!change.key.startsWith(prefix)) continue;
      if (change.previous) past.set(change.key, change.previous);
      else past.delete(change.key);
    }
    return past;
  }
}

function toEvent({ key, revision, value, previous }: Change): StorageEvent {
  if (!value) return { type: "DELETE", key, value: previous!.value, previous: previous!.value, revision };
  if (!previous) return { type: "CREATE", key, value: value.value, revision };
  return { type: "UPDATE", key, value: value.value, previous: previous.value, revision };
}

/** Index of the first key that is ≥ `key` (or > `key` when `after`). */
function lowerBound(keys: readonly string[], key: string, after = false): number {
  let low = 0, high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const order = compareKeys(keys[middle]!, key);
    if (order < 0 || (after && order === 0)) low = middle + 1;
    else high = middle;
  }
  return low;
}

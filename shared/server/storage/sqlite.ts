/** The embedded store: one SQLite file, write-ahead log, every acknowledged write synced to disk. @module */
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
import { checkKey, compareKeys } from "./keys.ts";
import { GroupCommit, Refused } from "./group_commit.ts";
import { type HistoryLimits, RevisionTimes } from "./history.ts";
import { openDatabase } from "./sqlite_open.ts";
import { SqliteStatements } from "./sqlite_statements.ts";
import { WatchHub } from "./watch_hub.ts";

/** Options of {@link SqliteStorage}. */
export interface SqliteStorageOptions {
  history?: Partial<HistoryLimits>;
  /** @default systemClock */
  clock?: Clock;
  /** Largest size of the file in pages of 4096 bytes; writes beyond fail. @default SQLite's own limit */
  maxPages?: number;
  /** Called after each transaction with the number of its writes and its duration in seconds. */
  onCommit?(writes: number, seconds: number): void;
}

/** Revisions compacted along with one transaction at most, so that no write waits long for it. */
const COMPACT_STEP = 1_000;
/** Fewer than this are not worth the work. */
const COMPACT_FROM = 100;

/** One process, one file. SQLite keeps the values; only its page cache (8 MB) is in memory. */
export class SqliteStorage implements Storage {
  readonly #sql: SqliteStatements;
  readonly #hub = new WatchHub();
  readonly #limits: HistoryLimits;
  readonly #times: RevisionTimes;
  readonly #group: GroupCommit;
  /** The newest committed revision, and the one being written. */
  #revision: number;
  #next: number;
  #compacted: number;
  #events: StorageEvent[] = [];
  #closing: Promise<void> | undefined;

  /** @throws StorageOpenError when the file is locked, damaged, foreign or newer. */
  constructor(file: string, readonly options: SqliteStorageOptions = {}) {
    this.#limits = { count: 20_000, ageMs: 600_000, ...options.history };
    this.#times = new RevisionTimes(options.clock ?? systemClock);
    const db = openDatabase(file);
    if (options.maxPages) db.exec(`PRAGMA max_page_count = ${Math.trunc(options.maxPages)}`);
    this.#sql = new SqliteStatements(db);
    const { current, compacted } = this.#sql.revisions();
    this.#revision = this.#next = current;
    this.#compacted = compacted;
    this.#times.mark(current);
    this.#group = this.#transactions();
  }

  async get(key: string): Promise<StoredValue | undefined> {
    this.#open();
    return this.#sql.get(key);
  }

  async list(prefix: string, o: { after?: string; limit?: number; revision?: number } = {}): Promise<StoragePage> {
    this.#open();
    const revision = o.revision ?? this.#revision;
    if (revision > this.#revision) throw new StorageFuture(this.#revision);
    if (revision < this.#compacted) throw new StorageCompacted(this.#compacted);
    const after = o.after !== undefined && compareKeys(o.after, prefix) >= 0 ? o.after : undefined;
    const limit = o.limit || Number.MAX_SAFE_INTEGER - 1;
    const present = revision === this.#revision;
    const items = present
      ? this.#sql.list(prefix, after, limit + 1)
      : this.#sql.listAt(prefix, after, limit + 1, revision);
    if (items.length <= limit) return { items, revision, more: false };
    items.pop();
    const remaining = present ? { remaining: this.#sql.countAfter(prefix, items.at(-1)!.key) } : {};
    return { items, revision, more: true, ...remaining };
  }

  async create(key: string, value: string): Promise<StoredValue> {
    checkKey(key);
    return this.#write(() => {
      if (this.#sql.revisionOf(key)) throw new Refused(new StorageConflict(this.#sql.get(key)));
      const revision = ++this.#next;
      this.#sql.put(key, value, 0, revision);
      this.#events.push({ type: "CREATE", key, value, revision });
      return { key, value, revision };
    });
  }

  update(key: string, value: string, expected: number): Promise<StoredValue> {
    return this.#write(() => {
      const previous = this.#before(key, expected);
      const revision = ++this.#next;
      this.#sql.put(key, value, expected, revision);
      if (previous) this.#events.push({ type: "UPDATE", key, value, previous: previous.value, revision });
      return { key, value, revision };
    });
  }

  delete(key: string, expected: number): Promise<number> {
    return this.#write(() => {
      const previous = this.#before(key, expected);
      const revision = ++this.#next;
      this.#sql.remove(key, expected, revision);
      if (previous) {
        this.#events.push({ type: "DELETE", key, value: previous.value, previous: previous.value, revision });
      }
      return revision;
    });
  }

  async watch(
    prefix: string,
    from: number,
    onEvent: (event: StorageEvent) => void,
    onLost?: (error: Error) => void,
  ): Promise<() => void> {
    this.#open();
    if (from < this.#compacted) throw new StorageCompacted(this.#compacted);
    return this.#hub.add(prefix, from, this.#sql.backlog(prefix, from), onEvent, onLost);
  }

  async currentRevision(): Promise<number> {
    this.#open();
    return this.#revision;
  }

  compact(revision: number): Promise<void> {
    return this.#write(() => {
      const until = Math.min(revision, this.#revision);
      if (until <= this.#compacted) return;
      this.#sql.compact(this.#compacted, until);
      this.#compacted = until;
    });
  }

  /** Commits what waits, ends the watches, frees the file. */
  close(): Promise<void> {
    this.#closing ??= this.#group.idle().then(() => {
      this.#hub.close(new StorageClosed());
      this.#sql.db.close();
    });
    return this.#closing;
  }

  #open(): void {
    if (this.#closing) throw new StorageClosed();
  }

  async #write<T>(run: () => T): Promise<T> {
    this.#open();
    return this.#group.add(run);
  }

  /** Checks the revision; resolves to the state before when a watcher needs it. */
  #before(key: string, expected: number): StoredValue | undefined {
    const revision = this.#sql.revisionOf(key);
    if (revision === 0 || revision !== expected) throw new Refused(new StorageConflict(this.#sql.get(key)));
    return this.#hub.watched(key) ? this.#sql.get(key) : undefined;
  }

  #transactions(): GroupCommit {
    const { db } = this.#sql;
    let compacted = this.#compacted, started = 0;
    return new GroupCommit({
      begin: () => {
        started = performance.now();
        compacted = this.#compacted;
        db.exec("BEGIN IMMEDIATE");
      },
      commit: () => {
        this.#compactSome();
        db.exec("COMMIT");
      },
      rollback: () => {
        this.#next = this.#revision;
        this.#compacted = compacted;
        this.#events = [];
        try {
          if (db.isTransaction) db.exec("ROLLBACK");
        } catch {
          // SQLite rolled back by itself; the writes are refused with the first error.
        }
      },
      committed: () => {
        const writes = this.#next - this.#revision;
        this.#revision = this.#next;
        this.#times.mark(this.#revision);
        const events = this.#events;
        this.#events = [];
        this.options.onCommit?.(writes, (performance.now() - started) / 1000);
        for (const event of events) this.#hub.publish(event);
      },
    });
  }

  /** Moves the end of the history on by a bounded step. */
  #compactSome(): void {
    const wanted = Math.max(this.#revision - this.#limits.count, this.#times.olderThan(this.#limits.ageMs));
    if (wanted - this.#compacted < COMPACT_FROM) return;
    const until = Math.min(wanted, this.#compacted + COMPACT_STEP);
    this.#sql.compact(this.#compacted, until);
    this.#compacted = until;
  }
}

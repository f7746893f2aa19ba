/** The SQL of the embedded store, prepared once; rows in and out as JS values. @module */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { StorageEvent, StoredValue } from "./contract.ts";
import { prefixEnd } from "./keys.ts";
import { decodeValue, type EncodedValue, encodeValue } from "./value_codec.ts";

type Row = Record<string, unknown>;

/** Rows of a backlog read at once. */
const BACKLOG_PAGE = 500;

const LIST = (above: string) => `
  SELECT c.key, c.revision, l.value FROM current c JOIN log l ON l.revision = c.revision
  WHERE c.key ${above} ? AND c.key < ? ORDER BY c.key LIMIT ?`;

const LIST_PAST = (above: string) => `
  SELECT l.key, l.revision, l.value FROM log l
  WHERE l.key ${above} ? AND l.key < ? AND l.revision <= ? AND l.deleted = 0 AND NOT EXISTS (
    SELECT 1 FROM log n WHERE n.key = l.key AND n.revision > l.revision AND n.revision <= ?)
  ORDER BY l.key LIMIT ?`;

// "+" keeps the planner from the index on keys: the scan is by revision.
const BACKLOG = `
  SELECT l.revision, l.key, l.value, l.deleted, l.previous, p.value AS before
  FROM log l LEFT JOIN log p ON p.revision = l.previous
  WHERE l.revision > ? AND +l.key >= ? AND +l.key < ? ORDER BY l.revision LIMIT ?`;

/** Prepared statements over one database. */
export class SqliteStatements {
  readonly #get: StatementSync;
  readonly #revision: StatementSync;
  readonly #list: { from: StatementSync; after: StatementSync };
  readonly #past: { from: StatementSync; after: StatementSync };
  readonly #count: StatementSync;
  readonly #backlog: StatementSync;
  readonly #log: StatementSync;
  readonly #setCurrent: StatementSync;
  readonly #dropCurrent: StatementSync;
  readonly #dropSuperseded: StatementSync;
  readonly #dropDeleted: StatementSync;
  readonly #setCompacted: StatementSync;

  constructor(readonly db: DatabaseSync) {
    this.#get = db.prepare(
      "SELECT c.key, c.revision, l.value FROM current c JOIN log l ON l.revision = c.revision WHERE c.key = ?",
    );
    this.#revision = db.prepare("SELECT revision FROM current WHERE key = ?");
    this.#list = { from: db.prepare(LIST(">=")), after: db.prepare(LIST(">")) };
    this.#past = { from: db.prepare(LIST_PAST(">=")), after: db.prepare(LIST_PAST(">")) };
    this.#count = db.prepare("SELECT count(*) AS n FROM current WHERE key > ? AND key < ?");
    this.#backlog = db.prepare(BACKLOG);
    this.#log = db.prepare("INSERT INTO log (revision, key, previous, deleted, value) VALUES (?, ?, ?, ?, ?)");
    this.#setCurrent = db.prepare("INSERT OR REPLACE INTO current (key, revision) VALUES (?, ?)");
    this.#dropCurrent = db.prepare("DELETE FROM current WHERE key = ?");
    this.#dropSuperseded = db.prepare(
      "DELETE FROM log WHERE revision IN (SELECT previous FROM log WHERE revision > ? AND revision <= ? AND previous > 0)",
    );
    this.#dropDeleted = db.prepare("DELETE FROM log WHERE deleted = 1 AND revision > ? AND revision <= ?");
    this.#setCompacted = db.prepare("UPDATE meta SET number = ? WHERE name = 'compacted'");
  }

  /** The newest revision and the one up to which history is gone. */
  revisions(): { current: number; compacted: number } {
    const compacted = Number(this.db.prepare("SELECT number FROM meta WHERE name = 'compacted'").get()!["number"]);
    const last = Number(this.db.prepare("SELECT max(revision) AS n FROM log").get()!["n"] ?? 0);
    // The row of the last revision is gone when that was a delete and is compacted.
    return { current: Math.max(last, compacted), compacted };
  }

  get(key: string): StoredValue | undefined {
    // SQLite would take the part before a NUL.
    if (key.includes("\u0000")) return undefined;
    const row = this.#get.get(key);
    return row && toStored(row);
  }

  /** Revision of the key's newest state; 0 when there is none. */
  revisionOf(key: string): number {
    if (key.includes("\u0000")) return 0;
    return Number(this.#revision.get(key)?.["revision"] ?? 0);
  }

  list(prefix: string, after: string | undefined, limit: number): StoredValue[] {
    const [how, start] = after === undefined ? [this.#list.from, prefix] as const : [this.#list.after, after] as const;
    return how.all(start, endOf(prefix), limit).map(toStored);
  }

  listAt(prefix: string, after: string | undefined, limit: number, revision: number): StoredValue[] {
    const [how, start] = after === undefined ? [this.#past.from, prefix] as const : [this.#past.after, after] as const;
    return how.all(start, endOf(prefix), revision, revision, limit).map(toStored);
  }

  /** Number of keys under `prefix` greater than `after`. */
  countAfter(prefix: string, after: string): number {
    return Number(this.#count.get(after, endOf(prefix))!["n"]);
  }

  /** Events of keys under `prefix` after `from`, read page by page. */
  *backlog(prefix: string, from: number): Generator<StorageEvent> {
    for (let cursor = from;;) {
      const rows = this.#backlog.all(cursor, prefix, endOf(prefix), BACKLOG_PAGE);
      for (const row of rows) yield toEvent(row);
      if (rows.length < BACKLOG_PAGE) return;
      cursor = Number(rows.at(-1)!["revision"]);
    }
  }

  /** Stores a new state. `previous`: revision of the state before, 0 for none. */
  put(key: string, value: string, previous: number, revision: number): void {
    this.#log.run(revision, key, previous, 0, encodeValue(value));
    this.#setCurrent.run(key, revision);
  }

  /** Stores a delete; its value is that of `previous`. */
  remove(key: string, previous: number, revision: number): void {
    this.#log.run(revision, key, previous, 1, "");
    this.#dropCurrent.run(key);
  }

  /** Drops what only the history in (`from`, `to`] needs. */
  compact(from: number, to: number): void {
    this.#dropSuperseded.run(from, to);
    this.#dropDeleted.run(from, to);
    this.#setCompacted.run(to);
  }
}

/** In SQLite every blob is greater than every text: the end of a range that has none. */
const NO_END = new Uint8Array(1);

function endOf(prefix: string): string | Uint8Array {
  return prefixEnd(prefix) ?? NO_END;
}

function toStored(row: Row): StoredValue {
  return {
    key: row["key"] as string,
    value: decodeValue(row["value"] as EncodedValue),
    revision: Number(row["revision"]),
  };
}

function toEvent(row: Row): StorageEvent {
  const key = row["key"] as string, revision = Number(row["revision"]);
  if (!row["previous"]) return { type: "CREATE", key, value: decodeValue(row["value"] as EncodedValue), revision };
  const previous = decodeValue(row["before"] as EncodedValue);
  if (row["deleted"]) return { type: "DELETE", key, value: previous, previous, revision };
  return { type: "UPDATE", key, value: decodeValue(row["value"] as EncodedValue), previous, revision };
}

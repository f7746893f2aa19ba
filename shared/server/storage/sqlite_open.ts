/** Opens, makes and checks the file of a {@link ./sqlite.ts SqliteStorage}. @module */
import { DatabaseSync } from "node:sqlite";
import { dirname } from "node:path";

/** `application_id` of our files: "CNVY". */
const APPLICATION_ID = 0x434e5659;
/** Version of the tables; a file of a newer version is refused. */
const SCHEMA_VERSION = 1;

/**
 * `log` is every change that is not compacted yet and the newest state of every key; `current` names that state.
 * `previous` is the revision of the state before (0 for none); `deleted` rows have the last value.
 */
const SCHEMA = `
CREATE TABLE log (
  revision INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  previous INTEGER NOT NULL,
  deleted INTEGER NOT NULL,
  value NOT NULL
);
CREATE INDEX log_key ON log (key, revision);
CREATE TABLE current (key TEXT PRIMARY KEY, revision INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE meta (name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('compacted', 1);
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** The store's file cannot be used; the message says which file, why, and what to do. */
export class StorageOpenError extends Error {
  override readonly name = "StorageOpenError";
  constructor(file: string, why: string, options?: ErrorOptions) {
    super(`Cannot open the store ${file}: ${why}`, options);
  }
}

/**
 * Opens the file, or makes it when it does not exist, and locks it for this process until closed (or killed).
 * A file that is damaged, foreign, newer or locked is an error: it is never replaced by an empty store.
 *
 * @throws StorageOpenError
 */
export function openDatabase(file: string): DatabaseSync {
  if (file === ":memory:") {
    const db = new DatabaseSync(file);
    db.exec(SCHEMA);
    return db;
  }
  const size = sizeOf(file);
  if (size === undefined) makeFile(file);
  else if (size === 0) {
    throw new StorageOpenError(
      file,
      "the file is empty (0 bytes). Restore it from a backup, or remove it to begin anew",
    );
  }
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file);
    // The lock is the file system's: it ends with the process, however that ends.
    db.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    db.exec("BEGIN IMMEDIATE; COMMIT;");
    db.exec("PRAGMA cache_size = -8192; PRAGMA journal_size_limit = 67108864;");
    check(file, db);
    return db;
  } catch (error) {
    db?.close();
    throw error instanceof StorageOpenError ? error : new StorageOpenError(file, reasonOf(error), { cause: error });
  }
}

function sizeOf(file: string): number | undefined {
  try {
    const info = Deno.statSync(file);
    if (!info.isFile) throw new StorageOpenError(file, "it is not a file");
    return info.size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error instanceof StorageOpenError ? error : new StorageOpenError(file, String(error), { cause: error });
  }
}

/** Makes the file aside and renames it, so that a crash in between leaves no half-made store. */
function makeFile(file: string): void {
  if (sizeOf(`${file}-wal`)) {
    throw new StorageOpenError(
      file,
      `the file is gone but its log ${file}-wal is there. Restore the file, or remove the log to begin anew`,
    );
  }
  const made = `${file}.${crypto.randomUUID()}.new`;
  try {
    Deno.mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    Deno.writeFileSync(made, new Uint8Array(), { createNew: true, mode: 0o600 });
    const db = new DatabaseSync(made);
    db.exec(`PRAGMA synchronous = FULL; BEGIN; ${SCHEMA} COMMIT;`);
    db.close();
    // link + unlink, not rename: two processes that begin at once must not replace each other's file.
    Deno.linkSync(made, file);
    syncFolder(dirname(file));
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) {
      throw new StorageOpenError(file, String(error), { cause: error });
    }
  } finally {
    try {
      Deno.removeSync(made);
    } catch {
      // It was never made.
    }
  }
}

function syncFolder(folder: string): void {
  const handle = Deno.openSync(folder);
  try {
    handle.syncSync();
  } finally {
    handle.close();
  }
}

function check(file: string, db: DatabaseSync): void {
  const pragma = (name: string) => Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  if (pragma("application_id") !== APPLICATION_ID) {
    throw new StorageOpenError(file, "it is an SQLite file of another program. Name another file");
  }
  const version = Number(pragma("user_version"));
  if (version !== SCHEMA_VERSION) {
    throw new StorageOpenError(
      file,
      `it has schema version ${version} and this program knows ${SCHEMA_VERSION}. Run the version of Convoy that wrote it`,
    );
  }
  const verdict = String(pragma("quick_check(1)"));
  if (verdict !== "ok") throw new StorageOpenError(file, `it is damaged (${verdict}). Restore it from a backup`);
}

function reasonOf(error: unknown): string {
  const { message, errcode } = error as { message: string; errcode?: number };
  if (/locked|busy/i.test(message)) return "another process uses it. Stop that one, or name another file";
  if (errcode === 26 || /not a database/i.test(message)) {
    return "it is not an SQLite file, or damaged. Restore it from a backup";
  }
  if (/malformed|corrupt/i.test(message)) return `it is damaged (${message}). Restore it from a backup`;
  return message;
}

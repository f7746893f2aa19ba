/** From the `--storage` option to a store. @module */
import type { Storage } from "./contract.ts";
import { MemoryStorage } from "./memory.ts";
import { SqliteStorage, type SqliteStorageOptions } from "./sqlite.ts";

/**
 * Opens the store that `url` names: `memory`, `sqlite:FILE` or `sqlite::memory:`.
 *
 * @throws StorageOpenError when the file cannot be used; Error when the URL is of no known form
 */
export function openStorage(url: string, options: SqliteStorageOptions = {}): Storage {
  if (url === "memory") return new MemoryStorage(options);
  if (url.startsWith("sqlite:") && url.length > "sqlite:".length) {
    return new SqliteStorage(url.slice("sqlite:".length), options);
  }
  throw new Error(`Cannot open the store "${url}": it must be memory, sqlite:FILE or sqlite::memory:`);
}

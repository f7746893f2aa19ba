/** The stores of the API server. @module */
export * from "./contract.ts";
export type { HistoryLimits } from "./history.ts";
export { MemoryStorage, type MemoryStorageOptions } from "./memory.ts";
export { openStorage } from "./open.ts";
export { SqliteStorage, type SqliteStorageOptions } from "./sqlite.ts";
export { StorageOpenError } from "./sqlite_open.ts";

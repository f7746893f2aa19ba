/** The four writers of a ReleaseInventory; see the status-ownership page. @module */
export { type CheckedEntry, type Drift, putDrift } from "./drift.ts";
export { type AssessedEntry, type AssessedHook, putHealth } from "./health.ts";
export {
  entryId,
  type EntryKey,
  entryKey,
  hookId,
  type HookKey,
  type Member,
  memberHooks,
  members,
} from "./members.ts";
export { put, type PutEntry } from "./put.ts";
export { type PutHook, putHooks } from "./put_hooks.ts";

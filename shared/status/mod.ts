/** The three writers of a Release's status; see the status-ownership page. @module */
export { type ConditionInput, findCondition, sameCondition, transition } from "./conditions.ts";
export { type HealthSummary, writeHealth } from "./health.ts";
export { type Verdict, writeInSync } from "./in_sync.ts";
export {
  CONTROLLER_CONDITIONS,
  ownedStatusApplyConfig,
  resolveRetention,
  statusChanged,
  writeReleaseStatus,
} from "./release_controller.ts";
export { WriteMemory } from "./write_memory.ts";
export { type OwnedPatch, sendOwned, skip, type WriterDeps, writerDeps, type WriteResult } from "./writer.ts";

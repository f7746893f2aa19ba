/** How objects get onto target clusters and off them: used by the Release controller and the drift loop. @module */
export {
  APPLY_MANAGER,
  applyObject,
  type ApplyOptions,
  type ApplyOutcome,
  type DryRun,
  dryRunApply,
  getLive,
  type Impersonation,
  objectKey,
} from "./apply.ts";
export { desiredObject, namespaceOf } from "./desired.ts";
export { impersonation } from "./impersonation.ts";
export { KeyLock } from "./key_lock.ts";
export { judgeOwner, ownerText } from "./owner.ts";
export { OWNER_ANNOTATION, OWNER_LABEL } from "../target/owner.ts";
export { releaseObject, removeObject, type RemoveOutcome } from "./remove.ts";

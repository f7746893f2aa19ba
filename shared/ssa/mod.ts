/**
 * Server-Side Apply: schema compilation, fieldsV1 sets, typing, merge, ownership. Pure functions over plain JSON; the
 * caller gives the time. Nothing here mutates its arguments. Rules: `../shared/ssa.md`, cited by number.
 *
 * The seam with an API server, in the order that clients can observe (rule 26):
 *
 * APPLY
 * 1. caller: query parameters (422); body's kind and apiVersion (400); `metadata.managedFields` nil (400)
 * 2. {@link applyPatch}: throws {@link TypedError} (answer 400 BadRequest, one cause per error) or {@link ConflictError}
 *    (409 Conflict, `details: {causes}`; each cause `{reason: "FieldManagerConflict", message, field}`)
 * 3. caller: strict duplicate keys (400); name, namespace against the URL (400); resourceVersion (409); then
 *    default, normalise and validate `result.object` in place
 * 4. {@link resetFields}: main writes keep live's status, /status writes keep all but status
 * 5. {@link finishWrite}: restores entry times when nothing else changed, and says whether there is anything to store
 *
 * CREATE, PUT, MERGE PATCH, JSON PATCH
 * 1. caller: patch the live object, prune unknown fields, default → `next`; leave the client's managedFields in it; check
 *    {@link validateManagedFields} (422)
 * 2. {@link updateManagedFields} (before mutating admission, and before status is reset), then validation
 * 3. {@link resetFields}, {@link finishWrite} as above
 *
 * SCALE: put the number into the object, then {@link updateScale} instead of {@link updateManagedFields}.
 *
 * What kinds do to `metadata` on the way in (empty labels, annotations, finalizers and nulls vanish) has to be done before
 * {@link updateManagedFields}: nobody owns what is not stored.
 *
 * On create `live` is undefined. `live` must be given as stored (with managedFields). Pruned and defaulted is the caller's
 * business: the library neither adds defaults (except the defaults of list keys, to identify items) nor drops fields.
 *
 * @module
 */
export type * from "./contract.ts";
export { ConflictError, TypedError } from "./errors.ts";
export { applyPatch, BEFORE_FIRST_APPLY } from "./apply.ts";
export { updateManagedFields } from "./update.ts";
export { updateScale } from "./scale.ts";
export type { ScaleRequest } from "./scale.ts";
export { finishWrite, isNoOp, resetFields } from "./finish.ts";
export type { FinishResult } from "./finish.ts";
export { childOf, compilePart, compileSchema, deducedSchema, isNamedField, objectMeta } from "./schema.ts";
export type { Definitions } from "./schema.ts";
export { fieldManagerError, managerFromUserAgent, validateManagedFields } from "./request.ts";
export { typingErrors } from "./typing.ts";
export { FieldSet } from "./field_set.ts";
export { parseFieldsV1, serialiseFieldsV1 } from "./fields_v1.ts";
export { elementText, parseElement, PathElementError, pathText } from "./path_element.ts";
export type { PathElement } from "./path_element.ts";
export { toFieldSet } from "./to_field_set.ts";
export { extractItems } from "./remove.ts";
export { itemElement, ItemError } from "./list_items.ts";

/** From files to the objects of a Release, and their store. @module */
export { detectRenderType } from "./detect.ts";
export { isManifest, type ManifestFile } from "./documents.ts";
export { describe as describeProblem, RenderError, type RenderProblem } from "./error.ts";
export { type ManifestOptions, renderManifests, type RenderResult } from "./manifests.ts";
export { applyOrder, applyRank, deleteOrder } from "./order.ts";
export { type Scope, type ScopeOf } from "./scope.ts";
export { CHUNK_CHARACTERS, getRender, putRender, renderRefOf, RenderStoreError, type StoredRender } from "./store.ts";

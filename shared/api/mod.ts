/** The kinds of group `convoy.kumodo.io`: zod schemas, types, OpenAPI, CustomResourceDefinitions. @module */
export * from "./resources.ts";
export * from "./types.ts";
export { customResourceDefinitions, kindDefinitions } from "./kinds.ts";
export { type HealthState, healthStates, type ReleaseSpec, type ReleaseStatus } from "./release.ts";
export { driftStates, type HookRecord, type InventoryEntry } from "./release_inventory.ts";
export type { ClusterSpec, ClusterStatus } from "./cluster.ts";
export type { RenderSpec } from "./render.ts";
export type { GitRepositorySpec, SourceStatus } from "./sources.ts";

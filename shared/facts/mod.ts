/**
 * Compact facts of the built-in Kubernetes kinds: schemas, defaults, checks, columns.
 *
 * @module
 */
export { builtinKinds, type KindFilter } from "./load.ts";
export { humanDuration } from "./cells.ts";
export { selectorMatches } from "./pods.ts";

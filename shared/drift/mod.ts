/** Drift as a pure comparison of a live object with the result of a dry run. @module */
export { changedBeyondStatus, type DiffOptions, diffPaths } from "./diff.ts";
export { type CompiledIgnore, compileIgnore, type IgnoreRules, type ObjectName } from "./ignore.ts";
export { legacyRemovals } from "./legacy.ts";
export { formatPath, parsePattern, type Pattern, type Step } from "./path.ts";
export { isQuantitySchema, sameQuantity } from "./quantity.ts";

/** Target clusters. @module */
export * from "./contract.ts";
export { createTargets, type TargetsOptions } from "./targets.ts";
export { OWNER_ANNOTATION, OWNER_LABEL, ownerOf, withOwnerMark } from "./owner.ts";
export { CircuitBreaker } from "./breaker.ts";

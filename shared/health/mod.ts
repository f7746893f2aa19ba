/** Health rules: a pure function from a live object to its state, and the rules that users write. @module */
export { assess, HEALTH_ANNOTATION } from "./assess.ts";
export { type CompiledHealthRules, compileHealthRules, type HealthRule } from "./rules.ts";
export { type Assessment, type HealthContext, MAX_MESSAGE, type StorageClassInfo } from "./types.ts";

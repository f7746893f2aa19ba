/** `spec.drift.ignore`: which paths of which objects do not count. @module */
import type { ReleaseSpec } from "../api/mod.ts";
import { parsePattern, type Pattern } from "./path.ts";

/** `spec.drift.ignore`. */
export type IgnoreRules = NonNullable<ReleaseSpec["drift"]["ignore"]>;

/** An object as rules name it. */
export interface ObjectName {
  group: string;
  kind: string;
  namespace: string;
  name: string;
}

/** Compiled rules. */
export interface CompiledIgnore {
  /** Patterns for one object. */
  for(object: ObjectName): Pattern[];
  /** Paths that cannot be read, each with its message; they ignore nothing. */
  readonly errors: readonly string[];
}

/** Compiles the rules; a field that a rule leaves out, or `*`, matches everything. Never throws. */
export function compileIgnore(rules: IgnoreRules): CompiledIgnore {
  const errors: string[] = [];
  const compiled = rules.map((rule) => ({
    rule,
    patterns: rule.paths.flatMap((path) => {
      try {
        return [parsePattern(path)];
      } catch (error) {
        errors.push((error as Error).message);
        return [];
      }
    }),
  }));
  const fits = (want: string | undefined, have: string) => want === undefined || want === "*" || want === have;
  return {
    errors,
    for: (o) =>
      compiled.filter(({ rule }) =>
        fits(rule.group, o.group) && fits(rule.kind, o.kind) && fits(rule.namespace, o.namespace) &&
        fits(rule.name, o.name)
      ).flatMap((c) => c.patterns),
  };
}

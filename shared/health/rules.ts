/** `spec.healthRules`: CEL over `object`, tried in the order degraded, progressing, healthy. @module */
import { Environment } from "@marcbachmann/cel-js";
import { RE2JS } from "re2js";
import type { ReleaseSpec } from "../api/mod.ts";
import { type JsonObject, type JsonValue, setKey } from "../json/mod.ts";
import { MAX_STEPS, type Node, renameMatches, type Shape, shapeOf, steps } from "./cel_limits.ts";
import { degraded, healthy, progressing, unknown } from "./read.ts";
import type { Assessment } from "./types.ts";

/** One entry of `spec.healthRules`. */
export type HealthRule = NonNullable<ReleaseSpec["healthRules"]>[number];

/** Rules ready to be used on many objects. */
export interface CompiledHealthRules {
  /** True when some rule is about this kind. */
  covers(group: string, kind: string): boolean;
  /** What the rules say; undefined when they leave it to the built-in rule. Never throws. */
  apply(group: string, kind: string, object: JsonObject): Assessment | undefined;
}

const WORDS = ["degraded", "progressing", "healthy"] as const;
type Word = typeof WORDS[number];

/** An expression that is ready, or why it is not. */
type Compiled = { run(object: JsonValue): unknown; shape: Shape } | { error: string };

/** Regular expressions in linear time, as CEL's own (RE2). */
const SAFE_MATCHES = "matchesRe2";

const environment = new Environment({
  enableOptionalTypes: true,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 2000, maxDepth: 60, maxListElements: 200, maxMapEntries: 200, maxCallArguments: 8 },
})
  .registerVariable("object", "dyn")
  .registerFunction(
    `string.${SAFE_MATCHES}(string): bool`,
    (text: string, pattern: string) => RE2JS.compile(pattern).matcher(text).find(),
  );

/** Compiles the rules of a Release. An expression that does not compile makes its objects Unknown, with the error. */
export function compileHealthRules(rules: readonly HealthRule[]): CompiledHealthRules {
  const byKind = new Map<string, { word: Word; expression: Compiled }[][]>();
  for (const rule of rules) {
    const key = `${rule.group}/${rule.kind}`;
    const parts = WORDS.flatMap((word) => rule[word] === undefined ? [] : [{ word, expression: compile(rule[word]) }]);
    byKind.set(key, [...(byKind.get(key) ?? []), parts]);
  }
  return {
    covers: (group, kind) => byKind.has(`${group}/${kind}`),
    apply(group, kind, object) {
      const value = integers(object as JsonValue);
      for (const parts of byKind.get(`${group}/${kind}`) ?? []) {
        const result = tryRule(parts, value);
        if (result) return result;
      }
      return undefined;
    },
  };
}

function tryRule(parts: { word: Word; expression: Compiled }[], object: JsonValue): Assessment | undefined {
  for (const { word, expression } of parts) {
    const answer = evaluate(expression, object);
    if (typeof answer === "string") return unknown(`Cannot evaluate the rule "${word}": ${answer}`);
    if (!answer) continue;
    if (word === "degraded") return degraded("by its health rule");
    return word === "progressing" ? progressing("by its health rule") : healthy();
  }
  // Who says what healthy means says by that what is not yet healthy.
  return parts.some((p) => p.word === "healthy") ? progressing("not healthy yet by its health rule") : undefined;
}

/** true or false, or the text of an error. */
function evaluate(expression: Compiled, object: JsonValue): boolean | string {
  if ("error" in expression) return expression.error;
  if (steps(expression.shape, object) > MAX_STEPS) {
    return "it is too costly for an object of this size; nest fewer loops";
  }
  try {
    const answer = expression.run(object);
    if (typeof answer === "boolean") return answer;
    return `it must give true or false, not ${answer === null ? "null" : typeof answer}`;
  } catch (error) {
    return summary(error);
  }
}

function compile(source: string): Compiled {
  if (source.length > 10_000) return { error: "it is longer than 10,000 characters" };
  try {
    const root = environment.parse(source).ast as unknown as Node;
    const parsed = environment.parse(renameMatches(root, source, SAFE_MATCHES));
    const checked = parsed.check();
    if (!checked.valid) return { error: summary(checked.error) };
    return { run: (object) => parsed({ object }), shape: shapeOf(root) };
  } catch (error) {
    return { error: summary(error) };
  }
}

function summary(error: unknown): string {
  const text = (error as { summary?: unknown })?.summary;
  if (typeof text === "string") return text;
  return error instanceof Error ? error.message.split("\n")[0]! : String(error);
}

/** A copy in which whole numbers are CEL ints, as Kubernetes hands typed values to CEL. */
function integers(value: JsonValue): JsonValue {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(integers);
  if (typeof value !== "object" || value === null) return value;
  const out: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (value[key] !== undefined) setKey(out, key, integers(value[key]!));
  }
  return out;
}

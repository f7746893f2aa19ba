/**
 * `x-kubernetes-validations`: CEL rules with `self` and, for transition rules, `oldSelf`. A rule that costs too much is
 * cut off: each look into the object counts, and so does the time.
 *
 * @module
 */
import { Environment } from "@marcbachmann/cel-js";
import { isObject, type JsonObject, type JsonValue } from "../../json/mod.ts";
import type { SchemaNode } from "../../ssa/contract.ts";
import type { FieldError } from "../contract.ts";
import { child, index } from "../schema/path.ts";
import { invalidOmitted, shown } from "./field_error.ts";

/** Looks into the object that all rules of one validation may make together. */
const ACCESS_BUDGET = 1_000_000;
/** Time that all rules of one validation may take together, ms. */
const TIME_BUDGET = 500;
const MAX_RULE_LENGTH = 20_000;

class BudgetExceeded extends Error {
  override readonly name = "BudgetExceeded";
}

interface Rule {
  run(context: Record<string, unknown>): unknown;
  usesOld: boolean;
  error?: string;
}

const environment = new Environment({ unlistedVariablesAreDyn: true, enableOptionalTypes: true });
const compiledRules = new Map<string, Rule>();
const hasRules = new WeakMap<SchemaNode, boolean>();

/** Whether a schema has rules at or below this node. */
export function hasCelRules(node: SchemaNode): boolean {
  const known = hasRules.get(node);
  if (known !== undefined) return known;
  // Until known otherwise; a recursive schema without rules ends up false at its root only after the walk.
  hasRules.set(node, false);
  const found = (node.source["x-kubernetes-validations"]?.length ?? 0) > 0 ||
    (node.element !== undefined && hasCelRules(node.element)) ||
    [...node.fields?.values() ?? []].some(hasCelRules);
  hasRules.set(node, found);
  return found;
}

function compileRule(text: string): Rule {
  let rule = compiledRules.get(text);
  if (rule) return rule;
  const usesOld = /\boldSelf\b/.test(text);
  try {
    if (text.length > MAX_RULE_LENGTH) throw new Error("the rule is too long");
    rule = { run: environment.parse(text), usesOld };
  } catch (error) {
    const error1 = error instanceof Error ? error.message.split("\n")[0]! : String(error);
    rule = { run: () => false, usesOld, error: error1 };
  }
  if (compiledRules.size > 5_000) compiledRules.clear();
  compiledRules.set(text, rule);
  return rule;
}

/** The error of a rule that does not compile; undefined when it does. */
export function celRuleError(text: string): string | undefined {
  return compileRule(text).error;
}

/** Runs all rules of `value`. `old` is undefined on create. */
export function validateCel(node: SchemaNode, value: JsonValue, old?: JsonValue): FieldError[] {
  if (!hasCelRules(node)) return [];
  const run: Run = { left: ACCESS_BUDGET, until: performance.now() + TIME_BUDGET, errors: [] };
  try {
    walk(node, value, old, "", run);
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error;
    run.errors.push(
      invalidOmitted(
        error.message,
        "validation failed due to running out of cost budget, no further validation rules will be run",
      ),
    );
  }
  return run.errors;
}

interface Run {
  left: number;
  until: number;
  errors: FieldError[];
}

function walk(node: SchemaNode, value: JsonValue, old: JsonValue | undefined, path: string, run: Run): void {
  if (value === null || !hasCelRules(node)) return;
  for (const spec of node.source["x-kubernetes-validations"] ?? []) {
    const rule = compileRule(spec.rule);
    if (rule.usesOld && old === undefined) continue;
    const at = spec.fieldPath ? path + (path === "" ? spec.fieldPath.replace(/^\./, "") : spec.fieldPath) : path;
    const context = contextOf(node, value, old, run, path);
    let result: unknown;
    try {
      if (rule.error) throw new Error(rule.error);
      result = rule.run(context);
    } catch (error) {
      if (error instanceof BudgetExceeded || (error as Error).cause instanceof BudgetExceeded || run.left < 0) {
        throw new BudgetExceeded(path);
      }
      const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
      run.errors.push(invalidOmitted(at, `rule "${spec.rule}" could not be evaluated: ${why}`));
      continue;
    }
    if (result === true) continue;
    run.errors.push(failed(at, value, messageOf(spec, context), spec.reason));
  }
  if (Array.isArray(value)) {
    if (node.element) value.forEach((v, i) => walk(node.element!, v, oldItem(node, v, old), index(path, i), run));
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      const field = node.fields?.get(key) ?? node.element;
      if (field) walk(field, value[key]!, isObject(old) ? old[key] : undefined, child(path, key), run);
    }
  }
}

/** Items of list maps are compared by key; in other lists an item has no state before. */
function oldItem(node: SchemaNode, item: JsonValue, old: JsonValue | undefined): JsonValue | undefined {
  if (node.listType !== "map" || !Array.isArray(old) || !isObject(item)) return undefined;
  return old.find((o) => isObject(o) && (node.keys ?? []).every((k) => o[k] === item[k]));
}

interface RuleSpec {
  rule: string;
  message?: string;
  messageExpression?: string;
}

function messageOf(spec: RuleSpec, context: Record<string, unknown>): string {
  if (spec.messageExpression) {
    try {
      const text = compileRule(spec.messageExpression).run(context);
      if (typeof text === "string" && text.trim() !== "" && !text.includes("\n")) return text;
    } catch {
      // As upstream: a broken messageExpression falls back to the message.
    }
  }
  return spec.message ?? `failed rule: ${spec.rule.trim()}`;
}

const REASONS: Record<string, FieldError["type"]> = {
  FieldValueRequired: "FieldValueRequired",
  FieldValueForbidden: "FieldValueForbidden",
  FieldValueDuplicate: "FieldValueDuplicate",
};
const WORDS: Record<string, string> = {
  FieldValueRequired: "Required value",
  FieldValueForbidden: "Forbidden",
  FieldValueDuplicate: "Duplicate value",
  FieldValueInvalid: "Invalid value",
};

function failed(field: string, value: JsonValue, detail: string, reason: string | undefined): FieldError {
  const type = REASONS[reason ?? ""] ?? "FieldValueInvalid";
  const withValue = typeof value !== "object" && (type === "FieldValueInvalid" || type === "FieldValueDuplicate");
  return { field, type, message: `${WORDS[type]}: ${withValue ? shown(value) + ": " : ""}${detail}` };
}

function contextOf(
  node: SchemaNode,
  value: JsonValue,
  old: JsonValue | undefined,
  run: Run,
  path: string,
): Record<string, unknown> {
  return {
    self: toCel(node, value, run, path),
    ...(old === undefined ? {} : { oldSelf: toCel(node, old, run, path) }),
  };
}

/** Integers become bigints, as CEL's int; objects and lists become views that count each look. */
function toCel(node: SchemaNode | undefined, value: JsonValue, run: Run, path: string): unknown {
  if (typeof value === "number") {
    const integer = node?.scalar === "integer" || (node?.scalar !== "number" && Number.isSafeInteger(value));
    return integer && Number.isInteger(value) ? BigInt(value) : value;
  }
  if (typeof value !== "object" || value === null) return value;
  return new Proxy(value as JsonObject, {
    get(target, key, receiver) {
      if (--run.left < 0 || ((run.left & 1023) === 0 && performance.now() > run.until)) {
        run.left = -1;
        throw new BudgetExceeded(path);
      }
      const found = Reflect.get(target, key, receiver);
      if (typeof key === "symbol" || !Object.hasOwn(target, key)) return found;
      if (Array.isArray(target)) return key === "length" ? found : toCel(node?.element, found as JsonValue, run, path);
      return toCel(node?.fields?.get(key) ?? node?.element, found as JsonValue, run, path);
    },
  });
}

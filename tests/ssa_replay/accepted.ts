/**
 * Differences that are meant: where the real server has a defect that ssa.md §11 mends, recognised by what was recorded
 * and what we answered, never by the name of a sequence; and a few that hang on one built-in kind's own code. Each id has
 * its reason in `expected_differences.json`.
 *
 * @module
 */
import { isObject, type JsonObject, type JsonValue, stringifyJson } from "../../shared/json/mod.ts";
import list from "./expected_differences.json" with { type: "json" };
import type { Difference, Expectation, Outcome, Sequence, Step } from "./types.ts";

/** What a rule looks at. */
export interface Judged {
  difference: Difference;
  step: Step;
  expected: Expectation;
  outcome: Outcome;
  sequence: Sequence;
}

interface Listed {
  /** Rules by id, each defined below. */
  rules: { id: string; ssa: string; reason: string }[];
  /** Differences of one built-in kind: an expression on the path, with its reason. */
  builtin: { id: string; kind: string; op: string; path: string; reason: string }[];
}

const LISTED = list as Listed;

/** Id of the accepted difference that covers this one. */
export function acceptedBy(judged: Judged): string | undefined {
  for (const { id } of LISTED.rules) if (RULES[id]?.(judged)) return id;
  const { difference, step, sequence } = judged;
  if (!sequence.schemaRef.includes("builtin-")) return undefined;
  return LISTED.builtin.find((b) =>
    b.kind === sequence.kind.kind && b.op === step.op && new RegExp(b.path).test(difference.path)
  )?.id;
}

/** Ids that the list and this file have: a test compares them. */
export function ruleIds(): string[] {
  return Object.keys(RULES);
}

/** Owned numbers keep their value here (ssa.md rule 4). */
export const EXACT_NUMBERS = "numbers-in-owned-paths-stay-exact";

const TYPED = /^failed to create (typed (patch|live) object|manager for existing fields) ?[(:]/;

const RULES: Record<string, (j: Judged) => boolean> = {
  "typed-error-is-400"({ expected, outcome }) {
    if (expected.code !== 500 || outcome.code !== 400 || reasonOf(outcome) !== "BadRequest") return false;
    const want = messageOf(expected.status), got = messageOf(outcome.body);
    if (!TYPED.test(want) || !unchanged(outcome) || causesOf(outcome.body).length === 0) return false;
    if (expected.messageVaries) return TYPED.test(got);
    // All errors are told here; upstream stops at the first of a struct or list.
    const [, prefix, error] = /^(.*?(?:\): | to smd typed: ))(.*)$/s.exec(want) ?? [];
    return got === want || (prefix !== undefined && got.startsWith(prefix) &&
      error!.split("\n").every((line) => got.includes(line.trim())));
  },

  "emptied-container-stays"({ expected, outcome, step }) {
    if (step.op !== "apply" || expected.code !== 422 || outcome.code !== 200) return false;
    const causes = causesOf(expected.status);
    return causes.length > 0 &&
      causes.every((c) => /must be of type (object|array): "null"$/.test(String(c.message))) &&
      causes.every((c) => isEmptied(valueAt(outcome.body, String(c.field))));
  },

  "emptied-parent-stays"({ expected, outcome, step }) {
    // The same defect, seen one level up: upstream's null container is dropped, and what it should hold is required.
    if (step.op !== "apply" || expected.code !== 422 || outcome.code !== 422) return false;
    const causes = causesOf(expected.status), ours = causesOf(outcome.body);
    return causes.length > 0 &&
      causes.every((c) => /must be of type (object|array): "null"$/.test(String(c.message))) &&
      ours.length > 0 &&
      ours.every((c) =>
        c.reason === "FieldValueRequired" && causes.some((u) => String(c.field).startsWith(`${String(u.field)}.`))
      );
  },

  "bad-version-is-400"({ expected, outcome }) {
    return expected.code === 500 && outcome.code === 400 && reasonOf(outcome) === "BadRequest" &&
      /^(strconv\.ParseUint: parsing .*|resourceVersion should not be set on objects to be created)$/s.test(
        messageOf(expected.status),
      ) && messageOf(expected.status) === messageOf(outcome.body) && unchanged(outcome);
  },

  "no-storage-key-in-answers"({ difference, expected, outcome }) {
    const want = messageOf(expected.status), got = messageOf(outcome.body);
    return difference.path === "status.message" && expected.code === 409 && outcome.code === 409 &&
      /StorageError: .*Key: \/registry\//.test(want) && !got.includes("/registry") &&
      got.includes("Precondition failed: UID in precondition: ");
  },

  "unknown-version-is-dropped"({ expected, outcome }) {
    return expected.code === 500 && outcome.code === 200 &&
      /^request to convert CR to an invalid group\/version: /.test(messageOf(expected.status));
  },

  "tracking-failure-keeps-owners"({ difference, expected, outcome, step }) {
    const managed = (o: JsonValue | undefined) => valueAt(o, "metadata.managedFields");
    const tracked = step.op !== "apply" && expected.code === outcome.code && managed(expected.object) === undefined &&
      managed(outcome.body) !== undefined && outcome.before !== undefined && managed(outcome.before) !== undefined;
    if (!tracked) return false;
    return difference.path === "object.metadata.managedFields" || difference.path === "timesMoved" ||
      (difference.path === "warnings" && outcome.warnings.some((w) => w.includes("metadata.managedFields was left")));
  },

  [EXACT_NUMBERS]({ difference, sequence, outcome }) {
    if (!/\.fieldsV1$/.test(difference.path) || sequence.schemaRef.includes("builtin-") || outcome.code >= 300) {
      return false;
    }
    return stringifyJson(folded(difference.expected)) === stringifyJson(folded(difference.got));
  },

  "store-has-its-own-limit"({ expected, outcome }) {
    // How large a stored value may be, and how that is told, is the store's.
    const words = /^(etcdserver: request is too large|rpc error: code = ResourceExhausted .*)$/;
    return expected.code === 500 && outcome.code === 500 && words.test(messageOf(expected.status)) &&
      words.test(messageOf(outcome.body)) && unchanged(outcome);
  },
};

function unchanged({ before, after }: Outcome): boolean {
  return stringifyJson(before ?? null) === stringifyJson(after ?? null);
}

function messageOf(status: JsonValue | undefined): string {
  return isObject(status) && typeof status.message === "string" ? status.message : "";
}

function reasonOf({ body }: Outcome): string {
  return isObject(body) && typeof body.reason === "string" ? body.reason : "";
}

function causesOf(status: JsonValue | undefined): JsonObject[] {
  const details = isObject(status) ? status.details : undefined;
  return isObject(details) && Array.isArray(details.causes) ? details.causes.filter(isObject) : [];
}

function valueAt(value: JsonValue | undefined, path: string): JsonValue | undefined {
  for (const key of path.split(".")) {
    if (!isObject(value)) return undefined;
    value = value[key];
  }
  return value;
}

/** An empty container, or one that holds nothing but defaults of its own. */
function isEmptied(value: JsonValue | undefined): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value);
}

/** A fields set with the numbers in its keys as a float64 holds them, as upstream reads them back. */
function folded(value: JsonValue | undefined): JsonValue {
  if (!isObject(value)) return value ?? null;
  const out: JsonObject = {};
  for (const key of Object.keys(value).sort()) {
    const text = /^[vk]:/.test(key) ? key.replace(/-?\d{16,}/g, (n) => String(Number(n))) : key;
    out[text] = folded(value[key]);
  }
  const keys = Object.keys(out).sort();
  return Object.fromEntries(keys.map((k) => [k, out[k]!]));
}

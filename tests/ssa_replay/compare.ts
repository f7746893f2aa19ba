/** Compares the outcome of a step with the recorded one. @module */
import { equalJson, isObject, type JsonObject, type JsonValue, stringifyJson } from "../../shared/json/mod.ts";
import type { Difference, Expectation, Outcome } from "./types.ts";

type Found = Pick<Difference, "path" | "expected" | "got">;

/** All differences of one step. */
export function compareStep(expected: Expectation, outcome: Outcome): Found[] {
  const found: Found[] = [];
  const differ = (path: string, want: JsonValue | undefined, got: JsonValue | undefined) =>
    found.push({ path, expected: want, got });
  if (expected.code !== outcome.code) differ("code", expected.code, outcome.code);
  if (expected.object) compareValue("object", expected.object, outcome.body, found);
  if (expected.status) compareStatus(expected, expected.status, outcome.body, found);
  if (!sameList(expected.warnings ?? [], outcome.warnings)) {
    differ("warnings", expected.warnings ?? [], outcome.warnings);
  }
  if (expected.stored) {
    if (!outcome.after) differ("stored", expected.stored, undefined);
    else compareValue("stored", expected.stored, outcome.after, found);
  }
  if (expected.exists === false && outcome.after) differ("exists", false, true);
  const moved = versionOf(outcome.before) !== versionOf(outcome.after);
  if (expected.resourceVersionMoved !== undefined && expected.resourceVersionMoved !== moved) {
    differ("resourceVersionMoved", expected.resourceVersionMoved, moved);
  }
  const times = timesMoved(outcome.before, outcome.after);
  if (expected.timesMoved && !sameList([...expected.timesMoved].sort(), times)) {
    differ("timesMoved", expected.timesMoved, times);
  }
  const escapes = /\\u003c|\\u0026|\\u003e/i.test(outcome.raw);
  if ((expected.rawHasHtmlEscapes ?? false) !== escapes && expected.code === outcome.code) {
    differ("rawHasHtmlEscapes", expected.rawHasHtmlEscapes ?? false, escapes);
  }
  return found;
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((v, i) => v === b[i]);
}

function versionOf(object: JsonObject | undefined): string {
  return isObject(object?.metadata) ? String(object.metadata.resourceVersion) : "";
}

/** Entries whose time is new, as the recording names them. */
function timesMoved(before: JsonObject | undefined, after: JsonObject | undefined): string[] {
  const was = entryTimes(before);
  return [...entryTimes(after)].filter(([id, time]) => was.get(id) !== time).map(([id]) => id).sort();
}

function entryTimes(object: JsonObject | undefined): Map<string, string> {
  const times = new Map<string, string>();
  const entries = isObject(object?.metadata) ? object.metadata.managedFields : undefined;
  for (const e of Array.isArray(entries) ? entries : []) {
    if (!isObject(e) || typeof e.time !== "string") continue;
    const version = e.operation === "Update" ? `@${e.apiVersion}` : "";
    times.set(`${e.operation}:${e.manager ?? ""}${version}${e.subresource ? `#${e.subresource}` : ""}`, e.time);
  }
  return times;
}

/** Structural comparison; key order counts only inside fieldsV1. */
export function compareValue(path: string, want: JsonValue, got: JsonValue | undefined, found: Found[]): void {
  if (isObject(want) && isObject(got)) {
    for (const key of new Set([...Object.keys(want), ...Object.keys(got)])) {
      const at = `${path}.${key}`;
      if (!Object.hasOwn(got, key)) found.push({ path: at, expected: want[key], got: undefined });
      else if (!Object.hasOwn(want, key)) found.push({ path: at, expected: undefined, got: got[key] });
      else if (key === "fieldsV1") {
        if (stringifyJson(want[key]) !== stringifyJson(got[key])) {
          found.push({ path: at, expected: want[key], got: got[key] });
        }
      } else compareValue(at, want[key]!, got[key], found);
    }
  } else if (Array.isArray(want) && Array.isArray(got)) {
    for (let i = 0; i < Math.max(want.length, got.length); i++) {
      const at = `${path}[${i}]`;
      if (i >= want.length) found.push({ path: at, expected: undefined, got: got[i] });
      else if (i >= got.length) found.push({ path: at, expected: want[i], got: undefined });
      else compareValue(at, want[i]!, got[i], found);
    }
  } else if (typeof want === "string" && typeof got === "string") {
    if (!matchesText(want, got)) found.push({ path, expected: want, got });
  } else if (!equalJson(want, got)) found.push({ path, expected: want, got });
}

const MASKS: Record<string, string> = {
  uid: "[0-9a-f-]{36}",
  rv: "\\d+",
  time: "(?!200[12])\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ",
  clusterip: "\\d+\\.\\d+\\.\\d+\\.\\d+",
};

/** A recorded text against ours; placeholders stand for values that change from run to run. */
export function matchesText(want: string, got: string): boolean {
  if (!/<(uid|rv|time|clusterip)>/.test(want)) return want === got;
  const pattern = want.split(/(<(?:uid|rv|time|clusterip)>)/)
    .map((part) => MASKS[part.slice(1, -1)] && part.startsWith("<") ? MASKS[part.slice(1, -1)] : escaped(part)).join(
      "",
    );
  return new RegExp(`^${pattern}$`, "s").test(got);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function compareStatus(expected: Expectation, want: JsonObject, got: JsonValue, found: Found[]): void {
  if (!isObject(got)) {
    found.push({ path: "status", expected: want, got });
    return;
  }
  const { details: wantDetails, message: wantMessage, ...wantRest } = want;
  const { details: gotDetails, message: gotMessage, ...gotRest } = got;
  compareValue("status", wantRest, gotRest, found);
  if (!expected.messageVaries && !sameMessage(expected, wantMessage, gotMessage)) {
    found.push({ path: "status.message", expected: wantMessage, got: gotMessage });
  }
  if (expected.messageVaries) return;
  if (!isObject(wantDetails) || !isObject(gotDetails)) {
    if (!equalJson(wantDetails, gotDetails)) {
      found.push({ path: "status.details", expected: wantDetails, got: gotDetails });
    }
    return;
  }
  const { causes: wantCauses, ...wantOther } = wantDetails;
  const { causes: gotCauses, ...gotOther } = gotDetails;
  compareValue("status.details", wantOther, gotOther, found);
  const [a, b] = [listed(wantCauses, expected), listed(gotCauses, expected)];
  if (a.length !== b.length || a.some((text, i) => !matchesText(text, b[i]!))) {
    found.push({ path: "status.details.causes", expected: wantCauses, got: gotCauses });
  }
}

/** Causes as texts, sorted when their order means nothing. */
function listed(causes: JsonValue | undefined, expected: Expectation): string[] {
  const texts = (Array.isArray(causes) ? causes : []).map((c) =>
    isObject(c) ? stringifyJson([c.field ?? "", c.reason ?? "", c.message ?? ""]) : stringifyJson(c)
  );
  return expected.causesUnordered ? texts.sort() : texts;
}

function sameMessage(expected: Expectation, want: JsonValue | undefined, got: JsonValue | undefined): boolean {
  if (typeof want !== "string" || typeof got !== "string") return want === got;
  if (matchesText(want, got)) return true;
  if (!expected.causesUnordered) return false;
  // The texts of a list in any order: the same letters in all.
  const letters = (text: string) => [...text].sort().join("");
  return letters(want) === letters(got);
}

/** Label and field selectors. @module */
import { isObject, type JsonObject } from "../json/mod.ts";
import { badRequest } from "./errors.ts";
import { goQuote } from "./go_text.ts";
import { labelValueErrors, qualifiedNameErrors } from "./validate/names.ts";

/** One requirement of a selector. */
export interface Requirement {
  key: string;
  op: "=" | "!=" | "in" | "notin" | "exists" | "!";
  values: string[];
}

const TOKEN = /\s*(!=|==|=|\(|\)|,|!|[^\s=!,()<>]+|[<>])/y;

function tokenize(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  const end = text.trimEnd().length;
  while (TOKEN.lastIndex < end) {
    const m = TOKEN.exec(text);
    if (!m) throw badRequest(`unable to parse requirement: found '${text.slice(0, 80)}'`);
    tokens.push(m[1]!);
  }
  return tokens;
}

/** Parses a label selector such as `a=b,c!=d,e in (f,g),!h`. @throws StatusError 400 */
export function parseLabelSelector(text: string): Requirement[] {
  const tokens = tokenize(text);
  const requirements: Requirement[] = [];
  let i = 0;
  const fail = (what: string): never => {
    throw badRequest(`unable to parse requirement: ${what}`);
  };
  while (i < tokens.length) {
    if (tokens[i] === "!") {
      const key = tokens[i + 1] ?? "";
      checkKey(key);
      requirements.push({ key, op: "!", values: [] });
      i += 2;
    } else {
      const key = tokens[i++]!;
      checkKey(key);
      const op = tokens[i];
      if (op === undefined || op === ",") requirements.push({ key, op: "exists", values: [] });
      else if (op === "=" || op === "==" || op === "!=") {
        i++;
        let value = "";
        if (i < tokens.length && tokens[i] !== ",") value = tokens[i++]!;
        checkValue(key, value);
        requirements.push({ key, op: op === "!=" ? "!=" : "=", values: [value] });
      } else if (op === "in" || op === "notin") {
        if (tokens[i + 1] !== "(") fail(`found '${tokens[i + 1] ?? ""}' expected: '('`);
        i += 2;
        const values: string[] = [];
        let wanted = true;
        while (i < tokens.length && tokens[i] !== ")") {
          if (tokens[i] === ",") {
            if (wanted) values.push("");
            wanted = true;
          } else {
            values.push(tokens[i]!);
            wanted = false;
          }
          i++;
        }
        if (tokens[i] !== ")") fail("found '' expected: ',', ')' or identifier");
        i++;
        for (const value of values) checkValue(key, value);
        requirements.push({ key, op, values });
      } else fail(`found '${op}', expected: in, notin, =, ==, !=, gt, lt`);
    }
    if (i < tokens.length) {
      if (tokens[i] !== ",") fail(`found '${tokens[i]}', expected: ',' or 'end of string'`);
      i++;
      if (i === tokens.length) fail("found '', expected: identifier after ','");
    }
  }
  return requirements;
}

function checkKey(key: string): void {
  const errors = qualifiedNameErrors(key);
  if (errors.length) {
    throw badRequest(`unable to parse requirement: <nil>: Invalid value: ${goQuote(key)}: ${errors[0]}`);
  }
}

function checkValue(key: string, value: string): void {
  const errors = labelValueErrors(value);
  if (errors.length) {
    throw badRequest(
      `unable to parse requirement: values[0][${key}]: Invalid value: ${goQuote(value)}: ${errors[0]}`,
    );
  }
}

/** Parses a field selector such as `metadata.name=x,spec.a!=b`. @throws StatusError 400 */
export function parseFieldSelector(text: string, known: ReadonlySet<string>): Requirement[] {
  const requirements: Requirement[] = [];
  for (const term of splitTerms(text)) {
    if (term === "") continue;
    const m = /^((?:[^=!\\]|\\.)*)(!=|==|=)(.*)$/s.exec(term);
    if (!m) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
    const key = m[1]!.trim();
    if (!known.has(key)) throw badRequest(`field label not supported: ${key}`);
    requirements.push({ key, op: m[2] === "!=" ? "!=" : "=", values: [m[3]!.replace(/\\([\\,=])/g, "$1")] });
  }
  return requirements;
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let term = "";
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "\\" && i + 1 < text.length) term += text[i]! + text[++i]!;
    else if (text[i] === ",") {
      terms.push(term);
      term = "";
    } else term += text[i];
  }
  terms.push(term);
  return terms;
}

/** Whether labels satisfy all requirements. */
export function matchesLabels(requirements: readonly Requirement[], labels: unknown): boolean {
  const map = isObject(labels) ? labels : {};
  return requirements.every((r) => {
    const has = Object.hasOwn(map, r.key);
    const value = has ? String(map[r.key]) : undefined;
    switch (r.op) {
      case "exists":
        return has;
      case "!":
        return !has;
      case "=":
      case "in":
        return has && r.values.includes(value!);
      default:
        return !has || !r.values.includes(value!);
    }
  });
}

/** Whether the fields of an object satisfy all requirements; an absent field is "". */
export function matchesFields(requirements: readonly Requirement[], object: JsonObject): boolean {
  return requirements.every((r) => {
    const value = fieldText(object, r.key);
    return r.op === "!=" ? value !== r.values[0] : value === r.values[0];
  });
}

function fieldText(object: JsonObject, path: string): string {
  let value: unknown = object;
  for (const part of path.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, part)) return "";
    value = value[part];
  }
  return value === null || typeof value === "object" ? "" : String(value);
}

/** Both selectors of a list or watch. */
export interface Selector {
  labels: Requirement[];
  fields: Requirement[];
  /** Text that must occur in an object's JSON for it to match: a cheap test before parsing. */
  hints: string[];
  /** The one name asked for by `metadata.name=`. */
  name?: string;
}

/** Parses both selectors of a request. @throws StatusError 400 */
export function parseSelector(query: URLSearchParams, selectable: readonly string[]): Selector | undefined {
  const labels = parseLabelSelector(query.get("labelSelector") ?? "");
  const known = new Set(["metadata.name", "metadata.namespace", ...selectable.map((s) => s.replace(/^\./, ""))]);
  const fields = parseFieldSelector(query.get("fieldSelector") ?? "", known);
  if (labels.length === 0 && fields.length === 0) return undefined;
  const hints: string[] = [];
  for (const r of labels) {
    if (r.op === "exists" || r.op === "=" || r.op === "in") hints.push(JSON.stringify(r.key) + ":");
    if (r.op === "=") hints.push(JSON.stringify(r.values[0]));
  }
  for (const r of fields) if (r.op === "=" && r.values[0] !== "") hints.push(JSON.stringify(r.values[0]).slice(1, -1));
  const name = fields.find((r) => r.key === "metadata.name" && r.op === "=")?.values[0];
  return { labels, fields, hints, ...(name ? { name } : {}) };
}

/** Whether an object given as JSON text and (lazily) parsed satisfies the selector. */
export function matches(selector: Selector | undefined, text: string, parse: () => JsonObject): boolean {
  if (!selector) return true;
  for (const hint of selector.hints) if (!text.includes(hint)) return false;
  const object = parse();
  const labels = isObject(object.metadata) ? object.metadata.labels : undefined;
  return matchesLabels(selector.labels, labels) && matchesFields(selector.fields, object);
}

/** The part of kubectl's JSONPath that printer columns use. @module */
import { isObject, type JsonValue } from "../json/mod.ts";

type Step = (values: JsonValue[]) => JsonValue[];

const parsedPaths = new Map<string, Step[] | undefined>();

/** Values at `path` (`.status.conditions[?(@.type=="Ready")].status`); empty when nothing is there or the path is bad. */
export function jsonPath(path: string, root: JsonValue): JsonValue[] {
  let steps = parsedPaths.get(path);
  if (!steps && !parsedPaths.has(path)) {
    steps = parsePath(path);
    if (parsedPaths.size > 2_000) parsedPaths.clear();
    parsedPaths.set(path, steps);
  }
  if (!steps) return [];
  let values: JsonValue[] = [root];
  for (const step of steps) values = step(values);
  return values;
}

/** Whether a path can be read. */
export function isJsonPath(path: string): boolean {
  return parsePath(path) !== undefined;
}

function field(key: string): Step {
  return (values) => values.flatMap((v) => isObject(v) && Object.hasOwn(v, key) ? [v[key]!] : []);
}

function children(value: JsonValue): JsonValue[] {
  return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
}

function descendants(value: JsonValue): JsonValue[] {
  return [value, ...children(value).flatMap(descendants)];
}

function parsePath(text: string): Step[] | undefined {
  let path = text.trim();
  if (path.startsWith("{") && path.endsWith("}")) path = path.slice(1, -1).trim();
  if (path.startsWith("$")) path = path.slice(1);
  const steps: Step[] = [];
  let i = 0;
  while (i < path.length) {
    if (path[i] === ".") {
      i++;
      if (path[i] === ".") {
        i++;
        steps.push((values) => values.flatMap(descendants));
      }
      if (path[i] === "*") {
        i++;
        steps.push((values) => values.flatMap(children));
        continue;
      }
      let key = "";
      while (i < path.length && path[i] !== "." && path[i] !== "[") {
        if (path[i] === "\\" && i + 1 < path.length) i++;
        key += path[i++];
      }
      if (key !== "") steps.push(field(key));
      else if (path[i] !== "[" && i < path.length) return undefined;
    } else if (path[i] === "[") {
      const end = closing(path, i);
      if (end < 0) return undefined;
      const step = bracket(path.slice(i + 1, end).trim());
      if (!step) return undefined;
      steps.push(step);
      i = end + 1;
    } else return undefined;
  }
  return steps;
}

/** Index of the `]` that closes the `[` at `start`; quotes are skipped. */
function closing(path: string, start: number): number {
  let depth = 0, quote = "";
  for (let i = start; i < path.length; i++) {
    const c = path[i]!;
    if (quote) {
      if (c === "\\") i++;
      else if (c === quote) quote = "";
    } else if (c === '"' || c === "'") quote = c;
    else if (c === "[") depth++;
    else if (c === "]" && --depth === 0) return i;
  }
  return -1;
}

function bracket(inner: string): Step | undefined {
  if (inner === "*") return (values) => values.flatMap(children);
  const quoted = /^(['"])(.*)\1$/s.exec(inner);
  if (quoted) return field(quoted[2]!.replace(/\\(.)/g, "$1"));
  const filter = /^\?\((.*)\)$/s.exec(inner);
  if (filter) return filterStep(filter[1]!.trim());
  if (/^-?\d+$/.test(inner)) {
    return (values) =>
      values.flatMap((v) => {
        const item = Array.isArray(v) ? v.at(Number(inner)) : undefined;
        return item === undefined ? [] : [item];
      });
  }
  const slice = /^(-?\d*):(-?\d*)$/.exec(inner);
  if (slice) {
    const from = slice[1] === "" ? 0 : Number(slice[1]);
    const to = slice[2] === "" ? undefined : Number(slice[2]);
    return (values) => values.flatMap((v) => Array.isArray(v) ? v.slice(from, to) : []);
  }
  return undefined;
}

function filterStep(expression: string): Step | undefined {
  const m = /^@((?:[^=!<>]|\\.)*?)\s*(?:(==|!=|<=|>=|<|>)\s*(.+))?$/s.exec(expression);
  if (!m) return undefined;
  const left = parsePath(m[1]!.trim());
  if (!left) return undefined;
  const at = (v: JsonValue) => {
    let values: JsonValue[] = [v];
    for (const step of left) values = step(values);
    return values[0];
  };
  const op = m[2];
  if (!op) return (values) => values.flatMap(children).filter((v) => at(v) !== undefined);
  const right = literal(m[3]!.trim());
  if (right === undefined) return undefined;
  return (values) => values.flatMap(children).filter((v) => compare(at(v), op, right));
}

function literal(text: string): string | number | boolean | undefined {
  const quoted = /^(['"])(.*)\1$/s.exec(text);
  if (quoted) return quoted[2]!;
  if (text === "true" || text === "false") return text === "true";
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

function compare(left: JsonValue | undefined, op: string, right: string | number | boolean): boolean {
  if (left === undefined) return false;
  const l = typeof left === "bigint" ? Number(left) : left;
  switch (op) {
    case "==":
      return l === right;
    case "!=":
      return l !== right;
    default:
      if (typeof l !== typeof right || (typeof l !== "number" && typeof l !== "string")) return false;
  }
  if (op === "<") return l < right;
  if (op === "<=") return l <= right;
  return op === ">" ? l > right : l >= right;
}

/**
 * Bounds for CEL expressions that users write. The language always ends, yet nested comprehensions over large lists and
 * backtracking regular expressions can take very long; both are refused or replaced here.
 *
 * @module
 */
import type { JsonValue } from "../json/mod.ts";

/** Most steps that one evaluation may need by its estimate. */
export const MAX_STEPS = 2_000_000;

/** A parsed expression, as far as it is walked here. */
export interface Node {
  op: string;
  args: unknown;
  input: string;
  range: { start: number; end: number };
}

const LOOPS = new Set(["all", "exists", "exists_one", "existsOne", "map", "filter", "sortBy", "transformList"]);

/** How an expression can grow: nodes, nesting of its loops, what its lists can be made of. */
export interface Shape {
  nodes: number;
  loops: number;
  /** It can make lists out of text, or longer ones out of lists. */
  splits: boolean;
  joins: number;
}

/** Walks the expression once. */
export function shapeOf(root: Node): Shape {
  const shape: Shape = { nodes: 0, loops: 0, splits: false, joins: 0 };
  const walk = (value: unknown, depth: number): void => {
    if (Array.isArray(value)) return value.forEach((v) => walk(v, depth));
    if (!isNode(value)) return;
    shape.nodes++;
    let inner = depth;
    if (value.op === "rcall" || value.op === "call") {
      const name = (value.args as unknown[])[0];
      if (typeof name === "string" && LOOPS.has(name)) shape.loops = Math.max(shape.loops, inner = depth + 1);
      if (name === "split") shape.splits = true;
    }
    if (value.op === "+") shape.joins++;
    walk(value.args, inner);
  };
  walk(root, 0);
  return shape;
}

/** Upper estimate of the steps that the expression takes on this value. */
export function steps(shape: Shape, value: JsonValue): number {
  if (shape.loops === 0) return shape.nodes;
  const size = Math.max(8, largest(value, shape.splits)) * (shape.joins + 1);
  return shape.nodes * size ** shape.loops;
}

/** The largest list, map or (when asked) text in the value. */
function largest(value: JsonValue, texts: boolean): number {
  if (typeof value === "string") return texts ? value.length : 0;
  if (typeof value !== "object" || value === null) return 0;
  const parts = Array.isArray(value) ? value : Object.values(value);
  let most = parts.length;
  for (const part of parts) most = Math.max(most, largest(part, texts));
  return most;
}

/** The source with each `x.matches(re)` calling `name` in its stead. */
export function renameMatches(root: Node, source: string, name: string): string {
  const places: number[] = [];
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(walk);
    if (!isNode(value)) return;
    if (value.op === "rcall") {
      const [called, receiver, args] = value.args as [string, Node, Node[]];
      const end = args[0]?.range.start ?? value.range.end;
      if (called === "matches") places.push(source.slice(0, end).lastIndexOf("matches", end));
      walk(receiver);
      walk(args);
    } else walk(value.args);
  };
  walk(root);
  let out = source;
  for (const place of places.filter((p) => p >= 0).sort((a, b) => b - a)) {
    out = out.slice(0, place) + name + out.slice(place + "matches".length);
  }
  return out;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "op" in value && "args" in value;
}

/** JSON documents inside files that hold manifests. @module */
import { parseJson } from "../json/mod.ts";
import type { JsonValue } from "../json/mod.ts";

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/** The value of text that is JSON as a whole, or undefined when it is not. */
export function tryJson(text: string): JsonValue | undefined {
  const start = text.trimStart();
  if (!start.startsWith("{") && !start.startsWith("[")) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** A key that stands twice in one object of valid JSON text: its name and offset. */
export function findDuplicateKey(text: string): { key: string; at: number }[] {
  const out: { key: string; at: number }[] = [];
  const stack: (Set<string> | undefined)[] = [];
  let pending: { key: string; at: number } | undefined;
  for (const match of text.matchAll(TOKEN)) {
    const token = match[0];
    if (token === "{") stack.push(new Set());
    else if (token === "[") stack.push(undefined);
    else if (token === "}" || token === "]") stack.pop();
    else if (token === ":" && pending) {
      const keys = stack.at(-1);
      if (keys?.has(pending.key)) out.push(pending);
      keys?.add(pending.key);
    }
    pending = token.startsWith('"') ? { key: JSON.parse(token), at: match.index } : undefined;
  }
  return out;
}

/**
 * Paths of fields, in one documented form: a JSON pointer (RFC 6901) in which an item of a keyed list is written with
 * its keys instead of its index: `/spec/template/spec/containers[name=c]/image`,
 * `/spec/ports[port=53,protocol=UDP]/name`. A key value that is not a plain word is quoted as JSON: `[name="a/b"]`.
 * A list without keys (atomic, or a set) is named as a whole: `/spec/args`.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../json/mod.ts";

/** One step into a value: a key of a map, or an item of a list. */
export type Step = { key: string } | { index: number; keys?: readonly [string, JsonValue][] };

/** Prints a path. */
export function formatPath(steps: readonly Step[]): string {
  return steps.map((s) => {
    if ("key" in s) return `/${escape(s.key)}`;
    return s.keys ? `[${s.keys.map(([k, v]) => `${k}=${word(v)}`).join(",")}]` : `/${s.index}`;
  }).join("");
}

const escape = (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1");

function word(value: JsonValue): string {
  if (typeof value === "string") return /^[\w.:-]+$/.test(value) ? value : JSON.stringify(value);
  return String(value);
}

/** One step of a pattern. `*` as a name matches any key or item. */
type Token = { name: string } | { keys: Map<string, string> };

/** The rest of an ignore pattern that still has to match. */
export type Pattern = readonly Token[];

/**
 * Reads a pattern in the form above; an item of a list may also be given by index or `*`.
 *
 * @throws SyntaxError when the text is no such path.
 */
export function parsePattern(text: string): Pattern {
  const tokens: Token[] = [];
  let rest = text;
  while (rest) {
    const name = /^\/((?:[^/[\]]|\[(?![^\]]*=))*)/.exec(rest);
    if (name) {
      tokens.push({ name: name[1]!.replaceAll("~1", "/").replaceAll("~0", "~") });
      rest = rest.slice(name[0].length);
      continue;
    }
    const keys = /^\[((?:[^\]"]|"(?:[^"\\]|\\.)*")*)\]/.exec(rest);
    if (!keys || tokens.length === 0) {
      throw new SyntaxError(
        `Cannot read the path ${JSON.stringify(text)}: write it like /spec/containers[name=c]/image`,
      );
    }
    tokens.push({ keys: parseKeys(keys[1]!, text) });
    rest = rest.slice(keys[0].length);
  }
  return tokens;
}

function parseKeys(body: string, text: string): Map<string, string> {
  const out = new Map<string, string>();
  for (const [pair] of body.matchAll(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/g)) {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (key === undefined) {
      throw new SyntaxError(`Cannot read the path ${JSON.stringify(text)}: in [] write key=value`);
    }
    out.set(key, value!.startsWith('"') ? String(JSON.parse(value!)) : value!);
  }
  return out;
}

/** What is left of the patterns after a step; one that is left empty covers the whole value there. */
export function advance(patterns: readonly Pattern[], step: Step): Pattern[] {
  return patterns.filter((p) => p.length > 0 && matches(p[0]!, step)).map((p) => p.slice(1));
}

function matches(token: Token, step: Step): boolean {
  if ("name" in token) return token.name === "*" || token.name === ("key" in step ? step.key : String(step.index));
  if ("key" in step || !step.keys) return false;
  const keys = step.keys;
  return [...token.keys].every(([k, v]) => keys.some(([key, value]) => key === k && String(value) === v));
}

/** The keys of a list's items as `managedFields` tells them: trees of fieldsV1 at that list. */
export function listKeys(fields: readonly JsonObject[]): string[] | undefined {
  for (const tree of fields) {
    for (const member of Object.keys(tree)) {
      if (!member.startsWith("k:")) continue;
      try {
        return Object.keys(JSON.parse(member.slice(2)));
      } catch {
        // Not a key after all: another member may tell.
      }
    }
  }
  return undefined;
}

/** The one place that reads YAML. @module */
import { type Event, parseEvents, YAMLException } from "js-yaml";
import type { JsonValue } from "../json/mod.ts";
import { Builder } from "./construct.ts";
import { Positions, YamlError } from "./error.ts";
import { findDuplicateKey, tryJson } from "./json_text.ts";

/** How to read. */
export interface ParseOptions {
  /** Name for errors. @default "" */
  file?: string;
  /**
   * A key that stands twice in a map: an error, or the last one wins and {@link YamlDocument.duplicates} tells
   * (ssa.md 59). @default "error"
   */
  duplicates?: "error" | "report";
  /** Nesting, in levels. @default 500 */
  maxDepth?: number;
  /** Values that aliases and merges may add to one text (an "alias bomb" has billions). @default 200_000 */
  maxAliasNodes?: number;
}

/** One document of a text. */
export interface YamlDocument {
  value: JsonValue;
  /** Line of its first value, from 1. */
  line: number;
  file: string;
  /** Texts such as `line 4: key "str" already set in map`; empty unless duplicates are reported. */
  duplicates: string[];
}

/**
 * Reads all documents of a text as kubectl does: see {@link ./scalar.ts}. Documents without a value (comments, nothing
 * between two `---`) are left out. A text that is JSON as a whole is read as JSON.
 *
 * @throws YamlError
 */
export function parseDocuments(text: string, options: ParseOptions = {}): YamlDocument[] {
  const { file = "", duplicates = "error", maxDepth = 500, maxAliasNodes = 200_000 } = options;
  const source = text.startsWith("\ufeff") ? text.slice(1) : text;
  const positions = new Positions(source);
  const json = tryJson(source);
  if (json !== undefined) {
    const twice = findDuplicateKey(source).map((d) => ({ ...d, ...positions.of(d.at) }));
    if (twice[0] && duplicates === "error") {
      const problem = `the key ${JSON.stringify(twice[0].key)} occurs twice in this map; keep one of the two`;
      throw new YamlError(problem, file, twice[0].line, twice[0].column);
    }
    const line = positions.of(source.search(/\S/)).line;
    const told = twice.map((d) => `line ${d.line}: key ${JSON.stringify(d.key)} already set in map`);
    return [{ value: json, line, file, duplicates: told }];
  }
  refuseControlCharacters(source, file, positions);
  const builder = new Builder(source, events(source, file, positions, maxDepth), positions, {
    file,
    duplicates,
    maxAliasNodes,
  });
  return builder.documents().map((d) => ({ ...d, file }));
}

/** Reads the first document, as `yaml.Unmarshal` does; null when there is none. @throws YamlError */
export function parseYaml(text: string, options: ParseOptions = {}): { value: JsonValue; duplicates: string[] } {
  const [first] = parseDocuments(text, options);
  return first ? { value: first.value, duplicates: first.duplicates } : { value: null, duplicates: [] };
}

/** Text that may be parsed again in all, to mend the indentation of flow collections. */
const MAX_REPARSED = 16 * 2 ** 20;

function events(source: string, file: string, positions: Positions, maxDepth: number): Event[] {
  let text = source;
  let first: YAMLException | undefined;
  for (let spent = 0;; spent += text.length) {
    try {
      return parseEvents(text, { maxDepth });
    } catch (error) {
      if (error instanceof RangeError) throw new YamlError(`nesting exceeds ${maxDepth} levels`, file, 1, 1);
      if (!(error instanceof YAMLException)) throw error;
      const mended = spent < MAX_REPARSED ? mendIndentation(text, error) : undefined;
      if (mended === undefined) {
        // Where the mending ran into the end, the line that it began at is the one that has no `]` before it.
        const told = first && /flow collection|flow sequence|flow mapping|end of the stream/.test(error.reason)
          ? first
          : error;
        const { line, column } = positions.of(told.mark?.position ?? 0);
        throw new YamlError(wording(told), file, line, column);
      }
      first ??= error;
      text = mended;
    }
  }
}

function wording(error: YAMLException): string {
  if (error.reason === "deficient indentation") {
    return "the [ or { before this line is not closed, or this line needs indentation";
  }
  return error.reason.replace(/exceeded maxDepth \((\d+)\)/, "exceeds $1 levels");
}

/**
 * YAML wants the lines of `[…]` and `{…}` deeper than their key; kubectl's reader does not care, and manifests with
 * `]` at the margin are common. The break before such a line becomes spaces, which mean the same there and keep every
 * offset. undefined when that is not what is wrong.
 */
function mendIndentation(text: string, error: YAMLException): string | undefined {
  if (error.reason !== "deficient indentation" || !error.mark) return undefined;
  const lineStart = error.mark.position - error.mark.column;
  const before = text.slice(0, lineStart);
  const lastLine = before.replace(/\r?\n$|\r$/, "");
  if (lastLine.length === before.length) return undefined;
  const from = Math.max(lastLine.lastIndexOf("\n"), lastLine.lastIndexOf("\r")) + 1;
  const code = lastLine.slice(from).replace(/(^|\s)#[^'"]*$/, (comment) => " ".repeat(comment.length));
  return lastLine.slice(0, from) + code + " ".repeat(before.length - lastLine.length) +
    text.slice(lineStart).replace(/^[ \t]+/, (white) => " ".repeat(white.length));
}

// deno-lint-ignore no-control-regex
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]/;

function refuseControlCharacters(source: string, file: string, positions: Positions): void {
  const at = source.search(CONTROL);
  if (at < 0) return;
  const { line, column } = positions.of(at);
  const code = source.charCodeAt(at).toString(16).toUpperCase().padStart(4, "0");
  throw new YamlError(
    `the control character U+${code} is not allowed; write it as an escape in "…"`,
    file,
    line,
    column,
  );
}

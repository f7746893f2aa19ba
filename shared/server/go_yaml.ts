/**
 * What sigs.k8s.io/yaml says of text that is not YAML. Our reader finds the same mistakes but words them for people who
 * edit files; answers of the server use the words that Kubernetes clients know. Unknown mistakes keep our own words.
 *
 * @module
 */
import type { YamlError } from "../yaml/mod.ts";

const CANNOT_START = "found character that cannot start any token";
const NO_NODE = "did not find expected node content";
const NO_MAPPING = "mapping values are not allowed in this context";

/** The message for an error of our YAML reader, with `error converting YAML to JSON: yaml: ` before it. */
export function goYamlMessage(text: string, error: YamlError): string {
  const { line, message } = describe(text, error);
  return `error converting YAML to JSON: yaml: ${line > 0 ? `line ${line}: ` : ""}${message}`;
}

interface Told {
  /** 0 = not told. */
  line: number;
  message: string;
}

/** An error of go-yaml's scanner: it tells the line, but not the first. */
function scanner(line: number, message: string): Told {
  return { line: line > 1 ? line : 0, message };
}

/** An error of its parser: it tells the line before. */
function parser(line: number, message: string): Told {
  return { line: line - 1, message };
}

function describe(text: string, { problem, line, column }: YamlError): Told {
  const lines = text.split("\n");
  const here = lines[line - 1] ?? "";
  if (/^\s*\t/.test(here) && !problem.startsWith("tab characters")) return scanner(line, CANNOT_START);
  if (problem.includes("within a flow collection")) return unclosed(text);
  if (problem.startsWith("the [ or { before this line")) return { ...unclosed(lines.slice(0, line - 1).join("\n")) };
  if (problem.includes("quoted scalar")) return scanner(contentLines(text), "found unexpected end of stream");
  if (problem.startsWith("bad indentation")) return badIndentation(lines, line, column);
  if (problem.startsWith("end of the stream")) return trailing(lines, line, column);
  if (problem.startsWith("tab characters")) {
    const before = (lines[line - 2] ?? "").trimEnd();
    if (before.endsWith(":") || line === 1) return scanner(line, CANNOT_START);
    const block = lines.slice(0, line - 1).some((l) => /[|>][+-]?\d?\s*$/.test(l));
    return scanner(
      line,
      block
        ? "found a tab character where an indentation space is expected"
        : "found a tab character that violates indentation",
    );
  }
  const anchor = /^no anchor &(\S+) stands/.exec(problem);
  if (anchor) return { line: 0, message: `unknown anchor '${anchor[1]}' referenced` };
  if (problem.startsWith("directives end mark")) return scanner(line, "found unknown directive name");
  if (problem.startsWith("the control character")) return { line: 0, message: "control characters are not allowed" };
  if (problem.startsWith("unknown escape")) return scanner(line, "found unknown escape character");
  if (problem.startsWith("the value of <<")) {
    return { line: 0, message: "map merge requires map or sequence of maps as the value" };
  }
  return { line, message: problem };
}

/** Lines up to the last that has anything. */
function contentLines(text: string): number {
  return text.trimEnd().split("\n").length;
}

/** The text ends inside [ or {. */
function unclosed(text: string): Told {
  const open: string[] = [];
  for (const c of text.replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, "")) {
    if (c === "[" || c === "{") open.push(c);
    else if (c === "]" || c === "}") open.pop();
  }
  const last = text.trimEnd().at(-1) ?? "";
  const message = "[{,".includes(last) ? NO_NODE : `did not find expected ',' or '${open.at(-1) === "{" ? "}" : "]"}'`;
  return { line: contentLines(text), message };
}

/** What stands at a place where nothing of its kind may. */
function atPlace(lines: string[], line: number, column: number): Told | undefined {
  const rest = (lines[line - 1] ?? "").slice(column - 1);
  if (/^[@`%]/.test(rest)) return scanner(line, CANNOT_START);
  if (/^[\]}]/.test(rest)) return parser(line, NO_NODE);
  return undefined;
}

function badIndentation(lines: string[], line: number, column: number): Told {
  const found = atPlace(lines, line, column);
  if (found) return found;
  const here = lines[line - 1] ?? "";
  if (/^-\s/.test(here.slice(column - 1))) {
    return scanner(line, "block sequence entries are not allowed in this context");
  }
  const before = lines.slice(0, line - 1).filter((l) => l.trim() !== "").at(-1) ?? "";
  const first = here.slice(0, column - 1).trim() === "";
  if (first && (/^\s*-/.test(before) || indent(before) > indent(here))) {
    return parser(line, "did not find expected key");
  }
  return scanner(line, NO_MAPPING);
}

function indent(line: string): number {
  return line.length - line.trimStart().length;
}

/** Something follows where the document should have ended. */
function trailing(lines: string[], line: number, column: number): Told {
  const found = atPlace(lines, line, column);
  if (found) return found;
  if (/^\s*-\s/.test(lines.find((l) => l.trim() !== "") ?? "")) {
    return parser(line, "did not find expected '-' indicator");
  }
  return scanner(line, NO_MAPPING);
}

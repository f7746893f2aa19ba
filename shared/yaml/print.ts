/** The one place that writes YAML. @module */
import { isObject, type JsonValue } from "../json/mod.ts";
import { resolvePlain } from "./scalar.ts";

/** Text that no reader takes for anything but a string, as long as it has no number's form. */
const PLAIN = /^[\w./](?:[\w./@+=,;()$~*^%&!?<>|-]|:(?=[^\s])|#(?<=\S#)| (?=[^\s#]))*$/;
/** Numbers, dates and sexagesimals of any YAML version: quoted, though kubectl reads some of them as strings. */
const NUMBER_LIKE =
  /^(?:[-+]?[0-9_]*\.?[0-9_]*(?:[eE][-+]?[0-9]*)?|[-+]?0[xXoObB].*|[-+]?[0-9][0-9_]*(?::[0-9]+)+.*|[0-9]{4}-.*)$/;
const PRINTABLE = /^[\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]*$/u;

/**
 * Prints JSON data as kubectl's `-o yaml` does: block style, a final newline, long integers as digits. A string that
 * would be read as something else is quoted.
 *
 * @param options.sortKeys keys in order of their code units. @default true
 */
export function toYaml(value: unknown, options: { sortKeys?: boolean } = {}): string {
  const lines: string[] = [];
  block(value as JsonValue, "", "", lines, options.sortKeys ?? true);
  return lines.join("\n") + "\n";
}

/** Writes a value whose first line begins with `lead` and whose other lines begin with `indent`. */
function block(value: JsonValue, lead: string, indent: string, lines: string[], sort: boolean): void {
  if (!filled(value)) {
    lines.push(lead + scalar(value, indent + "  "));
  } else if (Array.isArray(value)) {
    for (const item of value) {
      if (filled(item)) block(item, `${lead}- `, `${indent}  `, lines, sort);
      else lines.push(`${lead}- ${scalar(item, indent + "  ")}`);
      lead = indent;
    }
  } else {
    const keys = Object.keys(value).filter((k) => value[k] !== undefined);
    if (sort) keys.sort();
    for (const key of keys) {
      const item = value[key]!;
      const head = `${lead}${line(key)}:`;
      lead = indent;
      if (!filled(item)) {
        lines.push(`${head} ${scalar(item, indent + "  ")}`);
        continue;
      }
      lines.push(head);
      const inner = Array.isArray(item) ? indent : `${indent}  `;
      block(item, inner, inner, lines, sort);
    }
  }
}

function filled(value: JsonValue): value is JsonValue[] | { [key: string]: JsonValue } {
  if (Array.isArray(value)) return value.length > 0;
  return isObject(value) && Object.values(value).some((v) => v !== undefined);
}

function scalar(value: JsonValue | undefined, indent: string): string {
  if (typeof value === "string") {
    return /^\S.*\n/.test(value) && PRINTABLE.test(value) ? literal(value, indent) : line(value);
  }
  if (Array.isArray(value)) return "[]";
  return isObject(value) ? "{}" : String(value ?? null);
}

/** A string on one line. */
function line(value: string): string {
  const string = resolvePlain(value) === value && !NUMBER_LIKE.test(value) && value !== "<<" && value !== "=";
  if (string && PLAIN.test(value)) return value;
  if (string && !value.includes("\n") && PRINTABLE.test(value)) return `'${value.replaceAll("'", "''")}'`;
  return JSON.stringify(value).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function literal(value: string, indent: string): string {
  const chomp = !value.endsWith("\n") ? "-" : value.endsWith("\n\n") ? "+" : "";
  const body = (chomp === "-" ? value : value.slice(0, -1)).split("\n");
  return `|${chomp}\n${body.map((text) => text ? indent + text : "").join("\n")}`;
}

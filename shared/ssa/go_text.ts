/** How Go prints values: the words of typed errors and of paths (rules 3 and 21). @module */
import type { Value } from "./contract.ts";
import { compareBytes } from "./value.ts";

const SHORT_ESCAPES: Record<string, string> = {
  '"': '\\"',
  "\\": "\\\\",
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
};
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** `strconv.Quote`. */
export function goQuote(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  let out = '"';
  for (const char of text) {
    const short = SHORT_ESCAPES[char];
    if (short !== undefined) out += short;
    else if (PRINTABLE.test(char)) out += char;
    else {
      const code = char.codePointAt(0)!;
      const hex = code.toString(16);
      out += code < 0x80
        ? `\\x${hex.padStart(2, "0")}`
        : code > 0xffff
        ? `\\U${hex.padStart(8, "0")}`
        : code >= 0xd800 && code < 0xe000
        ? "\ufffd"
        : `\\u${hex.padStart(4, "0")}`;
    }
  }
  return out + '"';
}

/** A number as `%v` prints it: integers plain; floats with the shortest digits, and an exponent from 1e+06 on. */
export function goNumber(value: number | bigint): string {
  if (typeof value === "bigint" || Number.isSafeInteger(value)) return String(Object.is(value, -0) ? 0 : value);
  const [mantissa, exponent] = value.toExponential().split("e") as [string, string];
  const e = Number(exponent);
  if (e >= -4 && e < 6) return String(value);
  return `${mantissa}e${e < 0 ? "-" : "+"}${String(Math.abs(e)).padStart(2, "0")}`;
}

/** `%v`. */
export function goText(value: Value): string {
  if (value === null) return "<nil>";
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint") return goNumber(value);
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
  return `map[${Object.keys(value).sort(compareBytes).map((k) => `${k}:${goText(value[k]!)}`).join(" ")}]`;
}

/** `%#v`. */
export function goSyntax(value: Value): string {
  if (value === null) return "interface {}(nil)";
  if (typeof value === "string") return goQuote(value);
  if (typeof value === "number" || typeof value === "bigint") return goNumber(value);
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  const members = Object.keys(value).sort(compareBytes).map((k) => `${goQuote(k)}:${goSyntax(value[k]!)}`);
  return `map[string]interface {}{${members.join(", ")}}`;
}

/** `%T`. */
export function goType(value: Value): string {
  if (value === null) return "<nil>";
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value))) return "int64";
  if (typeof value === "number") return "float64";
  return Array.isArray(value) ? "[]interface {}" : "map[string]interface {}";
}

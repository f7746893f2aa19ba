/**
 * What a plain YAML word means. The rules are those of `sigs.k8s.io/yaml`, which kubectl, Helm and the API server read
 * with: YAML 1.1 words, but no sexagesimals and no timestamps. `testdata/facts.jsonl` has what that library answers.
 *
 * @module
 */
import type { JsonValue } from "../json/mod.ts";

/** A value that JSON cannot hold: `.inf`, `.nan`. */
export const NOT_JSON: unique symbol = Symbol("not JSON");

const WORDS = new Map<string, JsonValue | typeof NOT_JSON>();
for (const w of ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"]) WORDS.set(w, true);
for (const w of ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"]) WORDS.set(w, false);
for (const w of ["", "~", "null", "Null", "NULL"]) WORDS.set(w, null);
for (const w of ["inf", "Inf", "INF"]) for (const sign of ["", "+", "-"]) WORDS.set(`${sign}.${w}`, NOT_JSON);
for (const w of [".nan", ".NaN", ".NAN"]) WORDS.set(w, NOT_JSON);

const INTEGER = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** The value of a plain scalar, or {@link NOT_JSON}. */
export function resolvePlain(text: string): JsonValue | typeof NOT_JSON {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  const first = text.charCodeAt(0);
  const digit = first >= 48 && first <= 57;
  if (!digit && first !== 43 && first !== 45 && first !== 46) return text;
  // `_` separates digits anywhere but in front; after a leading dot Go's own syntax has none.
  const plain = first === 46 || !text.includes("_") ? text : text.replaceAll("_", "");
  if (first !== 46) {
    const int = INTEGER.exec(plain);
    if (int) return integer(int);
  }
  if (!FLOAT.test(plain)) return text;
  const float = Number(plain);
  return Number.isFinite(float) ? fromFloat(float) : text;
}

function integer([, sign, hex, binary, octal, decimal]: RegExpExecArray): JsonValue {
  const digits = hex !== undefined
    ? `0x${hex}`
    : binary !== undefined
    ? `0b${binary}`
    : octal
    ? `0o${octal}`
    : decimal!;
  const small = Number(digits);
  if (Number.isSafeInteger(small)) return sign === "-" && small !== 0 ? -small : small;
  const exact = sign === "-" ? -BigInt(digits) : BigInt(digits);
  return exact >= INT64_MIN && exact <= INT64_MAX ? exact : Number(exact);
}

/** A float as it comes back from JSON: `1e18` prints as digits, so it is an integer from then on; -0 is 0. */
function fromFloat(float: number): JsonValue {
  if (float === 0) return 0;
  if (!Number.isInteger(float) || Number.isSafeInteger(float)) return float;
  const exact = BigInt(float);
  return exact >= INT64_MIN && exact <= INT64_MAX ? exact : float;
}

/** The key that a plain scalar makes, or undefined when it cannot be a key (null, 2^63 to 2^64). */
export function keyOfPlain(text: string): string | undefined {
  const value = resolvePlain(text);
  if (value === NOT_JSON) return text.replace("+", "").toLowerCase();
  if (value === null) return undefined;
  if (typeof value !== "number" && typeof value !== "bigint") return String(value);
  if (!INTEGER.test(text.replaceAll("_", ""))) return float32Text(Number(value));
  // The library has an unsigned integer there, which it takes for no key; further out, a float.
  if (!Number.isSafeInteger(value) && typeof value === "number") {
    return value > 0 && value <= 2 ** 64 ? undefined : float32Text(value);
  }
  return String(value);
}

/** Go's `FormatFloat(v, 'g', -1, 32)`: the shortest text that is the same 32-bit float. */
function float32Text(value: number): string {
  const rounded = Math.fround(value);
  if (!Number.isFinite(rounded)) return value < 0 ? "-.inf" : ".inf";
  let digits = "";
  for (let precision = 1; precision <= 9; precision++) {
    digits = rounded.toExponential(precision - 1);
    if (Math.fround(Number(digits)) === rounded) break;
  }
  const [mantissa, exponentText] = digits.split("e") as [string, string];
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return String(Number(digits));
  return `${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

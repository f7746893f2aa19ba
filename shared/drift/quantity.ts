/** Quantities as Kubernetes writes them: `500m`, `1Gi`, `1e3`, `0.5`. Equal amounts in other spelling are the same (C20). @module */

import { isObject, type JsonValue } from "../json/mod.ts";
import type { Step } from "./path.ts";

const SUFFIX: Record<string, readonly [base: bigint, exponent: number]> = {
  n: [10n, -9],
  u: [10n, -6],
  m: [10n, -3],
  "": [10n, 0],
  k: [10n, 3],
  M: [10n, 6],
  G: [10n, 9],
  T: [10n, 12],
  P: [10n, 15],
  E: [10n, 18],
  Ki: [2n, 10],
  Mi: [2n, 20],
  Gi: [2n, 30],
  Ti: [2n, 40],
  Pi: [2n, 50],
  Ei: [2n, 60],
};

/** The amount in 1e-12ths, exact up to that; undefined when the text is no quantity. */
function amount(value: unknown): bigint | undefined {
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "bigint") return undefined;
  const parts = /^([+-]?)(\d{0,40})(?:\.(\d{0,40}))?(?:(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE])|[eE]([+-]?\d{1,2}))?$/
    .exec(String(value));
  if (!parts) return undefined;
  const [, sign, whole = "", fraction = "", suffix = "", exponent] = parts;
  if (!whole && !fraction) return undefined;
  const [base, power] = exponent === undefined ? SUFFIX[suffix]! : [10n, Number(exponent)] as const;
  let n = BigInt(whole + fraction) * 10n ** 12n;
  let down = 10n ** BigInt(fraction.length);
  if (power >= 0) n *= base ** BigInt(power);
  else down *= base ** BigInt(-power);
  return (sign === "-" ? -1n : 1n) * (n / down);
}

/** True when both are quantities of the same amount, in whatever spelling. */
export function sameQuantity(a: unknown, b: unknown): boolean {
  const x = amount(a);
  return x !== undefined && x === amount(b);
}

/**
 * True when the OpenAPI schema of a custom kind says that the value at this place is a quantity: `int-or-string` with
 * the pattern of quantities, as code generators write it. A plain string is none, however it looks (C20).
 */
export function isQuantitySchema(schema: JsonValue | undefined, path: readonly Step[]): boolean {
  let node = schema;
  for (const step of path) {
    if (!isObject(node)) return false;
    if ("index" in step) node = node.items;
    else if (isObject(node.properties) && Object.hasOwn(node.properties, step.key)) node = node.properties[step.key];
    else node = node.additionalProperties;
  }
  return isObject(node) && node["x-kubernetes-int-or-string"] === true && typeof node.pattern === "string" &&
    node.pattern.includes("KMGTPE]i");
}

/** Order of resource versions: compared as whole numbers where both are, as Kubernetes 1.35 allows. @module */

const DIGITS = /^\d+$/;

/** True when both are numbers and `a` is below `b`. Versions that are no numbers have no order. */
export function isOlder(a: string, b: string): boolean {
  if (!DIGITS.test(a) || !DIGITS.test(b)) return false;
  return a.length === b.length ? a < b : BigInt(a) < BigInt(b);
}

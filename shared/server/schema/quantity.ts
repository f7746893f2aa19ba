/** Canonical form of resource quantities (`1000m` → `1`, `1024Mi` → `1Gi`). @module */

const FORM = /^([+-]?)(\d*)(?:\.(\d*))?(Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d{1,3}|[numkMGTPE]|)$/;
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL: Record<string, number> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const DECIMAL_NAMES = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
/** The smallest unit that a quantity keeps: 1e-9. */
const NANO = 9;

/** The canonical text; undefined when `text` is no quantity. */
export function canonicalQuantity(text: string): string | undefined {
  const m = FORM.exec(text);
  if (!m || text.length > 400 || (m[2] === "" && !m[3])) return undefined;
  const [, sign, whole = "", fraction = "", suffix = ""] = m;
  let digits = BigInt((whole + fraction) || "0");
  let scale = -fraction.length;
  const binary = BINARY.indexOf(suffix);
  const exponent = /^[eE][+-]?\d+$/.test(suffix);
  if (binary > 0) digits *= 1024n ** BigInt(binary);
  else scale += exponent ? Number(suffix.slice(1)) : DECIMAL[suffix] ?? 0;
  const nanos = atNano(digits, scale);
  if (nanos === 0n) return "0";
  const minus = sign === "-" ? "-" : "";
  const unit = 10n ** BigInt(NANO);
  if (binary > 0 && nanos % unit === 0n && nanos / unit >= 1024n) return minus + inBinary(nanos / unit);
  return minus + (exponent ? inExponent(nanos) : inDecimal(nanos));
}

/** Rounds up to whole nanos, as Kubernetes does. */
function atNano(digits: bigint, scale: number): bigint {
  const shift = scale + NANO;
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  return (digits + divisor - 1n) / divisor;
}

function inBinary(value: bigint): string {
  let i = 0;
  while (i < BINARY.length - 1 && value % 1024n === 0n) {
    value /= 1024n;
    i++;
  }
  return `${value}${BINARY[i]}`;
}

function inDecimal(nanos: bigint): string {
  let i = 0;
  while (i < DECIMAL_NAMES.length - 1 && nanos % 1000n === 0n) {
    nanos /= 1000n;
    i++;
  }
  return `${nanos}${DECIMAL_NAMES[i]}`;
}

function inExponent(nanos: bigint): string {
  let e = -NANO;
  while (nanos % 1000n === 0n) {
    nanos /= 1000n;
    e += 3;
  }
  return e === 0 ? `${nanos}` : `${nanos}e${e}`;
}

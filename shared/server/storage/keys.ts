/** Order of keys: by UTF-8 bytes, as etcd and SQLite compare them. @module */

/** Compares two keys by their UTF-8 bytes. JS compares UTF-16 units, which differs only above U+FFFF. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i), y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above U+FFFF, so they rank behind all other units. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** Refuses what no store can keep. @throws TypeError */
export function checkKey(key: string): void {
  if (key.includes("\u0000")) throw new TypeError("Cannot store a key with a NUL character");
}

/** The smallest key greater than every key that starts with `prefix`; undefined when there is none. */
export function prefixEnd(prefix: string): string | undefined {
  const points = Array.from(prefix);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0)!;
    if (point < 0x10ffff) return points.join("") + String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1);
  }
  return undefined;
}

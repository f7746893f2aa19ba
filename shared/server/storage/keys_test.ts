import assert from "node:assert/strict";
import fc from "fast-check";
import { Buffer } from "node:buffer";
import { compareKeys, prefixEnd } from "./keys.ts";

const text = fc.string({ unit: "binary" });

Deno.test("compareKeys orders as UTF-8 bytes do", () => {
  fc.assert(fc.property(text, text, (a, b) => {
    assert.equal(Math.sign(compareKeys(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)));
  }));
});

Deno.test("prefixEnd is above every key of the prefix and no other", () => {
  fc.assert(fc.property(text, text, text, (prefix, rest, other) => {
    const end = prefixEnd(prefix);
    if (end === undefined) return;
    assert.ok(compareKeys(prefix + rest, end) < 0);
    if (compareKeys(other, prefix) > 0 && !other.startsWith(prefix)) assert.ok(compareKeys(other, end) >= 0);
  }));
  assert.equal(prefixEnd(""), undefined);
  assert.equal(prefixEnd("/g/r/"), "/g/r0");
});

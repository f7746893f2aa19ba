import assert from "node:assert/strict";
import fc from "fast-check";
import { splitLines } from "./lines.ts";

async function all(pieces: string[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of splitLines(pieces)) lines.push(line);
  return lines;
}

Deno.test("splitLines() gives the same lines however the text is cut", async () => {
  await fc.assert(fc.asyncProperty(
    fc.array(fc.string({ unit: fc.constantFrom("a", "\n", "ü", " ", "}") })),
    async (pieces) => {
      const expected = pieces.join("").split("\n").filter((line) => line.trim() !== "");
      assert.deepEqual(await all(pieces), expected);
    },
  ));
});

Deno.test("splitLines() takes time in proportion to the length of a line", async () => {
  // 20 MB in one line of 20,000 pieces: quadratic work would not end in time.
  const piece = "x".repeat(1000);
  assert.equal((await all([...Array<string>(20_000).fill(piece), "\n"]))[0]!.length, 20_000_000);
});

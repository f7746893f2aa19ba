import assert from "node:assert/strict";
import { parseSummary } from "./test.ts";

Deno.test("parseSummary() reads passed, failed and ignored, with and without steps", () => {
  assert.deepEqual(parseSummary("x\nok | 12 passed | 0 failed (3s)\n"), { passed: 12, failed: 0, skipped: 0 });
  assert.deepEqual(parseSummary("FAILED | 10 passed (4 steps) | 2 failed | 3 ignored (1m2s)"), {
    passed: 10,
    failed: 2,
    skipped: 3,
  });
  assert.equal(parseSummary("error: Module not found"), undefined);
});

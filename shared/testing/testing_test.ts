import assert from "node:assert/strict";
import { captureLogger, eventually } from "./mod.ts";

Deno.test("captureLogger() refuses messages that are not constant", () => {
  const logger = captureLogger();
  logger.with({ a: 1 }).info("Release applied", { key: "x" });
  assert.deepEqual(logger.lines, [{ level: "info", message: "Release applied", fields: { a: 1, key: "x" } }]);
  for (const bad of ["Applied team/shop", "Applied 3 objects", 'Cannot read "x"', "applied"]) {
    assert.throws(() => logger.info(bad), /not constant/);
  }
  const say = (word: string) => logger.info(`Hello ${word}`);
  say("one");
  assert.throws(() => say("two"), /not constant: "Hello one" and "Hello two"/);
});

Deno.test("eventually() waits for the condition and tells what it waited for", async () => {
  let looks = 0;
  assert.equal(await eventually(() => ++looks === 3 && "there"), "there");
  await assert.rejects(
    eventually(() => Promise.reject(new Error("not yet")), { timeout: 20, on: "the lease" }),
    /Waited 20 ms in vain for the lease: last was not yet/,
  );
});

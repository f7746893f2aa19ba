import assert from "node:assert/strict";
import fc from "fast-check";
import { Backoff, backoffDelay, FakeClock, retry, sleep } from "./mod.ts";

Deno.test("backoffDelay() grows from its minimum to its cap, with jitter above and never below", () => {
  fc.assert(fc.property(
    fc.nat(1000),
    fc.integer({ min: 1, max: 1000 }),
    fc.double({ min: 0, max: 0.999, noNaN: true }),
    (failures, minMs, random) => {
      const plain = backoffDelay(failures, { minMs, maxMs: 10_000, random: () => 0 });
      const delay = backoffDelay(failures, { minMs, maxMs: 10_000, jitter: 0.5, random: () => random });
      assert(plain >= minMs && plain <= 10_000);
      assert(delay >= plain && delay < plain * 1.5);
      assert(backoffDelay(failures + 1, { minMs, maxMs: 10_000, random: () => 0 }) >= plain);
    },
  ));
});

Deno.test("Backoff counts failures until it is reset", () => {
  const backoff = new Backoff({ minMs: 10, random: () => 0 });
  assert.deepEqual([backoff.next(), backoff.next(), backoff.failures], [10, 20, 2]);
  backoff.reset();
  assert.equal(backoff.next(), 10);
});

Deno.test("retry() tries until it succeeds, gives up after its attempts, at a final error, or when aborted", async () => {
  const clock = new FakeClock();
  let calls = 0;
  const good = retry(() => ++calls < 3 ? Promise.reject(new Error("no")) : Promise.resolve(calls), { clock });
  await clock.advance(10_000);
  assert.equal(await good, 3);
  const bad = assert.rejects(retry(() => Promise.reject(new Error("never")), { clock, attempts: 2 }), /never/);
  await clock.advance(10_000);
  await bad;
  calls = 0;
  const final = () => {
    calls++;
    return Promise.reject(new Error("final"));
  };
  await assert.rejects(retry(final, { clock, retryable: () => false }), /final/);
  assert.equal(calls, 1);
  const abort = new AbortController();
  const aborted = assert.rejects(retry(final, { clock, signal: abort.signal }), /enough/);
  await clock.advance(0);
  abort.abort(new Error("enough"));
  await aborted;
  assert.equal(clock.pending, 0);
});

Deno.test("sleep() takes its listener and its timer back", async () => {
  const clock = new FakeClock();
  const abort = new AbortController();
  const slept = sleep(clock, 100, abort.signal);
  await clock.advance(100);
  await slept;
  abort.abort();
  const again = sleep(clock, 100, abort.signal);
  await assert.rejects(again);
  assert.equal(clock.pending, 0);
});

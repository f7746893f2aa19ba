import assert from "node:assert/strict";
import { FakeClock } from "../runtime/clock.ts";
import { CircuitBreaker } from "./mod.ts";
import { Semaphore } from "./semaphore.ts";

function make(probe: () => Promise<void> = () => Promise.reject(new Error("still down"))) {
  const clock = new FakeClock();
  const told: boolean[] = [];
  let probes = 0;
  const breaker = new CircuitBreaker({
    clock,
    threshold: 3,
    backoff: { minMs: 1000, maxMs: 8000, random: () => 0 },
    probe() {
      probes++;
      return probe();
    },
    onChange: (closed) => told.push(closed),
  });
  return { clock, breaker, told, probes: () => probes };
}
const fail = (breaker: CircuitBreaker, times: number) => {
  for (let i = 0; i < times; i++) breaker.failure(new Error(`refused ${i}`));
};

Deno.test("CircuitBreaker opens after failures in a row only", () => {
  const { breaker, told } = make();
  fail(breaker, 2);
  breaker.success();
  fail(breaker, 2);
  assert.equal(breaker.open, false);
  fail(breaker, 1);
  assert.equal(breaker.open, true);
  assert.equal(breaker.lastError?.message, "refused 0");
  assert.deepEqual(told, [false]);
  breaker.stop();
});

Deno.test("CircuitBreaker probes with backoff while open, and closes at the first sign of life", async () => {
  let alive = false;
  const { breaker, told, probes, clock } = make(() => alive ? Promise.resolve() : Promise.reject(new Error("down")));
  fail(breaker, 3);
  assert.equal(breaker.retryInMs, 1000);
  const counts: number[] = [];
  for (const ms of [999, 1, 2000, 4000, 8000, 8000]) {
    await clock.advance(ms);
    counts.push(probes());
  }
  assert.deepEqual(counts, [0, 1, 2, 3, 4, 5]);
  assert.equal(breaker.lastError?.message, "down");
  let closed = false;
  breaker.whenClosed(new AbortController().signal).then(() => closed = true);
  alive = true;
  await clock.advance(8000);
  assert.equal(breaker.open, false);
  assert.equal(closed, true);
  assert.deepEqual(told, [false, true]);
  assert.equal(clock.pending, 0);
  // It starts from its first delay the next time.
  fail(breaker, 3);
  assert.equal(breaker.retryInMs, 1000);
  breaker.stop();
});

Deno.test("CircuitBreaker has one probe at a time, and failures of old calls do not bring more", async () => {
  const hanging = Promise.withResolvers<void>();
  const { breaker, probes, clock } = make(() => hanging.promise);
  fail(breaker, 3);
  await clock.advance(1000);
  fail(breaker, 50);
  await clock.advance(1_000_000);
  assert.equal(probes(), 1);
  hanging.resolve();
  await clock.advance(0);
  assert.equal(breaker.open, false);
});

Deno.test("CircuitBreaker: a call that comes through closes it before its probe", async () => {
  const { breaker, probes, clock } = make();
  fail(breaker, 3);
  breaker.success();
  assert.equal(breaker.open, false);
  await clock.advance(100_000);
  assert.equal(probes(), 0);
});

Deno.test("CircuitBreaker.whenClosed() can be given up; stop() ends its timers", async () => {
  const { breaker, clock, told } = make();
  fail(breaker, 3);
  const abort = new AbortController();
  const waiting = assert.rejects(breaker.whenClosed(abort.signal), /enough/);
  abort.abort(new Error("enough"));
  await waiting;
  breaker.stop();
  assert.equal(clock.pending, 0);
  breaker.success();
  assert.deepEqual(told, [false]);
});

Deno.test("Semaphore lets so many through at once, in order, and gives places on", async () => {
  const semaphore = new Semaphore(2);
  const order: number[] = [];
  const releases = await Promise.all([semaphore.acquire(), semaphore.acquire()]);
  const later = [1, 2].map((i) => semaphore.acquire().then((release) => (order.push(i), release)));
  const abort = new AbortController();
  const given = assert.rejects(semaphore.acquire(abort.signal), /enough/);
  abort.abort(new Error("enough"));
  await given;
  assert.equal(semaphore.waiting, 2);
  releases[0]!();
  releases[0]!();
  const first = await later[0]!;
  assert.deepEqual(order, [1]);
  first();
  await later[1];
  assert.deepEqual(order, [1, 2]);
  const refused = assert.rejects(Promise.all([semaphore.acquire().then((r) => r()), semaphore.acquire()]), /down/);
  semaphore.refuseWaiting(new Error("down"));
  await refused;
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { FakeClock } from "../runtime/clock.ts";
import { createMetrics } from "../runtime/mod.ts";
import { WorkQueue, type WorkQueueOptions } from "./mod.ts";

function make(options: Partial<WorkQueueOptions> = {}) {
  const clock = new FakeClock();
  return { clock, queue: new WorkQueue({ name: "test", clock, ...options }) };
}

/** What can be taken without waiting. */
function takeAll(queue: WorkQueue): string[] {
  const keys: string[] = [];
  for (let key = queue.tryTake(); key !== undefined; key = queue.tryTake()) keys.push(key);
  return keys;
}

Deno.test("WorkQueue: a key waits once, in the order of arrival", async () => {
  const { queue } = make();
  for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
  assert.equal(queue.depth, 3);
  assert.deepEqual([await queue.take(), await queue.take(), await queue.take()], ["a", "b", "c"]);
});

Deno.test("WorkQueue: a key in work is not given out again before it is done, and then once when it was added", async () => {
  const { queue } = make();
  queue.add("a");
  await queue.take();
  queue.add("a");
  queue.add("a");
  assert.equal(queue.depth, 0);
  let given: string | undefined;
  const next = queue.take().then((key) => given = key);
  await Promise.resolve();
  assert.equal(given, undefined);
  queue.done("a");
  await next;
  assert.equal(given, "a");
  queue.done("a");
  assert.equal(queue.depth, 0);
  queue.close();
});

Deno.test("WorkQueue: of several delayed adds the earliest counts; an add in between takes nothing away", async () => {
  const { queue, clock } = make();
  queue.addAfter("a", 500);
  queue.addAfter("a", 100);
  queue.addAfter("a", 300);
  await clock.advance(99);
  assert.equal(queue.depth, 0);
  await clock.advance(1);
  assert.equal(queue.depth, 1);
  await clock.advance(1000);
  assert.equal(queue.depth, 1);
  assert.equal(clock.pending, 0);
});

Deno.test("WorkQueue: setNext() replaces what was set before and leaves others' delays alone", async () => {
  const { queue, clock } = make();
  queue.setNext("a", 100);
  queue.setNext("a", 600);
  await clock.advance(599);
  assert.equal(queue.depth, 0);
  await clock.advance(1);
  assert.equal(queue.depth, 1);
  await queue.take();
  queue.done("a");
  queue.addAfter("a", 50);
  queue.setNext("a", 100);
  queue.setNext("a", undefined);
  await clock.advance(50);
  assert.equal(queue.depth, 1);
});

Deno.test("WorkQueue: retry() backs off with jitter up to its cap, forget() starts anew", () => {
  const { queue } = make({ backoff: { minMs: 100, maxMs: 1000, random: () => 0.5 } });
  assert.deepEqual(Array.from({ length: 6 }, () => queue.retry("a")), [125, 250, 500, 1000, 1250, 1250]);
  assert.equal(queue.failures("a"), 6);
  assert.equal(queue.retry("b"), 125);
  queue.forget("a");
  assert.equal(queue.failures("a"), 0);
  assert.equal(queue.retry("a"), 125);
  queue.close();
});

const cluster = (key: string) => key.split("/")[0]!;

Deno.test("WorkQueue: the keys of one partition never take more than its budget", async () => {
  const { queue } = make({ partitionOf: cluster, partitionBudget: 2 });
  for (let i = 0; i < 100; i++) queue.add(`dead/${i}`);
  queue.add("live/1");
  assert.deepEqual(takeAll(queue), ["dead/0", "live/1", "dead/1"]);
  assert.equal(queue.running, 3);
  queue.add("live/2");
  assert.equal(await queue.take(), "live/2");
  queue.done("dead/0");
  assert.equal(await queue.take(), "dead/2");
  queue.close();
});

Deno.test("WorkQueue: partitions are served in turn, however long their rows are", () => {
  const { queue } = make({ partitionOf: cluster });
  for (let i = 0; i < 3; i++) queue.add(`a/${i}`);
  for (let i = 0; i < 3; i++) queue.add(`b/${i}`);
  queue.add("c/0");
  assert.deepEqual(takeAll(queue), ["a/0", "b/0", "c/0", "a/1", "b/1", "a/2", "b/2"]);
});

Deno.test("WorkQueue: a key may change its partition between two rounds", async () => {
  let where = "x";
  const { queue } = make({ partitionOf: () => where, partitionBudget: 1 });
  queue.add("k");
  assert.equal(await queue.take(), "k");
  where = "y";
  queue.done("k");
  queue.add("k");
  assert.equal(await queue.take(), "k");
  queue.done("k");
  assert.equal(queue.running, 0);
});

Deno.test("WorkQueue: it is bounded; what does not fit is dropped and counted", async () => {
  const metrics = createMetrics({ process: false });
  const { queue } = make({ maxKeys: 3, metrics });
  for (let i = 0; i < 5; i++) queue.add(`k${i}`);
  queue.addAfter("later", 10);
  assert.equal(queue.depth, 3);
  assert.match(await metrics.text(), /convoy_queue_dropped_total\{queue="test"\} 3/);
  queue.close();
});

Deno.test("WorkQueue: close() gives waiting takers nothing and ends all timers", async () => {
  const { queue, clock } = make();
  const taker = queue.take();
  queue.addAfter("a", 10);
  queue.setNext("b", 10);
  queue.close();
  assert.equal(await taker, undefined);
  assert.equal(await queue.take(), undefined);
  assert.equal(clock.pending, 0);
  queue.add("c");
  assert.equal(queue.depth, 0);
});

Deno.test("WorkQueue: depth, adds, retries and waiting time are measured", async () => {
  const metrics = createMetrics({ process: false });
  const { queue, clock } = make({ metrics });
  queue.add("a");
  queue.add("a");
  queue.add("b");
  await clock.advance(2000);
  await queue.take();
  queue.retry("a");
  const text = await metrics.text();
  assert.match(text, /convoy_queue_depth\{queue="test"\} 1/);
  assert.match(text, /convoy_queue_adds_total\{queue="test"\} 2/);
  assert.match(text, /convoy_queue_retries_total\{queue="test"\} 1/);
  assert.match(text, /convoy_queue_wait_seconds_sum\{queue="test"\} 2/);
  queue.close();
});

Deno.test("WorkQueue: in any order of events no key is in work twice, none is lost, no budget is passed", () => {
  const event = fc.record({ op: fc.constantFrom("add", "take", "done"), key: fc.nat(5), partition: fc.nat(2) });
  fc.assert(fc.property(fc.array(event, { maxLength: 60 }), (events) => {
    const { queue } = make({ partitionOf: cluster, partitionBudget: 2 });
    const dirty = new Set<string>();
    const running = new Set<string>();
    for (const { op, key, partition } of events) {
      const name = `${partition}/${key}`;
      if (op === "add") {
        queue.add(name);
        dirty.add(name);
      } else if (op === "take") {
        for (const taken of takeAll(queue)) {
          assert(!running.has(taken), `${taken} is in work twice`);
          running.add(taken);
          dirty.delete(taken);
        }
      } else if (running.delete(name)) queue.done(name);
      for (const p of [0, 1, 2]) assert([...running].filter((k) => cluster(k) === String(p)).length <= 2);
    }
    for (let i = 0; i < 100 && (dirty.size > 0 || running.size > 0); i++) {
      for (const key of [...running]) {
        running.delete(key);
        queue.done(key);
      }
      for (const taken of takeAll(queue)) {
        running.add(taken);
        dirty.delete(taken);
      }
    }
    assert.deepEqual([...dirty], []);
    queue.close();
  }));
});

import assert from "node:assert/strict";
import { FakeClock } from "../runtime/clock.ts";
import { createMetrics } from "../runtime/mod.ts";
import { failure, type Informer, type InformerHandler, type KubeObject, type Resource } from "../kube/mod.ts";
import { captureLogger } from "../testing/mod.ts";
import {
  type Action,
  type ControllerOptions,
  type Enqueue,
  runController,
  SYNC_ANNOTATION,
  TerminalError,
} from "./mod.ts";

const RELEASES: Resource = { group: "g", version: "v1", plural: "releases", kind: "Release", namespaced: true };

/** An informer in the test's hand. */
function fakeInformer() {
  const handlers = new Set<InformerHandler<KubeObject>>();
  const synced = Promise.withResolvers<void>();
  const objects = new Map<string, KubeObject>();
  const informer: Informer<KubeObject> = {
    resource: RELEASES,
    get: (key) => objects.get(key),
    list: () => objects.values(),
    size: 0,
    addIndex() {},
    byIndex: () => [],
    addHandler(handler) {
      handlers.add(handler);
      return () => void handlers.delete(handler);
    },
    synced: true,
    whenSynced: () => synced.promise,
  };
  return {
    informer,
    sync: () => synced.resolve(),
    handlers,
    add: (o: KubeObject) => handlers.forEach((h) => h.onAdd?.(o)),
    update: (old: KubeObject, o: KubeObject) => handlers.forEach((h) => h.onUpdate?.(old, o)),
    remove: (o: KubeObject) => handlers.forEach((h) => h.onDelete?.(o)),
  };
}

function release(name: string, resourceVersion = "1", generation = 1, sync?: string): KubeObject {
  return {
    apiVersion: "g/v1",
    kind: "Release",
    metadata: {
      name,
      namespace: "n",
      resourceVersion,
      generation,
      ...(sync ? { annotations: { [SYNC_ANNOTATION]: sync } } : {}),
    },
  };
}

function start(
  reconcile: ControllerOptions<KubeObject>["reconcile"],
  options: Partial<ControllerOptions<KubeObject>> = {},
) {
  const clock = new FakeClock();
  const logger = captureLogger();
  const metrics = createMetrics({ process: false });
  const abort = new AbortController();
  const source = fakeInformer();
  source.sync();
  const calls: string[] = [];
  const done = runController<KubeObject>({
    name: "test",
    informer: source.informer,
    clock,
    logger,
    metrics,
    signal: abort.signal,
    backoff: { minMs: 1000, maxMs: 8000, random: () => 0 },
    ...options,
    reconcile(key, ctx) {
      calls.push(key);
      return reconcile(key, ctx);
    },
  });
  return {
    ...source,
    clock,
    logger,
    metrics,
    calls,
    done,
    async stop() {
      abort.abort();
      await done;
      assert.equal(clock.pending, 0, "timers left");
    },
    abort,
  };
}

const wait = (): Promise<Action> => Promise.resolve({ await: "change" });

Deno.test("rule 10: runController() reconciles on add, delete, resync and a new generation, not on a status write", async () => {
  const c = start(wait);
  c.add(release("a"));
  await c.clock.advance(0);
  c.update(release("a", "1"), release("a", "2"));
  await c.clock.advance(0);
  assert.deepEqual(c.calls, ["n/a"]);
  c.update(release("a", "2"), release("a", "2"));
  await c.clock.advance(0);
  c.update(release("a", "2", 1), release("a", "3", 2));
  await c.clock.advance(0);
  c.update(release("a", "3", 2), release("a", "4", 2, "now"));
  await c.clock.advance(0);
  assert.equal(c.calls.length, 3);
  c.remove(release("a", "4", 2));
  await c.clock.advance(0);
  assert.equal(c.calls.length, 4);
  await c.stop();
});

Deno.test("rule 10: runController() heeds the sync annotation when it is told to", async () => {
  const c = start(wait, { syncAnnotation: SYNC_ANNOTATION });
  c.update(release("a", "3"), release("a", "4", 1, "now"));
  await c.clock.advance(0);
  assert.deepEqual(c.calls, ["n/a"]);
  await c.stop();
});

Deno.test("runController() waits for its informers before the first reconcile", async () => {
  const other = fakeInformer();
  const c = start(wait, { needs: [other.informer] });
  c.add(release("a"));
  await c.clock.advance(1000);
  assert.deepEqual(c.calls, []);
  other.sync();
  await c.clock.advance(0);
  assert.deepEqual(c.calls, ["n/a"]);
  await c.stop();
});

Deno.test("runController() looks again after the time asked for, and a newer answer replaces it", async () => {
  const answers: Action[] = [{ after: 5000 }, { after: 60_000 }, { await: "change" }];
  const c = start(() => Promise.resolve(answers.shift()!));
  c.add(release("a"));
  await c.clock.advance(1000);
  c.add(release("a"));
  await c.clock.advance(59_000);
  assert.equal(c.calls.length, 2, "the first answer still counted");
  await c.clock.advance(1000);
  assert.equal(c.calls.length, 3);
  await c.clock.advance(1e9);
  assert.equal(c.calls.length, 3);
  await c.stop();
});

Deno.test("runController(): an error is logged and retried with backoff, success forgets it", async () => {
  let failing = 3;
  const failures: number[] = [];
  const c = start((_key, ctx) => {
    failures.push(ctx.failures);
    return failing-- > 0 ? Promise.reject(new Error("boom")) : wait();
  });
  c.add(release("a"));
  await c.clock.advance(6999);
  assert.equal(c.calls.length, 3);
  await c.clock.advance(1);
  assert.deepEqual(failures, [0, 1, 2, 3]);
  assert.equal(c.logger.lines.filter((l) => l.level === "error").length, 3);
  assert.deepEqual(c.logger.lines.find((l) => l.level === "error")?.fields, {
    loop: "test",
    key: "n/a",
    retryMs: 1000,
    failures: 1,
  });
  failing = 1;
  c.add(release("a"));
  await c.clock.advance(0);
  assert.equal(failures.at(-1), 0);
  await c.stop();
  const text = await c.metrics.text();
  assert.match(text, /convoy_reconcile_total\{loop="test",result="error"\} 4/);
  assert.match(text, /convoy_reconcile_total\{loop="test",result="success"\} 1/);
});

Deno.test("runController(): a conflict is retried without a word", async () => {
  let conflicts = 1;
  const c = start(() => conflicts-- > 0 ? Promise.reject(failure(409, "Conflict", "modified")) : wait());
  c.add(release("a"));
  await c.clock.advance(1000);
  assert.equal(c.calls.length, 2);
  assert.deepEqual(c.logger.lines.filter((l) => l.level === "error"), []);
  await c.stop();
});

Deno.test("runController(): AlreadyExists and conflicts of field managers are errors, although their code is 409", async () => {
  const causes = [{ reason: "FieldManagerConflict", message: 'conflict with "helm"', field: ".spec.replicas" }];
  for (const error of [failure(409, "AlreadyExists", "there"), failure(409, "Conflict", "managers", { causes })]) {
    const c = start(() => Promise.reject(error));
    c.add(release("a"));
    await c.clock.advance(0);
    assert.equal(c.logger.lines.filter((l) => l.level === "error").length, 1);
    await c.stop();
  }
});

Deno.test("runController(): a terminal error waits for a change", async () => {
  const c = start(() => Promise.reject(new TerminalError("never")));
  c.add(release("a"));
  await c.clock.advance(1e7);
  assert.equal(c.calls.length, 1);
  c.update(release("a", "1", 1), release("a", "2", 2));
  await c.clock.advance(0);
  assert.equal(c.calls.length, 2);
  await c.stop();
});

Deno.test("runController(): a reconcile that throws at once, not by a promise, is an error like others", async () => {
  const c = start(() => {
    throw new Error("sync");
  });
  c.add(release("a"));
  await c.clock.advance(0);
  assert.equal(c.logger.lines.at(-1)?.message, "Reconcile failed");
  await c.stop();
});

Deno.test("runController(): a reconcile that takes too long is told so by its signal", async () => {
  let reason: unknown;
  const c = start(
    (_key, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(reason = signal.reason))),
    {
      timeoutMs: 5000,
    },
  );
  c.add(release("a"));
  await c.clock.advance(5000);
  assert.match(String(reason), /longer than 5 s/);
  assert.match(await c.metrics.text(), /result="timeout"\} 1/);
  await c.stop();
});

Deno.test("runController(): a reconcile that does not end frees its worker, but its key stays locked", async () => {
  const hanging = Promise.withResolvers<Action>();
  const c = start((key) => key === "n/a" ? hanging.promise : wait(), { workers: 1, timeoutMs: 5000, graceMs: 1000 });
  c.add(release("a"));
  await c.clock.advance(0);
  c.add(release("b"));
  await c.clock.advance(5999);
  assert.deepEqual(c.calls, ["n/a"]);
  await c.clock.advance(1);
  assert.deepEqual(c.calls, ["n/a", "n/b"]);
  c.add(release("a"));
  await c.clock.advance(60_000);
  assert.equal(c.calls.length, 2, "the key was in work twice");
  hanging.resolve({ await: "change" });
  await c.clock.advance(0);
  assert.deepEqual(c.calls, ["n/a", "n/b", "n/a"]);
  await c.stop();
});

Deno.test("runController(): a dead cluster's reconciles never take all workers", async () => {
  const c = start((key) => key.startsWith("n/dead") ? new Promise(() => {}) : wait(), {
    workers: 3,
    partitionOf: (key) => key.startsWith("n/dead") ? "dead" : "live",
    partitionBudget: 2,
    timeoutMs: 1e9,
  });
  for (let i = 0; i < 50; i++) c.add(release(`dead${i}`));
  for (let i = 0; i < 50; i++) c.add(release(`live${i}`));
  for (let i = 0; i < 50; i++) await c.clock.advance(0);
  assert.equal(c.calls.filter((key) => key.startsWith("n/dead")).length, 2);
  assert.equal(c.calls.filter((key) => key.startsWith("n/live")).length, 50);
  c.abort.abort();
  await c.clock.advance(6000);
  await c.done;
});

Deno.test("runController(): other sources enqueue, and are removed at the stop", async () => {
  let enqueue: Enqueue | undefined;
  let removed = false;
  const c = start(wait, {
    sources(e) {
      enqueue = e;
      return () => removed = true;
    },
  });
  enqueue!.add("n/x");
  enqueue!.addAfter("n/y", 1000);
  await c.clock.advance(1000);
  assert.deepEqual(c.calls, ["n/x", "n/y"]);
  await c.stop();
  assert.equal(removed, true);
  assert.equal(c.handlers.size, 0);
});

Deno.test("runController(): at the stop work under way may end, then is told, then is left", async () => {
  let aborted = false;
  const c = start((_key, { signal }) => {
    signal.addEventListener("abort", () => aborted = true);
    return new Promise(() => {});
  });
  c.add(release("a"));
  await c.clock.advance(0);
  c.add(release("b"));
  let ended = false;
  c.done.then(() => ended = true);
  c.abort.abort();
  await c.clock.advance(2999);
  assert.equal(aborted, false);
  await c.clock.advance(1);
  assert.equal(aborted, true);
  assert.equal(ended, false);
  await c.clock.advance(3000);
  assert.equal(ended, true);
});

Deno.test("runController(): it ends when it is stopped before its informers have synced", async () => {
  const abort = new AbortController();
  const source = fakeInformer();
  source.informer.whenSynced = (signal) =>
    new Promise((_resolve, reject) => signal!.addEventListener("abort", () => reject(signal!.reason)));
  const done = runController<KubeObject>({
    name: "test",
    informer: source.informer,
    clock: new FakeClock(),
    logger: captureLogger(),
    signal: abort.signal,
    reconcile: wait,
  });
  abort.abort();
  await done;
});

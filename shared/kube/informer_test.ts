import assert from "node:assert/strict";
import { FakeClock } from "../runtime/clock.ts";
import { captureLogger, type ScriptedClient, scriptedClient, someObject } from "../testing/mod.ts";
import { failure, type KubeObject, type Resource, TransportError, type WatchEvent } from "./mod.ts";
import { createInformer, type InformerOptions } from "./informer.ts";

const MAPS: Resource = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };
const GONE = failure(410, "Expired", "too old resource version: 100 (500)");
const TOO_LARGE = failure(504, "Timeout", "Too large resource version: 900, current: 500", {
  causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
  retryAfterSeconds: 1,
});

interface Setup extends Disposable {
  script: ScriptedClient;
  clock: FakeClock;
  informer: ReturnType<typeof createInformer<KubeObject>>;
  /** `+name`, `~name`, `-name`, `!` for lost, `*` for live. */
  told: string[];
}

function setup(options: Partial<InformerOptions<KubeObject>> = {}): Setup {
  const script = scriptedClient();
  const clock = new FakeClock();
  const abort = new AbortController();
  const told: string[] = [];
  const informer = createInformer<KubeObject>({
    client: script.client,
    resource: MAPS,
    clock,
    logger: captureLogger(),
    signal: abort.signal,
    watchList: false,
    random: () => 0,
    freeze: true,
    onLost: () => told.push("!"),
    onLive: () => told.push("*"),
    ...options,
  });
  informer.addHandler({
    onAdd: (o) => told.push(`+${o.metadata.name}@${o.metadata.resourceVersion}`),
    onUpdate: (old, o) =>
      told.push(`~${o.metadata.name}@${old.metadata.resourceVersion}>${o.metadata.resourceVersion}`),
    onDelete: (o) => told.push(`-${o.metadata.name}`),
  });
  informer.start();
  return { script, clock, informer, told, [Symbol.dispose]: () => abort.abort() };
}

const bookmark = (resourceVersion: string, end = false): WatchEvent<KubeObject> => ({
  type: "BOOKMARK",
  object: {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: "",
      resourceVersion,
      ...(end ? { annotations: { "k8s.io/initial-events-end": "true" } } : {}),
    },
  },
});
const event = (type: "ADDED" | "MODIFIED" | "DELETED", object: KubeObject): WatchEvent<KubeObject> => ({
  type,
  object,
});

/** An informer that has a and b at 100 and an open watch. */
async function synced(options: Partial<InformerOptions<KubeObject>> = {}) {
  const s = setup(options);
  (await s.script.list()).answer("100", [someObject("a", "90"), someObject("b", "95")]);
  const call = await s.script.watch();
  assert.equal(call.options.resourceVersion, "100");
  const stream = call.open();
  await s.clock.advance(0);
  assert.deepEqual(s.told.splice(0), ["+a@90", "+b@95", "*"]);
  return { ...s, stream, [Symbol.dispose]: () => s[Symbol.dispose]() };
}

Deno.test("informer: list, then watch from its version; adds, updates, deletes", async () => {
  using s = await synced();
  s.stream.send(
    event("MODIFIED", someObject("a", "101")),
    event("ADDED", someObject("c", "102")),
    event("DELETED", someObject("b", "103")),
  );
  await s.clock.advance(0);
  assert.deepEqual(s.told, ["~a@90>101", "+c@102", "-b"]);
  assert.deepEqual([...s.informer.list()].map((o) => o.metadata.name), ["a", "c"]);
  assert.equal(s.informer.get("ns/a")?.metadata.resourceVersion, "101");
});

Deno.test("informer: the list is paged and consistent; one that expires on the way is made in one piece", async () => {
  using s = setup({ pageSize: 1 });
  const first = await s.script.list();
  assert.equal(first.options.limit, 1);
  assert.equal(first.options.resourceVersion, undefined);
  first.answer("100", [someObject("a", "1")], "token");
  const second = await s.script.list();
  assert.equal(second.options.continue, "token");
  second.fail(GONE);
  const whole = await s.script.list();
  assert.equal(whole.options.limit, undefined);
  assert.equal(whole.options.continue, undefined);
  whole.answer("110", [someObject("a", "1"), someObject("b", "2")]);
  assert.equal((await s.script.watch()).options.resourceVersion, "110");
  assert.equal(s.informer.size, 2);
});

for (const form of ["as an HTTP status", "as an ERROR event in the stream"] as const) {
  Deno.test(`C25: 410 ${form} gives a whole list, diffed, so that deletions of the gap are told`, async () => {
    using s = await synced();
    if (form === "as an HTTP status") {
      s.stream.break(new TransportError("broken"));
      const watch = s.script.watch();
      await advanceUntil(s, watch);
      (await watch).fail(GONE);
    } else {
      s.stream.send({ type: "ERROR", object: { ...GONE.status } as never });
    }
    const list = s.script.list();
    await advanceUntil(s, list);
    (await list).answer("500", [someObject("a", "400"), someObject("new", "450")]);
    assert.equal((await s.script.watch()).options.resourceVersion, "500");
    assert.deepEqual(s.told.filter((t) => !"!*".includes(t)), ["-b", "~a@90>400", "+new@450"]);
  });
}

Deno.test("C25: 410 again and again backs off", async () => {
  using s = await synced();
  s.stream.send({ type: "ERROR", object: { ...GONE.status } as never });
  const started = s.clock.now();
  let rounds = 0;
  for (; rounds < 6; rounds++) {
    const list = s.script.list();
    await advanceUntil(s, list);
    (await list).answer("500", []);
    (await s.script.watch()).fail(GONE);
  }
  // 0.5 + 1 + 2 + 4 + 8 + 16 s.
  assert(s.clock.now() - started >= 30_000, `6 rounds in ${s.clock.now() - started} ms`);
});

Deno.test("C25: a watch that is closed at once without an event is a failure: backs off, then lists again", async () => {
  using s = await synced();
  s.stream.end();
  const started = s.clock.now();
  const times: number[] = [];
  for (let i = 0; i < 2; i++) {
    const watch = s.script.watch();
    await advanceUntil(s, watch);
    times.push(s.clock.now() - started);
    assert.equal((await watch).options.resourceVersion, "100");
    (await watch).open().end();
    await s.clock.advance(0);
  }
  assert.deepEqual(times, [500, 1500]);
  const list = s.script.list();
  await advanceUntil(s, list);
  assert.deepEqual(s.script.log, ["list", "watch 100", "watch 100", "watch 100", "list"]);
});

Deno.test("C25: a normal timeout after a bookmark goes on at the bookmark, without a list", async () => {
  using s = await synced();
  s.stream.send(bookmark("900"));
  await s.clock.advance(300_000);
  s.stream.end();
  assert.equal((await s.script.watch()).options.resourceVersion, "900");
  assert.deepEqual(s.script.log, ["list", "watch 100", "watch 900"]);
  assert.deepEqual(s.told, []);
});

Deno.test("C25: a normal timeout of a quiet watch without bookmarks goes on where it was", async () => {
  using s = await synced();
  await s.clock.advance(300_000);
  s.stream.end();
  assert.equal((await s.script.watch()).options.resourceVersion, "100");
  assert.deepEqual(s.told, []);
});

Deno.test("C25: a list that is older than what was seen is not taken", async () => {
  using s = await synced();
  s.stream.send(event("ADDED", someObject("c", "700")), { type: "ERROR", object: { ...GONE.status } as never });
  await s.clock.advance(0);
  const old = s.script.list();
  await advanceUntil(s, old);
  (await old).answer("650", [someObject("a", "90")]);
  await s.clock.advance(0);
  assert.equal(s.informer.size, 3, "the older list changed the cache");
  const list = s.script.list();
  await advanceUntil(s, list);
  (await list).answer("701", [someObject("a", "90"), someObject("c", "700")]);
  assert.equal((await s.script.watch()).options.resourceVersion, "701");
  assert.equal(s.informer.size, 2);
});

Deno.test("informer: a server restored from a backup is believed after ten older lists", async () => {
  using s = await synced();
  s.stream.send({ type: "ERROR", object: { ...GONE.status } as never });
  for (let i = 0; i < 10; i++) {
    assert.equal(s.informer.size, 2);
    const list = s.script.list();
    await advanceUntil(s, list);
    (await list).answer("50", [someObject("a", "40")]);
  }
  assert.equal((await s.script.watch()).options.resourceVersion, "50");
  assert.equal(s.informer.get("ns/a")?.metadata.resourceVersion, "40");
  assert.equal(s.informer.size, 1);
});

Deno.test("C25: 504 too large resource version falls back to a list without a version, with backoff and jitter", async () => {
  let random = 0;
  using s = await synced({ random: () => random });
  s.stream.break(new TransportError("broken"));
  const watch = s.script.watch();
  await advanceUntil(s, watch);
  random = 0.5;
  (await watch).fail(TOO_LARGE);
  const started = s.clock.now();
  const list = s.script.list();
  await advanceUntil(s, list);
  assert.equal((await list).options.resourceVersion, undefined);
  assert.equal(s.clock.now() - started, 1250, "1 s with half of its jitter");
  random = 0;
  (await list).fail(TOO_LARGE);
  const again = s.script.list();
  await advanceUntil(s, again);
  assert.equal(s.clock.now() - started, 3250);
});

Deno.test("informer: a broken connection goes on at the last event, without a list", async () => {
  using s = await synced();
  s.stream.send(event("MODIFIED", someObject("a", "130")));
  await s.clock.advance(0);
  s.stream.break(new TransportError("reset"));
  const watch = s.script.watch();
  await advanceUntil(s, watch);
  assert.equal((await watch).options.resourceVersion, "130");
  (await watch).open().send(event("MODIFIED", someObject("a", "130")), event("DELETED", someObject("b", "140")));
  await s.clock.advance(0);
  // What was told already is not told again.
  assert.deepEqual(s.told, ["~a@90>130", "!", "*", "-b"]);
});

Deno.test("informer: a watch that does not end when it should is left and started anew", async () => {
  using s = await synced();
  await s.clock.advance(329_000);
  assert.equal(s.stream.left, false);
  await s.clock.advance(2_000);
  assert.equal(s.stream.left, true);
  assert.equal((await s.script.watch()).options.resourceVersion, "100");
});

Deno.test("informer: initial events are taken where the server has them, as one truth", async () => {
  using s = setup({ watchList: true });
  const call = await s.script.watch();
  assert.equal(call.options.sendInitialEvents, true);
  assert.equal(call.options.resourceVersionMatch, "NotOlderThan");
  assert.equal(call.options.allowWatchBookmarks, true);
  const stream = call.open();
  stream.send(event("ADDED", someObject("a", "1")), event("ADDED", someObject("b", "2")));
  await s.clock.advance(0);
  assert.equal(s.informer.synced, false);
  assert.deepEqual(s.told, []);
  stream.send(bookmark("10", true), event("DELETED", someObject("a", "11")));
  await s.clock.advance(0);
  assert.equal(s.informer.synced, true);
  assert.deepEqual(s.told, ["+a@1", "+b@2", "*", "-a"]);
  // Expired: initial events again, and what is missing in them was deleted.
  stream.send({ type: "ERROR", object: { ...GONE.status } as never });
  const again = s.script.watch();
  await advanceUntil(s, again);
  (await again).open().send(bookmark("90", true));
  await s.clock.advance(0);
  assert.deepEqual(s.told.slice(4), ["!", "-b", "*"]);
  assert.deepEqual(s.script.log, ["watch initial", "watch initial"]);
});

Deno.test("informer: a server that refuses initial events gets a list", async () => {
  for (const code of [400, 422, 500]) {
    using s = setup({ watchList: true });
    (await s.script.watch()).fail(failure(code, "Invalid", "sendInitialEvents is forbidden for watch"));
    const list = s.script.list();
    await advanceUntil(s, list);
    (await list).answer("5", []);
    assert.equal((await s.script.watch()).options.resourceVersion, "5");
    assert.equal(s.informer.synced, true);
  }
});

Deno.test("informer: a server that does not know initial events and never ends them gets a list", async () => {
  using s = setup({ watchList: true });
  (await s.script.watch()).open().send(event("ADDED", someObject("a", "1")));
  const list = s.script.list();
  await advanceUntil(s, list);
  (await list).answer("5", [someObject("a", "1")]);
  await s.script.watch();
  assert.equal(s.informer.size, 1);
});

Deno.test("informer: an object made anew in a gap is told as deleted and added", async () => {
  using s = await synced();
  s.stream.send({ type: "ERROR", object: { ...GONE.status } as never });
  const list = s.script.list();
  await advanceUntil(s, list);
  (await list).answer("200", [someObject("a", "150", { uid: "other" }), someObject("b", "95")]);
  await s.script.watch();
  assert.deepEqual(s.told, ["!", "-a", "+a@150"]);
});

Deno.test("informer: indexes follow the objects", async () => {
  using s = await synced();
  s.informer.addIndex("team", (o) => o.metadata.labels?.team?.split(",") ?? []);
  s.stream.send(
    event("MODIFIED", someObject("a", "101", { labels: { team: "x,y" } })),
    event("MODIFIED", someObject("b", "102", { labels: { team: "x" } })),
  );
  await s.clock.advance(0);
  assert.deepEqual(s.informer.byIndex("team", "x").map((o) => o.metadata.name), ["a", "b"]);
  assert.deepEqual(s.informer.byIndex("team", "y").map((o) => o.metadata.name), ["a"]);
  s.stream.send(event("MODIFIED", someObject("a", "103")), event("DELETED", someObject("b", "104")));
  await s.clock.advance(0);
  assert.deepEqual(s.informer.byIndex("team", "x"), []);
  assert.throws(() => s.informer.byIndex("nope", "x"), /no such index/);
});

Deno.test("informer: a late handler is told of what is there, a removed one of nothing, a failing one hurts nobody", async () => {
  using s = await synced();
  const late: string[] = [];
  const remove = s.informer.addHandler({
    onAdd: (o) => {
      late.push(o.metadata.name);
      throw new Error("bad handler");
    },
  });
  assert.deepEqual(late, ["a", "b"]);
  s.stream.send(event("ADDED", someObject("c", "101")));
  await s.clock.advance(0);
  assert.deepEqual(late, ["a", "b", "c"]);
  assert.deepEqual(s.told, ["+c@101"]);
  remove();
  s.stream.send(event("ADDED", someObject("d", "102")));
  await s.clock.advance(0);
  assert.equal(late.length, 3);
});

Deno.test("informer: the resync tells each object once a period with equal versions, spread over it", async () => {
  const script = scriptedClient();
  const clock = new FakeClock();
  const abort = new AbortController();
  const informer = createInformer<KubeObject>({
    client: script.client,
    resource: MAPS,
    clock,
    logger: captureLogger(),
    signal: abort.signal,
    watchList: false,
    resyncMs: 100_000,
  });
  const at = new Map<string, number[]>();
  const start = clock.now();
  informer.addHandler({
    onUpdate(old, object) {
      assert.equal(old, object);
      at.set(object.metadata.name, [...at.get(object.metadata.name) ?? [], clock.now() - start]);
    },
  });
  informer.start();
  (await script.list()).answer("1", Array.from({ length: 1000 }, (_, i) => someObject(`o${i}`, "1")));
  (await script.watch()).open();
  await clock.advance(200_000);
  assert.equal(at.size, 1000);
  assert([...at.values()].every((times) => times.length === 2), "not each object once a period");
  const perStep = Map.groupBy([...at.values()].flat(), (time) => time);
  assert(Math.max(...[...perStep.values()].map((v) => v.length)) <= 6, "a burst");
  abort.abort();
  await informer.done;
  assert.equal(clock.pending, 0);
});

Deno.test("informer: a transform shapes what is kept; what is kept is frozen when asked for", async () => {
  using s = await synced({
    transform: (o) => ({ ...o, metadata: { ...o.metadata, labels: { seen: "yes" } } }),
  });
  const a = s.informer.get("ns/a")!;
  assert.equal(a.metadata.labels?.seen, "yes");
  assert.throws(() => a.metadata.labels!.seen = "no", TypeError);
});

Deno.test("informer: whenSynced() rejects when the caller or the process gives up", async () => {
  const s = setup();
  const abort = new AbortController();
  const waiting = s.informer.whenSynced(abort.signal);
  abort.abort(new Error("given up"));
  await assert.rejects(waiting, /given up/);
  const other = s.informer.whenSynced();
  s[Symbol.dispose]();
  await assert.rejects(other);
  await s.informer.done;
});

/** Moves the clock in small steps until the promise settles. */
async function advanceUntil(s: { clock: FakeClock }, promise: Promise<unknown>): Promise<void> {
  let done = false;
  promise.then(() => done = true, () => done = true);
  await s.clock.advance(0);
  for (let i = 0; i < 100_000 && !done; i++) await s.clock.advance(done ? 0 : 50);
  assert(done, "nothing came");
}

/** Watches, through the handler. */
import assert from "node:assert/strict";
import type { JsonObject } from "../json/mod.ts";
import { widget, WIDGETS, withServer } from "./test_kit.ts";

const rvOf = (body: JsonObject) => String((body.metadata as JsonObject).resourceVersion);

Deno.test("watch: without a version it begins with the present state, then follows", async () => {
  await withServer(async (s) => {
    await s.create(WIDGETS, widget("a"));
    const w = await s.watch(`${WIDGETS}?watch=1`);
    assert.deepEqual(await w.take(1), ["ADDED a"]);
    await s.create(WIDGETS, widget("b"));
    await s.merge(`${WIDGETS}/b`, { spec: { color: "blue" } });
    await s.send("DELETE", `${WIDGETS}/a`);
    assert.deepEqual(await w.take(3), ["ADDED b", "MODIFIED b", "DELETED a"]);
    await w.close();
  });
});

Deno.test("watch: from a version it gives what came after, each once and in order", async () => {
  await withServer(async (s) => {
    const a = await s.create(WIDGETS, widget("a"));
    await s.create(WIDGETS, widget("b"));
    await s.create(WIDGETS, widget("c"));
    const w = await s.watch(`${WIDGETS}?watch=true&resourceVersion=${rvOf(a.body)}`);
    assert.deepEqual(await w.take(2), ["ADDED b", "ADDED c"]);
    await w.close();
  });
});

Deno.test("watch: a change that moves an object over the edge of a selector is ADDED or DELETED", async () => {
  await withServer(async (s) => {
    await s.create(WIDGETS, widget("a", {}, { labels: { x: "1" } }));
    const w = await s.watch(`${WIDGETS}?watch=1&labelSelector=x%3D1`);
    const f = await s.watch(`${WIDGETS}?watch=1&fieldSelector=spec.color%3Dblue`);
    assert.deepEqual(await w.take(1), ["ADDED a"]);
    await s.merge(`${WIDGETS}/a`, { metadata: { labels: { x: "2" } } });
    await s.merge(`${WIDGETS}/a`, { metadata: { labels: { x: "3" } } });
    await s.merge(`${WIDGETS}/a`, { metadata: { labels: { x: "1" } }, spec: { color: "blue" } });
    assert.deepEqual(await w.take(2), ["DELETED a", "ADDED a"]);
    assert.deepEqual(await f.take(1), ["ADDED a"]);
    await w.close();
    await f.close();
  });
});

Deno.test("watch: the DELETED event of a selector carries the event's version", async () => {
  await withServer(async (s) => {
    await s.create(WIDGETS, widget("a", {}, { labels: { x: "1" } }));
    const w = await s.watch(`${WIDGETS}?watch=1&labelSelector=x`);
    await w.take(1);
    const patched = await s.merge(`${WIDGETS}/a`, { metadata: { labels: null } });
    const event = await w.next();
    assert.equal(event?.type, "DELETED");
    assert.equal(rvOf(event!.object), rvOf(patched.body));
    await w.close();
  });
});

Deno.test("watch: sendInitialEvents ends the initial state with a marked bookmark", async () => {
  await withServer(async (s) => {
    await s.create(WIDGETS, widget("a"));
    const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const w = await s.watch(`${WIDGETS}?${query}`);
    assert.deepEqual(await w.take(1), ["ADDED a"]);
    const mark = await w.next();
    const meta = mark!.object.metadata as JsonObject;
    assert.equal(mark!.type, "BOOKMARK");
    assert.deepEqual(meta.annotations, { "k8s.io/initial-events-end": "true" });
    assert.equal(meta.resourceVersion, String(await s.storage.currentRevision()));
    await w.close();
    const refused = await s.get(`${WIDGETS}?watch=1&sendInitialEvents=true`);
    assert.equal(refused.status, 422);
  });
});

Deno.test("watch: an idle watch gets a bookmark each minute, with a version it can resume from", async () => {
  await withServer(async (s) => {
    await s.create(WIDGETS, widget("a"));
    const w = await s.watch(`${WIDGETS}?watch=1&allowWatchBookmarks=true&resourceVersion=1`);
    assert.deepEqual(await w.take(1), ["ADDED a"]);
    await s.clock.advance(60_000);
    const mark = await w.next();
    assert.equal(mark?.type, "BOOKMARK");
    assert.equal(rvOf(mark!.object), String(await s.storage.currentRevision()));
    await s.clock.advance(60_000);
    assert.deepEqual(await w.take(1), ["BOOKMARK"]);
    await w.close();
    assert.equal(s.clock.pending, 0, "a closed watch leaves no timer");
  });
});

Deno.test("C25: a version whose history is gone is 410, never a silent end", async () => {
  await withServer(async (s) => {
    await s.create(WIDGETS, widget("a"));
    for (let i = 0; i < 5; i++) await s.merge(`${WIDGETS}/a`, { spec: { size: i + 1 } });
    await s.storage.compact(await s.storage.currentRevision());
    const w = await s.watch(`${WIDGETS}?watch=1&resourceVersion=1`);
    assert.equal(w.status, 410);
    assert.equal(w.refused?.reason, "Expired");
  });
});

Deno.test("C25: a store that is lost ends the stream with an ERROR event of code 410", async () => {
  await withServer(async (s) => {
    const w = await s.watch(`${WIDGETS}?watch=1`);
    const next = w.next();
    await new Promise((r) => setTimeout(r, 0));
    await s.storage.close();
    const event = await next;
    assert.equal(event?.type, "ERROR");
    assert.equal(event?.object.code, 410);
    assert.equal(await w.next(), undefined);
  }, { workers: false });
});

Deno.test("C25: a version that is not there yet is 504, with a time to try again", async () => {
  await withServer(async (s) => {
    const w = await s.watch(`${WIDGETS}?watch=1&resourceVersion=999999`);
    assert.equal(w.status, 504);
    assert.equal(w.refused?.reason, "Timeout");
    assert.match(String(w.refused?.message), /Too large resource version: 999999/);
  });
});

Deno.test("watch: timeoutSeconds ends the stream, after a last bookmark", async () => {
  await withServer(async (s) => {
    const w = await s.watch(`${WIDGETS}?watch=1&timeoutSeconds=5&allowWatchBookmarks=true&resourceVersion=1`);
    await s.clock.advance(5_000);
    assert.deepEqual(await w.take(5), ["BOOKMARK"]);
  });
});

Deno.test("watch: of one object, others are not seen, not even those whose name begins alike", async () => {
  await withServer(async (s) => {
    const w = await s.watch(`${WIDGETS}/a?watch=1`);
    const f = await s.watch(`${WIDGETS}?watch=1&fieldSelector=metadata.name%3Da`);
    await s.create(WIDGETS, widget("ab"));
    await s.create(WIDGETS, widget("a"));
    assert.deepEqual(await w.take(1), ["ADDED a"]);
    assert.deepEqual(await f.take(1), ["ADDED a"]);
    await w.close();
    await f.close();
  });
});

Deno.test("watch: as Table, columns come with the first event only; includeObject is heeded", async () => {
  await withServer(async (s) => {
    await s.create(WIDGETS, widget("a"));
    const w = await s.watch(
      `${WIDGETS}?watch=1&includeObject=Object`,
      "application/json;as=Table;v=v1;g=meta.k8s.io",
    );
    const first = await w.next();
    assert.equal(first?.object.kind, "Table");
    assert.equal((first!.object.columnDefinitions as JsonObject[]).length, 4);
    const row = (first!.object.rows as JsonObject[])[0]!;
    assert.equal((row.object as JsonObject).kind, "Widget");
    await s.merge(`${WIDGETS}/a`, { spec: { size: 2 } });
    assert.deepEqual((await w.next())!.object.columnDefinitions, []);
    await w.close();
  });
});

Deno.test("watch: a reader that is gone, and a server that closes, end it", async () => {
  await withServer(async (s) => {
    const gone = await s.watch(`${WIDGETS}?watch=1`);
    await gone.close();
    const open = await s.watch(`${WIDGETS}?watch=1`);
    const next = open.next();
    await s.api.close();
    assert.equal(await next, undefined);
    assert.equal((await s.get(WIDGETS)).status, 503);
  });
});

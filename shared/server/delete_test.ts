/** delete, deletecollection, garbage collection, namespaces. */
import assert from "node:assert/strict";
import { builtinKinds } from "../facts/mod.ts";
import type { JsonObject } from "../json/mod.ts";
import { type Answer, type TestServer, WIDGET, widget, WIDGETS, withServer } from "./test_kit.ts";

const meta = (a: Answer) => a.body.metadata as JsonObject;
const names = (a: Answer) => (a.body.items as JsonObject[]).map((i) => (i.metadata as JsonObject).name);

function owner(a: Answer, extra: JsonObject = {}): JsonObject {
  return { apiVersion: "demo.example/v1", kind: "Widget", name: meta(a).name!, uid: meta(a).uid!, ...extra };
}

const owned = (name: string, ...owners: JsonObject[]) => widget(name, {}, { ownerReferences: owners });

Deno.test("delete: a Status when the object is gone, the object while finalizers hold it", async () => {
  await withServer(async (s) => {
    const made = await s.create(WIDGETS, widget("a", {}, { finalizers: ["demo.example/f"] }));
    const marked = await s.send("DELETE", `${WIDGETS}/a`);
    assert.equal(marked.body.kind, "Widget");
    assert.ok(meta(marked).deletionTimestamp);
    assert.equal(meta(marked).deletionGracePeriodSeconds, 0);
    assert.equal(meta(marked).generation, 2);
    const again = await s.send("DELETE", `${WIDGETS}/a`);
    assert.equal(meta(again).resourceVersion, meta(marked).resourceVersion);
    const added = await s.merge(`${WIDGETS}/a`, { metadata: { finalizers: ["demo.example/f", "demo.example/g"] } });
    assert.equal(added.status, 422);
    const last = await s.merge(`${WIDGETS}/a`, { metadata: { finalizers: null } });
    assert.equal(last.status, 200);
    assert.equal((await s.get(`${WIDGETS}/a`)).status, 404);
    await s.create(WIDGETS, widget("b"));
    const gone = await s.send("DELETE", `${WIDGETS}/b`);
    assert.equal(gone.body.status, "Success");
    assert.equal((gone.body.details as JsonObject).kind, "widgets");
    assert.equal((await s.send("DELETE", `${WIDGETS}/b`)).status, 404);
    assert.ok(meta(made).uid);
  });
});

Deno.test("delete: preconditions and bad options", async () => {
  await withServer(async (s) => {
    const made = await s.create(WIDGETS, widget("a"));
    const del = (body: unknown, query = "") => s.send("DELETE", `${WIDGETS}/a${query}`, { body });
    assert.equal((await del({ preconditions: { uid: "other" } })).status, 409);
    assert.equal((await del({ preconditions: { resourceVersion: "1" } })).status, 409);
    assert.equal((await del({}, "?propagationPolicy=Sometimes")).status, 422);
    assert.equal((await del({ propagationPolicy: "Orphan", orphanDependents: true })).status, 422);
    assert.equal((await del({}, "?dryRun=x")).status, 422);
    assert.equal((await del("{")).status, 400);
    assert.equal((await del("[]")).status, 400);
    assert.equal(
      (await del({ preconditions: { uid: meta(made).uid, resourceVersion: meta(made).resourceVersion } })).status,
      200,
    );
  });
});

Deno.test("deletecollection: what the selector matches, and what was there when it was asked", async () => {
  await withServer(async (s) => {
    await s.create(WIDGETS, widget("a", {}, { labels: { x: "1" } }));
    await s.create(WIDGETS, widget("b", { color: "blue" }));
    await s.create(WIDGETS, widget("c", {}, { labels: { x: "1" } }));
    const answer = await s.send("DELETE", `${WIDGETS}?labelSelector=x%3D1`);
    assert.deepEqual(names(answer), ["a", "c"]);
    assert.deepEqual(names(await s.get(WIDGETS)), ["b"]);
    assert.equal((await s.send("DELETE", `${WIDGETS}?fieldSelector=nope%3D1`)).status, 400);
    await s.send("DELETE", WIDGETS);
    assert.deepEqual(names(await s.get(WIDGETS)), []);
  });
});

Deno.test("gc: dependents go with the last of their owners, over generations", async () => {
  await withServer(async (s) => {
    const a = await s.create(WIDGETS, widget("a")), b = await s.create(WIDGETS, widget("b"));
    const child = await s.create(WIDGETS, owned("child", owner(a), owner(b)));
    await s.create(WIDGETS, owned("grandchild", owner(child)));
    await s.send("DELETE", `${WIDGETS}/a`);
    await s.api.settled();
    const left = await s.get(`${WIDGETS}/child`);
    assert.deepEqual((meta(left).ownerReferences as JsonObject[]).map((o) => o.name), ["b"]);
    await s.send("DELETE", `${WIDGETS}/b`);
    await s.api.settled();
    assert.deepEqual(names(await s.get(WIDGETS)), []);
  });
});

Deno.test("gc: an owner of the same name but another uid is no owner; an unknown kind is left alone", async () => {
  await withServer(async (s) => {
    const a = await s.create(WIDGETS, widget("a"));
    await s.create(WIDGETS, owned("stale", owner(a, { uid: "11111111-1111-1111-1111-111111111111" })));
    await s.create(WIDGETS, owned("foreign", { apiVersion: "other.example/v1", kind: "Other", name: "x", uid: "u" }));
    await s.create(WIDGETS, owned("fine", owner(a)));
    await s.api.settled();
    assert.deepEqual(names(await s.get(WIDGETS)), ["a", "fine", "foreign"]);
  });
});

Deno.test("gc: foreground deletion waits for the dependents that block it", async () => {
  await withServer(async (s) => {
    const a = await s.create(WIDGETS, widget("a"));
    await s.create(WIDGETS, {
      ...owned("blocking", owner(a, { blockOwnerDeletion: true })),
      metadata: {
        name: "blocking",
        finalizers: ["demo.example/f"],
        ownerReferences: [owner(a, { blockOwnerDeletion: true })],
      },
    });
    await s.create(WIDGETS, owned("other", owner(a)));
    await s.send("DELETE", `${WIDGETS}/a?propagationPolicy=Foreground`);
    await s.api.settled();
    assert.deepEqual(names(await s.get(WIDGETS)), ["a", "blocking"]);
    assert.deepEqual(meta(await s.get(`${WIDGETS}/a`)).finalizers, ["foregroundDeletion"]);
    await s.merge(`${WIDGETS}/blocking`, { metadata: { finalizers: null } });
    await s.api.settled();
    assert.deepEqual(names(await s.get(WIDGETS)), []);
  });
});

Deno.test("gc: orphaning leaves the dependents, without the reference", async () => {
  await withServer(async (s) => {
    const a = await s.create(WIDGETS, widget("a"));
    await s.create(WIDGETS, owned("child", owner(a)));
    await s.send("DELETE", `${WIDGETS}/a?propagationPolicy=Orphan`);
    await s.api.settled();
    assert.deepEqual(names(await s.get(WIDGETS)), ["child"]);
    assert.equal(meta(await s.get(`${WIDGETS}/child`)).ownerReferences, undefined);
  });
});

Deno.test("gc: what was orphaned while no server ran is found at the next start", async () => {
  await withServer(async (s) => {
    const a = await s.create(WIDGETS, widget("a"));
    await s.create(WIDGETS, owned("child", owner(a)));
    await s.api.close();
    const stored = await s.storage.get("/demo.example/widgets/n/a");
    await s.storage.delete(stored!.key, stored!.revision);
    const { createApiHandler } = await import("./handler.ts");
    const second = createApiHandler({ kinds: [WIDGET], storage: s.storage, clock: s.clock });
    await second.settled();
    assert.equal(await s.storage.get("/demo.example/widgets/n/child"), undefined);
    await second.close();
  });
});

Deno.test("gc: a quiet server does no work on the store", async () => {
  await withServer(async (s) => {
    const a = await s.create(WIDGETS, widget("a"));
    for (let i = 0; i < 50; i++) await s.create(WIDGETS, owned(`c${i}`, owner(a)));
    await s.api.settled();
    let reads = 0;
    const { get, list } = s.storage;
    s.storage.get = (key) => (reads++, get.call(s.storage, key));
    s.storage.list = (prefix, o) => (reads++, list.call(s.storage, prefix, o));
    await s.clock.advance(3_600_000);
    await s.api.settled();
    assert.equal(reads, 0);
    // One status write of one dependent looks at no other object.
    await s.merge(`${WIDGETS}/c1`, { spec: { size: 2 } });
    await s.api.settled();
    assert.ok(reads <= 1, String(reads));
  });
});

const withNamespaces = { kinds: [WIDGET, ...builtinKinds((k) => ["Namespace", "ConfigMap"].includes(k.kind))] };

async function makeNamespace(s: TestServer, name: string): Promise<void> {
  await s.create("/api/v1/namespaces", { metadata: { name } });
}

Deno.test("namespace deletion: everything in it goes, then it does; others are untouched", async () => {
  await withServer(async (s) => {
    await makeNamespace(s, "n");
    await makeNamespace(s, "n2");
    await s.create(WIDGETS, widget("a"));
    await s.create("/api/v1/namespaces/n/configmaps", { metadata: { name: "c" } });
    await s.create("/api/v1/namespaces/n2/configmaps", { metadata: { name: "c" } });
    const answer = await s.send("DELETE", "/api/v1/namespaces/n");
    assert.equal((answer.body.status as JsonObject).phase, "Terminating");
    await s.api.settled();
    assert.equal((await s.get("/api/v1/namespaces/n")).status, 404);
    assert.deepEqual(names(await s.get("/apis/demo.example/v1/widgets")), []);
    assert.deepEqual(names(await s.get("/api/v1/configmaps")), ["c"]);
  }, withNamespaces);
});

Deno.test("namespace deletion: a finalizer inside holds it until it is gone", async () => {
  await withServer(async (s) => {
    await makeNamespace(s, "n");
    await s.create(WIDGETS, widget("a", {}, { finalizers: ["demo.example/f"] }));
    await s.send("DELETE", "/api/v1/namespaces/n");
    await s.api.settled();
    assert.equal((await s.get("/api/v1/namespaces/n")).status, 200);
    await s.merge(`${WIDGETS}/a`, { metadata: { finalizers: null } });
    await s.api.settled();
    assert.equal((await s.get("/api/v1/namespaces/n")).status, 404);
  }, withNamespaces);
});

Deno.test("namespace: finalize changes nothing but its finalizers", async () => {
  await withServer(async (s) => {
    await makeNamespace(s, "n");
    const ns = await s.get("/api/v1/namespaces/n");
    const done = await s.put("/api/v1/namespaces/n/finalize", {
      ...ns.body,
      metadata: { ...meta(ns), labels: { x: "y" } },
      spec: { finalizers: [] },
    });
    assert.equal(done.status, 200);
    const after = await s.get("/api/v1/namespaces/n");
    assert.deepEqual(after.body.spec, {});
    assert.equal((meta(after).labels as JsonObject).x, undefined);
  }, withNamespaces);
});

/**
 * What every store must do, as one suite: `storageConformance("memory", () => new MemoryStorage())`. A store that
 * passes can stand behind the API server.
 *
 * @module
 */
import assert from "node:assert/strict";
import { type Storage, StorageClosed, StorageCompacted, StorageConflict, StorageFuture } from "./contract.ts";
import { collect, type StorageFactory, withStorage } from "./conformance_kit.ts";
import { conformToModel } from "./conformance_model.ts";

export type { StorageFactory } from "./conformance_kit.ts";

/** Registers the suite's tests under `name`. */
export function storageConformance(name: string, make: StorageFactory): void {
  const test = (title: string, run: (store: Storage) => Promise<void>) =>
    Deno.test(`${name}: ${title}`, () => withStorage(make, run));

  test("create stores a value and adds one to the revision", async (store) => {
    const before = await store.currentRevision();
    assert.ok(before >= 1, "0 means 'any' in a resourceVersion and must not occur");
    const stored = await store.create("/g/r/ns/a", `{"a":1}`);
    assert.deepEqual({ ...stored }, { key: "/g/r/ns/a", value: `{"a":1}`, revision: before + 1 });
    assert.deepEqual({ ...await store.get("/g/r/ns/a") }, { ...stored });
    assert.equal(await store.currentRevision(), before + 1);
  });

  test("create refuses a key that exists and tells its state", async (store) => {
    const stored = await store.create("/g/r/a", "1");
    await assert.rejects(
      store.create("/g/r/a", "2"),
      (e) => e instanceof StorageConflict && e.current?.value === "1" && e.current.revision === stored.revision,
    );
    assert.equal(await store.currentRevision(), stored.revision);
  });

  test("update and delete work only at the expected revision", async (store) => {
    const first = await store.create("/g/r/a", "1");
    const second = await store.update("/g/r/a", "2", first.revision);
    assert.equal(second.revision, first.revision + 1);
    const stale = (e: unknown) => e instanceof StorageConflict && e.current?.revision === second.revision;
    await assert.rejects(store.update("/g/r/a", "3", first.revision), stale);
    await assert.rejects(store.delete("/g/r/a", first.revision), stale);
    assert.equal((await store.get("/g/r/a"))?.value, "2");
    assert.equal(await store.delete("/g/r/a", second.revision), second.revision + 1);
    assert.equal(await store.get("/g/r/a"), undefined);
    const gone = (e: unknown) => e instanceof StorageConflict && e.current === undefined;
    await assert.rejects(store.update("/g/r/a", "4", second.revision), gone);
    await assert.rejects(store.delete("/g/r/a", second.revision), gone);
    await assert.rejects(store.update("/g/r/never", "4", 0), gone);
    assert.equal(await store.currentRevision(), second.revision + 1);
  });

  test("writers of one key at once: one wins each round, none is lost", async (store) => {
    const first = await store.create("/g/r/n", "0");
    const add = async () => {
      for (;;) {
        const now = (await store.get("/g/r/n"))!;
        try {
          await store.update("/g/r/n", String(Number(now.value) + 1), now.revision);
          return;
        } catch (error) {
          if (!(error instanceof StorageConflict)) throw error;
        }
      }
    };
    await Promise.all(Array.from({ length: 20 }, add));
    const last = (await store.get("/g/r/n"))!;
    assert.equal(last.value, "20");
    assert.equal(last.revision, first.revision + 20);
  });

  test("list gives the keys of a prefix in byte order", async (store) => {
    for (const key of ["b", "a/1", "a-1", "a0", "é", "\uffee", "\u{1f600}", "Z"]) {
      await store.create(`/g/r/${key}`, key);
    }
    await store.create("/g/r", "no");
    await store.create("/g/r0", "no");
    await store.create("/g/ra/x", "no");
    const page = await store.list("/g/r/");
    assert.deepEqual(page.items.map((i) => i.value), ["Z", "a-1", "a/1", "a0", "b", "é", "\uffee", "\u{1f600}"]);
    assert.equal(page.more, false);
    assert.equal(page.revision, await store.currentRevision());
    assert.deepEqual((await store.list("/other/")).items, []);
    assert.equal((await store.list("")).items.length, 11);
  });

  test("list pages with limit and after", async (store) => {
    for (let i = 0; i < 7; i++) await store.create(`/g/r/k${i}`, `${i}`);
    await store.create("/g/s/x", "x");
    const seen: string[] = [];
    let page = await store.list("/g/r/", { limit: 3 });
    assert.equal(page.remaining ?? 4, 4);
    for (;;) {
      seen.push(...page.items.map((i) => i.value));
      if (!page.more) break;
      page = await store.list("/g/r/", { limit: 3, after: page.items.at(-1)!.key });
    }
    assert.deepEqual(seen, ["0", "1", "2", "3", "4", "5", "6"]);
    assert.deepEqual((await store.list("/g/r/", { after: "/g/r/k6" })).items, []);
    assert.equal((await store.list("/g/r/", { after: "/a" })).items.length, 7);
  });

  test("list at a revision shows the state as of then, page by page", async (store) => {
    await store.create("/g/r/a", "a1");
    const b = await store.create("/g/r/b", "b1");
    await store.create("/g/r/c", "c1");
    const then = await store.currentRevision();
    const b2 = await store.update("/g/r/b", "b2", b.revision);
    await store.delete("/g/r/b", b2.revision);
    await store.create("/g/r/b", "b3");
    await store.create("/g/r/aa", "aa1");
    const one = await store.list("/g/r/", { limit: 1, revision: then });
    assert.deepEqual(one.items.map((i) => ({ ...i })), [{ key: "/g/r/a", value: "a1", revision: b.revision - 1 }]);
    assert.equal(one.more, true);
    const rest = await store.list("/g/r/", { limit: 9, revision: then, after: "/g/r/a" });
    assert.deepEqual(rest.items.map((i) => [i.value, i.revision]), [["b1", b.revision], ["c1", then]]);
    assert.deepEqual([rest.more, rest.revision], [false, then]);
    assert.deepEqual((await store.list("/g/r/")).items.map((i) => i.value), ["a1", "aa1", "b3", "c1"]);
  });

  test("list refuses revisions that are compacted or not there yet", async (store) => {
    for (let i = 0; i < 5; i++) await store.create(`/g/r/${i}`, "v");
    const now = await store.currentRevision();
    await store.compact(now - 2);
    assert.equal((await store.list("/g/r/", { revision: now - 2 })).items.length, 3);
    await assert.rejects(store.list("/g/r/", { revision: now - 3 }), StorageCompacted);
    await assert.rejects(store.list("/g/r/", { revision: now + 1 }), StorageFuture);
    await store.compact(1);
    assert.equal((await store.list("/g/r/")).items.length, 5);
  });

  test("compact keeps the newest state of every key and the revision", async (store) => {
    let a = await store.create("/g/r/a", "0");
    for (let i = 1; i < 10; i++) a = await store.update("/g/r/a", `${i}`, a.revision);
    const gone = await store.create("/g/r/gone", "x");
    const last = await store.delete("/g/r/gone", gone.revision);
    await store.compact(last);
    assert.equal(await store.currentRevision(), last);
    assert.deepEqual((await store.list("/g/r/")).items.map((i) => i.value), ["9"]);
    assert.equal((await store.update("/g/r/a", "10", a.revision)).revision, last + 1);
  });

  test("watch resumes after a revision, in order, each event once, then goes on live", async (store) => {
    const a = await store.create("/g/r/a", "a1");
    const from = a.revision;
    const a2 = await store.update("/g/r/a", "a2", a.revision);
    await store.create("/g/s/no", "no");
    const seen = await collect(store, "/g/r/", from);
    const b = await store.create("/g/r/b", "b1");
    const end = await store.delete("/g/r/a", a2.revision);
    await seen.until((e) => e.length >= 3);
    assert.deepEqual(seen.events.map((e) => ({ ...e })), [
      { type: "UPDATE", key: "/g/r/a", value: "a2", previous: "a1", revision: a2.revision },
      { type: "CREATE", key: "/g/r/b", value: "b1", revision: b.revision },
      { type: "DELETE", key: "/g/r/a", value: "a2", previous: "a2", revision: end },
    ]);
    seen.cancel();
    await store.create("/g/r/c", "c1");
    assert.equal(seen.events.length, 3);
  });

  test("watch refuses a revision that is compacted", async (store) => {
    for (let i = 0; i < 5; i++) await store.create(`/g/r/${i}`, "v");
    const now = await store.currentRevision();
    await store.compact(now - 1);
    await assert.rejects(store.watch("/g/r/", now - 2, () => {}), StorageCompacted);
    const seen = await collect(store, "/g/r/", now - 1);
    await seen.until((e) => e.length === 1);
    assert.equal(seen.events[0]!.revision, now);
    seen.cancel();
  });

  test("watch keeps the previous state across a compaction", async (store) => {
    const a = await store.create("/g/r/a", "a1");
    const other = await store.create("/g/r/b", "b1");
    await store.compact(other.revision);
    await store.update("/g/r/a", "a2", a.revision);
    const seen = await collect(store, "/g/r/", other.revision);
    await seen.until((e) => e.length === 1);
    assert.equal(seen.events[0]!.previous, "a1");
    seen.cancel();
  });

  test("a watcher that throws is dropped and told; writers and other watchers go on", async (store) => {
    const lost: Error[] = [];
    await store.watch("/g/", await store.currentRevision(), () => {
      throw new Error("full");
    }, (error) => lost.push(error));
    const good = await collect(store, "/g/r/", await store.currentRevision());
    await store.create("/g/r/a", "1");
    await store.create("/g/r/b", "2");
    await good.until((e) => e.length === 2);
    assert.deepEqual(lost.map((e) => e.message), ["full"]);
    good.cancel();
  });

  test("a callback that writes does not reorder events", async (store) => {
    const from = await store.currentRevision();
    const writes: Promise<unknown>[] = [];
    const cancel = await store.watch("/g/r/", from, (event) => {
      if (writes.length < 5) writes.push(store.create(`${event.key}+`, "x"));
    });
    const other = await collect(store, "/g/r/", from);
    await store.create("/g/r/a", "1");
    await other.until((e) => e.length === 6);
    await Promise.all(writes);
    const revisions = other.events.map((e) => e.revision);
    assert.deepEqual(revisions, revisions.toSorted((x, y) => x - y));
    cancel();
    other.cancel();
  });

  test("large and strange values come back as they were", async (store) => {
    const values = [
      "x".repeat(2_000_000),
      JSON.stringify({ t: "é\u2028\u{1f600}\u0000".repeat(20_000) }),
      "",
    ];
    const from = await store.currentRevision();
    for (const [i, value] of values.entries()) await store.create(`/g/r/${i}`, value);
    const seen = await collect(store, "/g/r/", from);
    await seen.until((e) => e.length === values.length);
    for (const [i, value] of values.entries()) {
      assert.equal((await store.get(`/g/r/${i}`))?.value, value);
      assert.equal(seen.events[i]!.value, value);
    }
    seen.cancel();
  });

  test("a key with a NUL is no key, and not the key before the NUL", async (store) => {
    await store.create("/g/r/a", "1");
    assert.equal(await store.get("/g/r/a\u0000b"), undefined);
    await assert.rejects(store.create("/g/r/b\u0000c", "1"), TypeError);
    assert.equal(await store.get("/g/r/b"), undefined);
  });

  test("close ends the watches and refuses everything after", async (store) => {
    const lost: Error[] = [];
    await store.watch("/", await store.currentRevision(), () => {}, (error) => lost.push(error));
    const write = store.create("/g/r/a", "1");
    await store.close();
    assert.equal((await write).key, "/g/r/a");
    assert.ok(lost.length === 1 && lost[0] instanceof StorageClosed);
    await assert.rejects(store.get("/g/r/a"), StorageClosed);
    await assert.rejects(store.create("/g/r/b", "1"), StorageClosed);
    await store.close();
  });

  test("any sequence of writes: present, past and watches agree with a model", conformToModel);
}

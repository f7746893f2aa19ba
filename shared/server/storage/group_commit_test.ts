import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { GroupCommit, Refused } from "./group_commit.ts";
import { SqliteStorage } from "./sqlite.ts";

function recorded(o: { failCommit?: () => boolean; failRollback?: boolean } = {}) {
  const calls: string[] = [];
  const group = new GroupCommit({
    begin: () => calls.push("begin"),
    commit() {
      calls.push("commit");
      if (o.failCommit?.()) throw new Error("disk full");
    },
    rollback: () => calls.push("rollback"),
    committed: () => calls.push("committed"),
  }, 3);
  return { calls, group };
}

Deno.test("GroupCommit: writes that wait share a transaction, up to the largest group", async () => {
  const { calls, group } = recorded();
  const results = await Promise.all([1, 2, 3, 4].map((n) => group.add(() => (calls.push(`${n}`), n))));
  assert.deepEqual(results, [1, 2, 3, 4]);
  assert.equal(calls.join(" "), "begin 1 2 3 commit committed begin 4 commit committed");
  await group.idle();
});

Deno.test("GroupCommit: a refused write fails alone, before the others are committed", async () => {
  const { calls, group } = recorded();
  const results = await Promise.allSettled([
    group.add(() => 1),
    group.add(() => {
      throw new Refused(new RangeError("stale"));
    }),
    group.add(() => 3),
  ]);
  assert.deepEqual(results.map((r) => r.status === "fulfilled" ? r.value : String(r.reason)), [
    1,
    "RangeError: stale",
    3,
  ]);
  assert.equal(calls.join(" "), "begin commit committed");
});

Deno.test("GroupCommit: a failed transaction fails every write in it and none after it", async () => {
  let fail = true;
  const { calls, group } = recorded({ failCommit: () => fail });
  const bad = await Promise.allSettled([group.add(() => 1), group.add(() => 2)]);
  assert.deepEqual(bad.map((r) => r.status === "rejected" && r.reason.message), ["disk full", "disk full"]);
  fail = false;
  assert.equal(await group.add(() => 3), 3);
  assert.equal(calls.join(" "), "begin commit rollback begin commit committed");
  const broken = await Promise.allSettled([group.add(() => 4), group.add(() => assert.fail("bug"))]);
  assert.deepEqual(broken.map((r) => r.status), ["rejected", "rejected"]);
});

Deno.test("SqliteStorage: a full disk refuses writes, keeps what was acknowledged, and recovers", async () => {
  const folder = await Deno.makeTempDir();
  const file = `${folder}/store.db`;
  await new SqliteStorage(file).close();
  const small = new DatabaseSync(file);
  const { page_count } = small.prepare("PRAGMA page_count").get() as { page_count: number };
  small.close();
  const store = new SqliteStorage(file, { maxPages: page_count + 30 });
  let acknowledged = 0, seen = 0;
  await store.watch("/", 1, () => seen++);
  const failed = await (async () => {
    for (let i = 0; i < 200; i++) {
      try {
        await store.create(`/g/r/${i}`, "x".repeat(3_000));
        acknowledged++;
      } catch (error) {
        return error;
      }
    }
  })();
  assert.match(String(failed), /full/);
  assert.ok(acknowledged > 5);
  assert.equal(seen, acknowledged, "no event of a write that failed");
  assert.equal(await store.currentRevision(), 1 + acknowledged);
  const first = (await store.get("/g/r/0"))!;
  await store.delete("/g/r/0", first.revision);
  await store.compact(await store.currentRevision());
  await store.create("/g/r/again", "x".repeat(1_000));
  await store.close();
  const again = new SqliteStorage(file);
  assert.equal((await again.list("/g/r/")).items.length, acknowledged);
  await again.close();
  await Deno.remove(folder, { recursive: true });
});

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { FakeClock } from "../../runtime/clock.ts";
import { storageConformance } from "./conformance.ts";
import { StorageCompacted } from "./contract.ts";
import { openStorage } from "./open.ts";
import { SqliteStorage } from "./sqlite.ts";
import { StorageOpenError } from "./sqlite_open.ts";

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "convoy-sqlite-" });
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const folders: string[] = [];
storageConformance("sqlite", () => {
  const folder = Deno.makeTempDirSync({ prefix: "convoy-sqlite-" });
  folders.push(folder);
  return new SqliteStorage(`${folder}/store.db`);
});
storageConformance("sqlite::memory:", () => openStorage("sqlite::memory:"));
Deno.test("sqlite: folders of the suite are removed", async () => {
  for (const folder of folders) await Deno.remove(folder, { recursive: true });
});

Deno.test("SqliteStorage: values, revision and history outlive the process", () =>
  inFolder(async (folder) => {
    const file = `${folder}/deep/er/store.db`;
    let store = new SqliteStorage(file);
    const a = await store.create("/g/r/a", "1");
    await store.update("/g/r/a", "2".repeat(50_000), a.revision);
    const b = await store.create("/g/r/b", "1");
    const last = await store.delete("/g/r/b", b.revision);
    await store.close();
    store = new SqliteStorage(file);
    assert.equal(await store.currentRevision(), last);
    assert.equal((await store.list("/g/r/", { revision: a.revision })).items[0]!.value, "1");
    await store.compact(last);
    await store.close();
    store = new SqliteStorage(file);
    assert.equal(await store.currentRevision(), last, "the revision must not go back though its row is compacted");
    await assert.rejects(store.watch("/", a.revision, () => {}), StorageCompacted);
    assert.equal((await store.get("/g/r/a"))!.value.length, 50_000);
    await store.close();
    assert.equal((await Deno.stat(file)).mode! & 0o777, 0o600);
  }));

Deno.test("SqliteStorage: writes that wait together share a transaction", async () => {
  const commits: number[] = [];
  const store = new SqliteStorage(":memory:", { onCommit: (writes) => commits.push(writes) });
  await Promise.all(Array.from({ length: 50 }, (_, i) => store.create(`/g/r/${i}`, "v")));
  assert.deepEqual(commits, [50]);
  const results = await Promise.allSettled([
    store.create("/g/r/0", "again"),
    store.create("/g/r/new", "v"),
    store.update("/g/r/1", "w", 1),
  ]);
  assert.deepEqual(results.map((r) => r.status), ["rejected", "fulfilled", "rejected"]);
  assert.deepEqual(commits, [50, 1]);
  await store.close();
});

Deno.test("SqliteStorage: history is compacted in steps by count and by age", async () => {
  const clock = new FakeClock();
  const store = new SqliteStorage(":memory:", { clock, history: { count: 500, ageMs: 60_000 } });
  let a = await store.create("/g/r/a", "0");
  const first = a.revision;
  for (let i = 0; i < 1000; i++) a = await store.update("/g/r/a", `${i}`, a.revision);
  await assert.rejects(store.watch("/g/", first, () => {}), StorageCompacted);
  (await store.watch("/g/", a.revision - 500, () => {}))();
  await clock.advance(120_000);
  await store.create("/g/r/b", "0");
  await assert.rejects(store.watch("/g/", a.revision - 100, () => {}), StorageCompacted);
  assert.equal((await store.get("/g/r/a"))!.value, "999");
  await store.close();
});

Deno.test("SqliteStorage: a second process (or store) on the file is refused", () =>
  inFolder(async (folder) => {
    const file = `${folder}/store.db`;
    const store = new SqliteStorage(file);
    await store.create("/g/r/a", "1");
    const second = `import { SqliteStorage } from ${JSON.stringify(new URL("./sqlite.ts", import.meta.url).href)};
      try { new SqliteStorage(Deno.args[0]); } catch (e) { console.log(e.message); }`;
    await Deno.writeTextFile(`${folder}/second.ts`, second);
    const config = new URL("../../../deno.json", import.meta.url).pathname;
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", "--no-check", "--config", config, `${folder}/second.ts`, file],
    }).output();
    const wanted = /Cannot open the store .*store\.db: another process uses it/;
    assert.match(new TextDecoder().decode(stdout), wanted);
    assert.throws(() => new SqliteStorage(file), wanted);
    assert.equal((await store.get("/g/r/a"))!.value, "1");
    await store.close();
    await new SqliteStorage(file).close();
  }));

Deno.test("SqliteStorage: damaged, empty, foreign and newer files are errors, never empty stores", () =>
  inFolder(async (folder) => {
    const refuse = (file: string, message: RegExp) =>
      assert.throws(
        () => new SqliteStorage(file),
        (e) => e instanceof StorageOpenError && message.test(e.message) && e.message.includes(file),
      );
    const good = `${folder}/good.db`;
    const store = new SqliteStorage(good);
    for (let i = 0; i < 300; i++) await store.create(`/g/r/${i}`, "v".repeat(500));
    await store.close();
    const bytes = await Deno.readFile(good);

    await Deno.writeTextFile(`${folder}/text.db`, "not a database ".repeat(1000));
    refuse(`${folder}/text.db`, /not an SQLite file, or damaged/);
    await Deno.writeTextFile(`${folder}/empty.db`, "");
    refuse(`${folder}/empty.db`, /empty \(0 bytes\)/);
    await Deno.writeFile(`${folder}/cut.db`, bytes.subarray(0, 20_000));
    refuse(`${folder}/cut.db`, /damaged/);
    const holed = bytes.slice();
    holed.fill(0xa5, 8192, 40_000);
    await Deno.writeFile(`${folder}/holed.db`, holed);
    refuse(`${folder}/holed.db`, /damaged/);
    assert.deepEqual(await Deno.readFile(`${folder}/holed.db`), holed, "a refused file is left as it is");
    const foreign = new DatabaseSync(`${folder}/foreign.db`);
    foreign.exec("CREATE TABLE t (a)");
    foreign.close();
    refuse(`${folder}/foreign.db`, /another program/);
    const newer = new DatabaseSync(good);
    newer.exec("PRAGMA user_version = 2");
    newer.close();
    refuse(good, /schema version 2 and this program knows 1/);
    refuse(folder, /not a file/);
    await Deno.writeTextFile(`${folder}/lost.db-wal`, "frames");
    refuse(`${folder}/lost.db`, /its log .* is there/);
    assert.throws(() => openStorage("postgres://x"), /Cannot open the store "postgres:\/\/x": it must be memory/);
  }));

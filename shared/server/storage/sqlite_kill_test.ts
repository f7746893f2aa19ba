import assert from "node:assert/strict";
import { SqliteStorage } from "./sqlite.ts";

/** Writes without end, many at once; prints `KEY VALUE REVISION` once a write is acknowledged. */
const WRITER = `
const { SqliteStorage } = await import(Deno.args[1]);
const store = new SqliteStorage(Deno.args[0], { history: { count: 200 } });
const say = (line) => Deno.stdout.writeSync(new TextEncoder().encode(line + "\\n"));
const lane = async (n) => {
  const key = "/g/r/" + n;
  let now = await store.get(key);
  for (let i = 0;; i++) {
    const value = String(i) + "-" + "x".repeat(i % 3000);
    now = now ? await store.update(key, value, now.revision) : await store.create(key, value);
    say([key, i, now.revision].join(" "));
    if (i % 7 === 6) { say([key, -1, await store.delete(key, now.revision)].join(" ")); now = undefined; }
  }
};
await Promise.all(Array.from({ length: 8 }, (_, n) => lane(n)));
`;

Deno.test("SqliteStorage: kill -9 under writes keeps every acknowledged write, and the revision never goes back", async () => {
  const folder = await Deno.makeTempDir({ prefix: "convoy-kill-" });
  const file = `${folder}/store.db`;
  await Deno.writeTextFile(`${folder}/writer.ts`, WRITER);
  const config = new URL("../../../deno.json", import.meta.url).pathname;
  let newest = 1;
  for (const enough of [300, 1500, 40]) {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", "--no-check", "--config", config, `${folder}/writer.ts`, file].concat(
        new URL("./sqlite.ts", import.meta.url).href,
      ),
      stdout: "piped",
      stderr: "null",
    }).spawn();
    let text = "";
    let lines = 0;
    for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
      text += piece;
      lines += piece.split("\n").length - 1;
      if (lines >= enough) {
        try {
          child.kill("SIGKILL");
        } catch {
          // It has got the signal already; the rest of its output is still read.
        }
      }
    }
    await child.status;
    const acknowledged = new Map<string, { value: number; revision: number }>();
    for (const line of text.split("\n").slice(0, -1)) {
      const [key, value, revision] = line.split(" ");
      acknowledged.set(key!, { value: Number(value), revision: Number(revision) });
    }
    assert.equal(acknowledged.size, 8);

    const store = new SqliteStorage(file);
    const revision = await store.currentRevision();
    for (const [key, { value, revision: written }] of acknowledged) {
      assert.ok(written > newest, `${key}: a revision was given twice`);
      assert.ok(revision >= written, `${key}: the store is at ${revision}, acknowledged was ${written}`);
      const stored = await store.get(key);
      // A write that was committed but not told yet may have come after the last one that was told.
      if (stored && stored.revision === written) assert.equal(parseInt(stored.value), value);
      else if (stored) assert.ok(stored.revision > written);
      else assert.ok(value === -1 || value % 7 === 6, `${key} is lost`);
    }
    newest = revision;
    await store.close();
  }
  await Deno.remove(folder, { recursive: true });
});

import assert from "node:assert/strict";
import { FakeClock } from "../../runtime/clock.ts";
import { storageConformance } from "./conformance.ts";
import { StorageCompacted } from "./contract.ts";
import { MemoryStorage } from "./memory.ts";

storageConformance("memory", () => new MemoryStorage());

Deno.test("MemoryStorage: history is bounded by count", async () => {
  const store = new MemoryStorage({ history: { count: 100 } });
  const first = await store.create("/g/r/a", "0");
  let last = first;
  for (let i = 0; i < 500; i++) last = await store.update("/g/r/a", `${i}`, last.revision);
  await assert.rejects(store.watch("/g/", first.revision, () => {}), StorageCompacted);
  const cancel = await store.watch("/g/", last.revision - 100, () => {});
  cancel();
  await store.close();
});

Deno.test("MemoryStorage: history is bounded by age", async () => {
  const clock = new FakeClock();
  const store = new MemoryStorage({ clock, history: { ageMs: 60_000 } });
  const a = await store.create("/g/r/a", "0");
  await clock.advance(30_000);
  const b = await store.create("/g/r/b", "0");
  (await store.watch("/g/", a.revision, () => {}))();
  await clock.advance(45_000);
  await store.create("/g/r/c", "0");
  await assert.rejects(store.watch("/g/", a.revision - 1, () => {}), StorageCompacted);
  (await store.watch("/g/", b.revision, () => {}))();
  await store.close();
});

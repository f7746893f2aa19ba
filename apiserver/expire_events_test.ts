import assert from "node:assert/strict";
import { FakeClock, silentLogger } from "../shared/runtime/mod.ts";
import { MemoryStorage } from "../shared/server/storage/mod.ts";
import { expireEvents } from "./expire_events.ts";

const HOUR = 3_600_000;
const key = (name: string) => `/core/events/default/${name}`;
const event = (at: number) => JSON.stringify({ metadata: {}, lastTimestamp: new Date(at).toISOString() });

async function names(store: MemoryStorage): Promise<string[]> {
  return (await store.list("/core/events/")).items.map((item) => item.key.split("/").at(-1)!);
}

Deno.test("expireEvents: an Event goes an hour after its last change, others and other kinds stay", async () => {
  const clock = new FakeClock(), storage = new MemoryStorage({ clock });
  const stop = await expireEvents({ storage, clock, logger: silentLogger });
  await storage.create("/core/secrets/default/s", "{}");
  await storage.create(key("once"), event(clock.now()));
  const again = await storage.create(key("again"), event(clock.now()));
  await clock.advance(HOUR / 2);
  await storage.update(key("again"), event(clock.now()), again.revision);
  await storage.create(key("late"), event(clock.now()));
  await clock.advance(HOUR / 2 - 1);
  assert.deepEqual(await names(storage), ["again", "late", "once"]);
  await clock.advance(1);
  assert.deepEqual(await names(storage), ["again", "late"]);
  await clock.advance(HOUR / 2);
  assert.deepEqual(await names(storage), []);
  assert.ok(await storage.get("/core/secrets/default/s"));
  assert.equal(clock.pending, 0, "nothing runs when there is nothing to expire");
  await stop();
  await storage.close();
});

Deno.test("expireEvents: what was there before the start goes by the time in the object", async () => {
  const clock = new FakeClock(), storage = new MemoryStorage({ clock });
  await storage.create(key("old"), event(clock.now() - 2 * HOUR));
  await storage.create(key("young"), event(clock.now() - HOUR / 2));
  await storage.create(key("untold"), "{}");
  await storage.create(key("future"), event(clock.now() + 100 * HOUR));
  const stop = await expireEvents({ storage, clock, logger: silentLogger });
  await clock.advance(0);
  assert.deepEqual(await names(storage), ["future", "untold", "young"]);
  await clock.advance(HOUR / 2);
  assert.deepEqual(await names(storage), ["future", "untold"]);
  await clock.advance(HOUR);
  assert.deepEqual(await names(storage), []);
  await stop();
  await storage.close();
});

Deno.test("expireEvents: too many Events lose the oldest, in bounded steps", async () => {
  const clock = new FakeClock(), storage = new MemoryStorage({ clock });
  const stop = await expireEvents({ storage, clock, logger: silentLogger, max: 10 });
  for (let i = 0; i < 260; i++) await storage.create(key(String(i).padStart(3, "0")), event(clock.now()));
  await clock.advance(0);
  assert.equal((await names(storage)).length, 160, "one step deletes 100");
  await clock.advance(5_000);
  assert.deepEqual(await names(storage), Array.from({ length: 10 }, (_, i) => String(250 + i)));
  await stop();
  assert.equal(clock.pending, 0);
  await storage.close();
});

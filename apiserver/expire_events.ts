/** Events live for an hour after their last change, as on kube-apiserver; and there are never too many. @module */
import { isObject, type JsonObject, parseJson } from "../shared/json/mod.ts";
import type { Clock } from "../shared/runtime/clock.ts";
import type { Logger } from "../shared/runtime/logger.ts";
import { type Storage, StorageConflict } from "../shared/server/storage/contract.ts";

/** Options of {@link expireEvents}. */
export interface ExpireEventsOptions {
  storage: Storage;
  clock: Clock;
  logger: Logger;
  /** Where Events lie in the store. @default "/core/events/" */
  prefix?: string;
  /** ms. @default 3_600_000 */
  ttlMs?: number;
  /** When there are more, the oldest go at once. @default 20_000 */
  max?: number;
}

/** Deletes in one step at most, so that an outburst of old Events does not hold up other writes. */
const STEP = 100;
/** Time between two steps while work is left, ms. */
const PAUSE = 1_000;
/** Events read at once at the start. */
const PAGE = 500;

/** Starts; resolves to the function that stops it and waits for what is under way. */
export async function expireEvents(options: ExpireEventsOptions): Promise<() => Promise<void>> {
  const expiry = new EventExpiry(options);
  await expiry.begin();
  return () => expiry.stop();
}

class EventExpiry {
  readonly #o: Required<ExpireEventsOptions>;
  /** Expiry by key, soonest first: a change moves its key to the end. */
  #due = new Map<string, { revision: number; at: number }>();
  #cancelWatch = () => {};
  #timer: { at: number; cancel(): void } | undefined;
  #busy = false;
  #sweeping: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: ExpireEventsOptions) {
    this.#o = { prefix: "/core/events/", ttlMs: 3_600_000, max: 20_000, ...options };
  }

  async begin(): Promise<void> {
    const { storage, prefix, ttlMs, clock } = this.#o;
    const now = clock.now();
    const found: [string, { revision: number; at: number }][] = [];
    let page = await storage.list(prefix, { limit: PAGE });
    const { revision } = page;
    for (;;) {
      for (const { key, value, revision } of page.items) {
        found.push([key, { revision, at: Math.min(lastChange(value) ?? now, now) + ttlMs }]);
      }
      const last = page.items.at(-1);
      if (!page.more || !last) break;
      page = await storage.list(prefix, { limit: PAGE, after: last.key });
    }
    this.#due = new Map(found.sort(([, a], [, b]) => a.at - b.at));
    this.#cancelWatch = await storage.watch(prefix, revision, (event) => {
      this.#due.delete(event.key);
      if (event.type !== "DELETE") this.#due.set(event.key, { revision: event.revision, at: clock.now() + ttlMs });
      this.#schedule();
    });
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelWatch();
    this.#timer?.cancel();
    await this.#sweeping;
  }

  /** Sets the timer for the first that is due, or moves it forward. */
  #schedule(pause = 0): void {
    const first = this.#due.values().next().value;
    if (this.#stopped || this.#busy || !first) return;
    const now = this.#o.clock.now();
    const at = Math.max(now + pause, this.#due.size > this.#o.max ? now : first.at);
    if (this.#timer && this.#timer.at <= at) return;
    this.#timer?.cancel();
    const cancel = this.#o.clock.after(at - now, () => {
      this.#timer = undefined;
      this.#busy = true;
      this.#sweeping = this.#sweep().then(() => {
        this.#busy = false;
        this.#schedule(PAUSE);
      });
    });
    this.#timer = { at, cancel };
  }

  async #sweep(): Promise<void> {
    const { storage, clock, max, logger } = this.#o;
    const now = clock.now();
    const batch: Promise<unknown>[] = [];
    let size = this.#due.size;
    for (const [key, { revision, at }] of this.#due) {
      if (batch.length >= STEP || (at > now && size <= max)) break;
      this.#due.delete(key);
      size--;
      batch.push(
        storage.delete(key, revision).catch((error) => {
          // It was changed or deleted in the meantime: the watch tells.
          if (!(error instanceof StorageConflict)) logger.error("Cannot delete an expired Event", error);
        }),
      );
    }
    await Promise.all(batch);
  }
}

/** When an Event was last seen, as far as it says so; ms. */
function lastChange(value: string): number | undefined {
  let event: JsonObject;
  try {
    event = parseJson(value) as JsonObject;
  } catch {
    return undefined;
  }
  const metadata = isObject(event["metadata"]) ? event["metadata"] : {};
  const series = isObject(event["series"]) ? event["series"] : {};
  const times = [event["lastTimestamp"], event["eventTime"], series["lastObservedTime"], metadata["creationTimestamp"]]
    .map((time) => typeof time === "string" ? Date.parse(time) : NaN)
    .filter((time) => !Number.isNaN(time));
  return times.length > 0 ? Math.max(...times) : undefined;
}

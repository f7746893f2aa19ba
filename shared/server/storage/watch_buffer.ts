/** A storage watch as an async sequence with a bounded buffer. @module */
import type { Storage, StorageEvent } from "./contract.ts";

/** The reader was too slow: the buffer is full and the watch is over. The client must list again. */
export class StorageOverflow extends Error {
  override readonly name = "StorageOverflow";
  constructor(readonly limit: number) {
    super(`The watch fell ${limit} events behind`);
  }
}

/**
 * Watches `prefix` after `from`. The sequence ends when `signal` is aborted; it throws StorageOverflow when more than
 * `limit` events wait, StorageClosed when the store is closed. Writers never wait for the reader.
 *
 * @throws StorageCompacted when `from` is too old
 */
export async function watchEvents(
  storage: Storage,
  prefix: string,
  from: number,
  o: { limit?: number; signal?: AbortSignal } = {},
): Promise<AsyncIterableIterator<StorageEvent>> {
  const limit = o.limit ?? 1_000;
  let buffer: StorageEvent[] = [];
  let failure: Error | undefined;
  let ended = o.signal?.aborted ?? false;
  let wake = () => {};
  const cancel = await storage.watch(prefix, from, (event) => {
    if (buffer.length >= limit) throw new StorageOverflow(limit);
    buffer.push(event);
    wake();
  }, (error) => {
    // What waits is of no use: the client lists again anyway.
    buffer = [];
    failure = error;
    wake();
  });
  const end = () => {
    ended = true;
    buffer = [];
    cancel();
    o.signal?.removeEventListener("abort", end);
    wake();
  };
  if (ended) end();
  else o.signal?.addEventListener("abort", end, { once: true });
  return (async function* () {
    try {
      for (;;) {
        const events = buffer;
        buffer = [];
        for (const event of events) {
          if (ended || failure) break;
          yield event;
        }
        if (failure) throw failure;
        if (ended) return;
        if (buffer.length === 0) await new Promise<void>((resolve) => wake = resolve);
      }
    } finally {
      end();
    }
  })();
}

/** Helpers of the storage suite. @module */
import type { Storage, StorageEvent } from "./contract.ts";

/** Makes an empty store. */
export type StorageFactory = () => Promise<Storage> | Storage;

/** Runs with a fresh store and closes it. */
export async function withStorage(make: StorageFactory, run: (store: Storage) => Promise<void>): Promise<void> {
  const store = await make();
  try {
    await run(store);
  } finally {
    await store.close();
  }
}

/** A watch that keeps what it saw. */
export interface Collected {
  events: StorageEvent[];
  /** Resolves when the condition holds; it is looked at after each event. */
  until(condition: (events: StorageEvent[]) => boolean): Promise<void>;
  cancel(): void;
}

/** Watches and collects. */
export async function collect(store: Storage, prefix: string, from: number): Promise<Collected> {
  const events: StorageEvent[] = [];
  let look = () => {};
  const cancel = await store.watch(prefix, from, (event) => {
    events.push(event);
    look();
  });
  const until = (condition: (events: StorageEvent[]) => boolean) =>
    new Promise<void>((resolve) => {
      look = () => condition(events) && resolve();
      look();
    });
  return { events, until, cancel };
}

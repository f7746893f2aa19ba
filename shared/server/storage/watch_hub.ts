/** Hands events to watchers: in order, each once, and no watcher can stop a writer or another watcher. @module */
import type { StorageEvent } from "./contract.ts";

interface Watcher {
  /** Events up to here were delivered. */
  delivered: number;
  active: boolean;
  onEvent(event: StorageEvent): void;
  onLost(error: Error): void;
}

/** The watchers of one store, by prefix. `onEvent` is called on the writer's stack and must only buffer. */
export class WatchHub {
  #byPrefix = new Map<string, Set<Watcher>>();
  #waiting: (() => void)[] = [];
  #delivering = false;

  /** Whether anybody watches a prefix of this key; a store need not read the previous value otherwise. */
  watched(key: string): boolean {
    for (const prefix of this.#byPrefix.keys()) if (key.startsWith(prefix)) return true;
    return false;
  }

  /** Number of watchers. */
  get size(): number {
    let n = 0;
    for (const set of this.#byPrefix.values()) n += set.size;
    return n;
  }

  /** Adds a watcher that has missed `backlog` (events after `from`, already of this prefix). Returns the canceller. */
  add(
    prefix: string,
    from: number,
    backlog: Iterable<StorageEvent>,
    onEvent: (event: StorageEvent) => void,
    onLost: (error: Error) => void = () => {},
  ): () => void {
    const watcher: Watcher = { delivered: from, active: true, onEvent, onLost };
    const set = this.#byPrefix.get(prefix) ?? new Set();
    this.#byPrefix.set(prefix, set);
    this.#inOrder(() => {
      // Not sooner: an event that is being delivered now is in the backlog, or came before `from`.
      if (watcher.active) set.add(watcher);
      for (const event of backlog) this.#deliver(prefix, watcher, event);
    });
    return () => this.#remove(prefix, watcher);
  }

  /** Delivers a new event. */
  publish(event: StorageEvent): void {
    this.#inOrder(() => {
      for (const [prefix, set] of this.#byPrefix) {
        if (event.key.startsWith(prefix)) { for (const watcher of set) this.#deliver(prefix, watcher, event); }
      }
    });
  }

  /** Ends all watchers. */
  close(error: Error): void {
    for (const [prefix, set] of this.#byPrefix) {
      for (const watcher of set) {
        this.#remove(prefix, watcher);
        this.#lose(watcher, error);
      }
    }
  }

  /** A callback that writes to the store at once must not make its event overtake the one being delivered. */
  #inOrder(deliver: () => void): void {
    this.#waiting.push(deliver);
    if (this.#delivering) return;
    this.#delivering = true;
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) next();
    this.#delivering = false;
  }

  #deliver(prefix: string, watcher: Watcher, event: StorageEvent): void {
    if (!watcher.active || event.revision <= watcher.delivered) return;
    watcher.delivered = event.revision;
    try {
      watcher.onEvent(event);
    } catch (error) {
      this.#remove(prefix, watcher);
      this.#lose(watcher, error instanceof Error ? error : new Error(String(error)));
    }
  }

  #lose(watcher: Watcher, error: Error): void {
    try {
      watcher.onLost(error);
    } catch {
      // The watcher is gone already; a callback that fails at its end concerns nobody else.
    }
  }

  #remove(prefix: string, watcher: Watcher): void {
    watcher.active = false;
    const set = this.#byPrefix.get(prefix);
    if (set?.delete(watcher) && set.size === 0) this.#byPrefix.delete(prefix);
  }
}

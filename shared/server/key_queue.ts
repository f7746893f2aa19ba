/** A queue of named pieces of work: each name waits at most once, one runs at a time, failures are tried again. @module */
import type { Clock } from "../runtime/clock.ts";

/** Longest pause before another try, ms. */
const MAX_PAUSE = 30_000;

/** Runs work one piece after another. */
export class KeyQueue {
  #waiting = new Map<string, () => Promise<void>>();
  #failures = new Map<string, number>();
  #timers = new Set<() => void>();
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(private readonly clock: Clock, private readonly onError: (error: unknown, key: string) => void) {}

  /** Adds work under a name; what waits under that name already is replaced. */
  add(key: string, work: () => Promise<void>): void {
    if (this.#closed) return;
    this.#waiting.set(key, work);
    this.#running ??= this.#run();
  }

  /** Adds work after a pause. */
  later(key: string, ms: number, work: () => Promise<void>): void {
    if (this.#closed) return;
    const cancel = this.clock.after(ms, () => {
      this.#timers.delete(cancel);
      this.add(key, work);
    });
    this.#timers.add(cancel);
  }

  /** Resolves when nothing waits or runs (work that is paused after a failure does not count). */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  /** Drops what waits; resolves when what runs has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#waiting.clear();
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    await this.idle();
  }

  async #run(): Promise<void> {
    // Not on the stack of whoever added the work: that may be a writer of the store.
    await Promise.resolve();
    for (;;) {
      const next = this.#waiting.entries().next();
      if (next.done) break;
      const [key, work] = next.value;
      this.#waiting.delete(key);
      try {
        await work();
        this.#failures.delete(key);
      } catch (error) {
        if (this.#closed) break;
        this.onError(error, key);
        const failures = (this.#failures.get(key) ?? 0) + 1;
        this.#failures.set(key, failures);
        this.later(key, Math.min(MAX_PAUSE, 100 * 2 ** failures), work);
      }
    }
    this.#running = undefined;
  }
}

/** A budget of things done at once. @module */

/** Lets at most `limit` through at once, first come first served. */
export class Semaphore {
  readonly #limit: number;
  #taken = 0;
  readonly #waiting = new Set<{ go: () => void; refuse: (reason: unknown) => void }>();

  constructor(limit: number) {
    this.#limit = Math.max(1, limit);
  }

  /** Callers that wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Resolves with the release, which must be called once. Rejects with the signal's reason. */
  acquire(signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#taken < this.#limit) {
      this.#taken++;
      return Promise.resolve(this.#release());
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => waiter.refuse(signal!.reason);
      const waiter = {
        go: () => {
          signal?.removeEventListener("abort", onAbort);
          this.#waiting.delete(waiter);
          resolve(this.#release());
        },
        refuse: (reason: unknown) => {
          signal?.removeEventListener("abort", onAbort);
          this.#waiting.delete(waiter);
          reject(reason);
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiting.add(waiter);
    });
  }

  /** Refuses all that wait now. */
  refuseWaiting(reason: unknown): void {
    for (const waiter of [...this.#waiting]) waiter.refuse(reason);
  }

  #release(): () => void {
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const next = this.#waiting.values().next();
      // The place goes straight to the next in the row.
      if (next.done) this.#taken--;
      else next.value.go();
    };
  }
}

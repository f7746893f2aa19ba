/** Time as a dependency, so that tests never sleep. @module */

/** A clock. Times in milliseconds since the epoch. */
export interface Clock {
  now(): number;
  /** Calls `f` once after `ms`; returns the canceller. Timers do not keep a process alive in tests. */
  after(ms: number, f: () => void): () => void;
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, f) {
    const id = setTimeout(f, Math.min(ms, 2 ** 31 - 1));
    return () => clearTimeout(id);
  },
};

/** Resolves after `ms` on that clock; rejects with the signal's reason when aborted. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal!.reason);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** RFC 3339 in UTC with whole seconds: metav1.Time. */
export function rfc3339(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, "Z");
}

/** A clock that moves only when told to. */
export class FakeClock implements Clock {
  #now: number;
  #timers = new Set<{ at: number; f: () => void }>();
  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now;
  }
  now(): number {
    return this.#now;
  }
  after(ms: number, f: () => void): () => void {
    const timer = { at: this.#now + ms, f };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }
  /** Number of timers that wait. */
  get pending(): number {
    return this.#timers.size;
  }
  /** Moves time on and fires what falls due, in order; lets promises settle before and after each timer. */
  async advance(ms: number): Promise<void> {
    await settle();
    const end = this.#now + ms;
    for (;;) {
      let next: { at: number; f: () => void } | undefined;
      for (const t of this.#timers) if (t.at <= end && (!next || t.at < next.at)) next = t;
      if (!next) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.f();
      await settle();
    }
    this.#now = end;
    await settle();
  }
}

async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

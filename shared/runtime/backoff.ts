/** Exponential backoff with jitter. @module */
import { type Clock, sleep } from "./clock.ts";

/** Options of a {@link Backoff}. */
export interface BackoffOptions {
  /** First delay, ms. @default 500 */
  minMs?: number;
  /** Longest delay before jitter, ms. @default 30_000 */
  maxMs?: number;
  /** Growth from one delay to the next. @default 2 */
  factor?: number;
  /** A delay d becomes one in [d, d × (1 + jitter)), so that many do not come back at the same instant. @default 0.5 */
  jitter?: number;
  /** In [0, 1). @default Math.random */
  random?: () => number;
}

/** The delay of the n-th failure in a row (n ≥ 0), ms. */
export function backoffDelay(failures: number, o: BackoffOptions = {}): number {
  const { minMs = 500, maxMs = 30_000, factor = 2, jitter = 0.5, random = Math.random } = o;
  const plain = Math.min(maxMs, minMs * factor ** Math.min(failures, 64));
  return plain * (1 + jitter * random());
}

/** Counts failures in a row and tells the delay after each. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions = {}) {
    this.#options = options;
  }
  /** Failures since the last reset. */
  get failures(): number {
    return this.#failures;
  }
  /** Counts one failure; the delay before the next try, ms. */
  next(): number {
    return backoffDelay(this.#failures++, this.#options);
  }
  reset(): void {
    this.#failures = 0;
  }
}

/** Options of {@link retry}. */
export interface RetryOptions extends BackoffOptions {
  clock: Clock;
  signal?: AbortSignal;
  /** Tries in all. @default 5 */
  attempts?: number;
  /** Whether an error is worth another try. @default always */
  retryable?: (error: unknown) => boolean;
}

/** Calls `f` until it succeeds; throws its last error, or the signal's reason when aborted. */
export async function retry<T>(f: (attempt: number) => Promise<T>, o: RetryOptions): Promise<T> {
  for (let attempt = 0;; attempt++) {
    o.signal?.throwIfAborted();
    try {
      return await f(attempt);
    } catch (error) {
      if (attempt + 1 >= (o.attempts ?? 5) || o.retryable?.(error) === false) throw error;
      await sleep(o.clock, backoffDelay(attempt, o), o.signal);
    }
  }
}

/** The circuit breaker of one cluster. @module */
import { Backoff, type BackoffOptions } from "../runtime/backoff.ts";
import type { Clock } from "../runtime/clock.ts";

/** Options of a {@link CircuitBreaker}. */
export interface BreakerOptions {
  clock: Clock;
  /** Failures in a row that open it. @default 3 */
  threshold?: number;
  /** Delays before probes while open. @default 1 s to 60 s */
  backoff?: BackoffOptions;
  /** Asks the cluster for a sign of life; rejects when there is none. */
  probe: () => Promise<void>;
  /** Told when it opens (false) and closes (true). */
  onChange?: (closed: boolean) => void;
}

/**
 * Closed: calls go through, failures in a row are counted. Open: nothing goes through but one probe at a time, after a
 * backoff; the first that succeeds closes it.
 */
export class CircuitBreaker {
  readonly #o: BreakerOptions;
  readonly #backoff: Backoff;
  #failures = 0;
  #open = false;
  #lastError: Error | undefined;
  #nextProbe = 0;
  #cancel = () => {};
  #stopped = false;
  #closed = Promise.withResolvers<void>();

  constructor(o: BreakerOptions) {
    this.#o = o;
    this.#backoff = new Backoff({ minMs: 1_000, maxMs: 60_000, ...o.backoff });
    this.#closed.resolve();
  }

  get open(): boolean {
    return this.#open;
  }
  /** The failure that was seen last while it was opening or open. */
  get lastError(): Error | undefined {
    return this.#lastError;
  }
  /** ms until the next probe; 0 when closed or probing. */
  get retryInMs(): number {
    return this.#open ? Math.max(0, this.#nextProbe - this.#o.clock.now()) : 0;
  }

  /** The cluster answered. */
  success(): void {
    this.#failures = 0;
    if (!this.#open || this.#stopped) return;
    this.#open = false;
    this.#lastError = undefined;
    this.#cancel();
    this.#backoff.reset();
    this.#closed.resolve();
    this.#o.onChange?.(true);
  }

  /** The cluster did not answer. */
  failure(error: Error): void {
    if (this.#stopped) return;
    this.#lastError = error;
    // Calls that were under way when it opened count no more.
    if (this.#open || ++this.#failures < (this.#o.threshold ?? 3)) return;
    this.#open = true;
    this.#closed = Promise.withResolvers();
    this.#schedule();
    this.#o.onChange?.(false);
  }

  /** Resolves when it is closed (at once when it is). Rejects with the signal's reason. */
  whenClosed(signal: AbortSignal): Promise<void> {
    if (!this.#open) return Promise.resolve();
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const onAbort = () => reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      this.#closed.promise.then(() => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      });
    });
  }

  /** Ends its timers; it says no more. */
  stop(): void {
    this.#stopped = true;
    this.#cancel();
    this.#closed.resolve();
  }

  #schedule(): void {
    const delay = this.#backoff.next();
    this.#nextProbe = this.#o.clock.now() + delay;
    this.#cancel = this.#o.clock.after(delay, async () => {
      try {
        await this.#o.probe();
        this.success();
      } catch (error) {
        if (error instanceof Error) this.#lastError = error;
        if (this.#open && !this.#stopped) this.#schedule();
      }
    });
  }
}

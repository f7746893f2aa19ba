/** A token bucket: at most `burst` at once and `qps` a second in the long run. @module */
import { type Clock, sleep } from "../runtime/clock.ts";

/** Lets callers through at a limited rate, first come first served. */
export class RateLimiter {
  readonly #qps: number;
  readonly #burst: number;
  readonly #clock: Clock;
  #tokens: number;
  #at: number;

  /** @param qps calls a second, > 0. @param burst calls at once, ≥ 1. */
  constructor(qps: number, burst: number, clock: Clock) {
    if (!(qps > 0)) throw new RangeError(`Cannot limit the rate: qps is ${qps} and must be above 0`);
    this.#qps = qps;
    this.#burst = Math.max(1, burst);
    this.#clock = clock;
    this.#tokens = this.#burst;
    this.#at = clock.now();
  }

  /** True when a call may go now; takes a token only then. */
  tryAcquire(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Resolves when the call may go. Rejects with the signal's reason; the place in the row is given back. */
  async acquire(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.#refill();
    this.#tokens -= 1;
    if (this.#tokens >= 0) return;
    try {
      await sleep(this.#clock, Math.ceil((-this.#tokens / this.#qps) * 1000), signal);
    } catch (error) {
      this.#tokens = Math.min(this.#burst, this.#tokens + 1);
      throw error;
    }
  }

  #refill(): void {
    const now = this.#clock.now();
    this.#tokens = Math.min(this.#burst, this.#tokens + Math.max(0, now - this.#at) / 1000 * this.#qps);
    this.#at = now;
  }
}

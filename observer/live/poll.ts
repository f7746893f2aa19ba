/** How soon to look into the cache again for what no event tells: after 250 ms, then twice as long each time, up to 30 s. @module */
const FIRST_MS = 250;
const LAST_MS = 30_000;

/** The pace of one Release. */
export class Poll {
  #next = FIRST_MS;

  /** ms until the next look. */
  next(): number {
    const now = this.#next;
    this.#next = Math.min(LAST_MS, now * 2);
    return now;
  }

  /** Something happened: look soon again. */
  reset(): void {
    this.#next = FIRST_MS;
  }
}

/** How much history a store keeps for watches that resume and lists at an old revision. @module */
import type { Clock } from "../../runtime/clock.ts";

/** Limits of the history; what exceeds any of them is compacted with later writes. */
export interface HistoryLimits {
  /** Events kept. @default 20_000 (sqlite), 2_000 (memory) */
  count: number;
  /** Age of the oldest event kept, ms. @default 600_000 */
  ageMs: number;
}

/** Remembers roughly when each revision was written, to say what is older than a given age. No timers. */
export class RevisionTimes {
  /** `revision` was the newest one at `at`; a mark takes in what is written within `every` of its start. */
  #marks: { start: number; at: number; revision: number }[] = [];
  /** `every`: ms; the precision of the age. */
  constructor(readonly clock: Clock, readonly every = 10_000) {}

  /** Tells that `revision` exists now. */
  mark(revision: number): void {
    const at = this.clock.now();
    const last = this.#marks.at(-1);
    if (!last || at - last.start >= this.every) this.#marks.push({ start: at, at, revision });
    else Object.assign(last, { at, revision });
  }

  /** The newest revision known to be older than `ageMs`, and forgets the marks before it; 0 when none is. */
  olderThan(ageMs: number): number {
    const limit = this.clock.now() - ageMs;
    let n = 0;
    while (n < this.#marks.length && this.#marks[n]!.at <= limit) n++;
    if (n === 0) return 0;
    const { revision } = this.#marks[n - 1]!;
    this.#marks.splice(0, n - 1);
    return revision;
  }
}

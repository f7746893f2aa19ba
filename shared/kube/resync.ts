/** The periodic resync, spread over its period: never all objects at one instant. @module */
import type { Clock } from "../runtime/clock.ts";

/** Steps that a period has at most. */
const STEPS = 200;

/** Options of {@link startResync}. */
export interface ResyncOptions {
  clock: Clock;
  /** Each key comes once in this time, ms; 0 = no resync. */
  periodMs: number;
  /** The keys at the start of a period. */
  keys: () => Iterable<string>;
  emit: (key: string) => void;
}

/**
 * Emits each key once a period, evenly: of n keys the i-th comes after (i+½)/n of the period, in at most {@link STEPS}
 * steps. Keys that come up during a period wait for the next. Returns the stop.
 */
export function startResync({ clock, periodMs, keys, emit }: ResyncOptions): () => void {
  if (periodMs <= 0) return () => {};
  let stop = () => {};
  let stopped = false;
  const period = () => {
    const start = clock.now();
    const all = [...keys()];
    let next = 0;
    const dueAt = (i: number) => start + ((i + 0.5) / all.length) * periodMs;
    const schedule = () => {
      if (stopped) return;
      if (next >= all.length) {
        stop = clock.after(Math.max(0, start + periodMs - clock.now()), period);
        return;
      }
      stop = clock.after(Math.max(periodMs / STEPS, dueAt(next) - clock.now()), () => {
        while (next < all.length && dueAt(next) <= clock.now()) emit(all[next++]!);
        schedule();
      });
    };
    schedule();
  };
  period();
  return () => {
    stopped = true;
    stop();
  };
}

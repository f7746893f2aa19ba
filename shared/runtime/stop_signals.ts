/** SIGTERM and SIGINT: a clean stop with a hard limit. @module */
import process from "node:process";
import { type Clock, systemClock } from "./clock.ts";
import type { Logger } from "./logger.ts";

/** Options of {@link stopOnSignals}. */
export interface StopOptions {
  logger: Logger;
  clock?: Clock;
  /** A stop that takes longer than this is cut off, ms. @default 10_000 */
  limitMs?: number;
  /** Ends the process. @default process.exit */
  exit?: (code: number) => void;
  /** Where the signals come from. @default the process */
  source?: {
    on(signal: "SIGTERM" | "SIGINT", listener: () => void): unknown;
    off(signal: "SIGTERM" | "SIGINT", listener: () => void): unknown;
  };
}

/**
 * The first signal aborts `signal`; a second one ends the process at once (130), as does the time limit (1). `dispose`
 * takes the listeners off: call it when all has ended.
 */
export function stopOnSignals(o: StopOptions): { signal: AbortSignal; dispose(): void } {
  const { clock = systemClock, limitMs = 10_000, exit = process.exit, source = process } = o;
  const abort = new AbortController();
  let cancel = () => {};
  const onSignal = () => {
    if (abort.signal.aborted) {
      o.logger.info("Second signal, ending at once");
      return exit(130);
    }
    o.logger.info("Stopping");
    cancel = clock.after(limitMs, () => {
      o.logger.error("Stop took too long, ending at once", new Error(`not done within ${limitMs / 1000} s`));
      exit(1);
    });
    abort.abort(new DOMException("The process was told to stop", "AbortError"));
  };
  source.on("SIGTERM", onSignal);
  source.on("SIGINT", onSignal);
  return {
    signal: abort.signal,
    dispose() {
      cancel();
      source.off("SIGTERM", onSignal);
      source.off("SIGINT", onSignal);
    },
  };
}

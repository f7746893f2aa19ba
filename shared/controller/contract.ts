/** The loop harness: what a loop implements and what it is given. @module */
import type { KubeObject } from "../kube/types.ts";

/** What to do after a reconcile: look again after a time, or wait for a change. */
export type Action = { after: number } | { await: "change" };

/** No retry will mend it: wait for a change (the status was written and says why). */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
}

/** Sends core/v1 Events, aggregated by (object, reason, message) and rate-limited; never throws, never blocks. */
export interface EventRecorder {
  event(about: KubeObject, type: "Normal" | "Warning", reason: string, message: string): void;
}

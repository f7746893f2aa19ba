/** How a step ends a pass. @module */
import type { Action } from "../../shared/controller/mod.ts";
import { TransportError } from "../../shared/kube/mod.ts";
import { TargetError } from "../../shared/target/contract.ts";
import type { AppliedReason } from "./reasons.ts";

/** Ends the pass with a reason of `Applied`. Not a failure of the controller: the status tells it. */
export class Stop extends Error {
  override readonly name = "Stop";
  constructor(readonly reason: AppliedReason, message: string, readonly action: Action = { await: "change" }) {
    super(message);
  }
}

// Somebody else finds out that the cluster is back (Targets.onChange); this is for a process where nobody does.
const LOOK_AGAIN_MS = 30_000;

/** Runs what talks to the target; no answer from it becomes a {@link Stop}, other errors go through. */
export async function onTarget<T>(cluster: string, f: () => Promise<T>): Promise<T> {
  try {
    return await f();
  } catch (error) {
    if (error instanceof TargetError) throw new Stop(error.reason, error.message, { after: LOOK_AGAIN_MS });
    if (error instanceof TransportError) {
      throw new Stop("ClusterUnreachable", `Cannot reach Cluster ${cluster}: ${error.message}`, {
        after: LOOK_AGAIN_MS,
      });
    }
    throw error;
  }
}

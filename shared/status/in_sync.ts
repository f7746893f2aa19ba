/** The drift loop's part of a Release's status: condition `InSync`. The only place that writes it. @module */
import { API_VERSION, type Release, RELEASES } from "../api/mod.ts";
import type { Condition, KubeObject } from "../kube/types.ts";
import { findCondition, sameCondition, transition } from "./conditions.ts";
import { sendOwned, skip, type WriterDeps, type WriteResult } from "./writer.ts";

const MANAGER = "convoy-drift";

/** What the drift loop found. Reasons: design.md, "Words of the status". */
export interface Verdict {
  status: Condition["status"];
  reason: string;
  message: string;
}

/**
 * Writes `InSync`, unless status, reason, message and observed generation are what they were.
 *
 * @param cached the Release from the informer; its generation is the one observed
 * @param now ms
 */
export async function writeInSync(
  deps: WriterDeps,
  cached: Release,
  verdict: Verdict,
  now: number,
): Promise<WriteResult> {
  const release = deps.memory.fresher(cached);
  const previous = findCondition(release.status?.conditions, "InSync");
  const input = { type: "InSync", ...verdict, observedGeneration: cached.metadata.generation };
  if (sameCondition(previous, input)) return skip(deps, MANAGER);
  const { name, namespace, uid } = release.metadata;
  const body: KubeObject & { status: unknown } = {
    apiVersion: API_VERSION,
    kind: RELEASES.kind,
    metadata: { name, ...(namespace ? { namespace } : {}), ...(uid ? { uid } : {}) },
    status: { conditions: [transition(previous, input, now)] },
  };
  return await sendOwned(deps, { manager: MANAGER, resource: RELEASES, subresource: "status", body });
}

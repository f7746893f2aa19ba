/** The health loop's part of a Release's status: condition `Healthy` and `healthSummary`. The only writer. @module */
import { API_VERSION, type Release, RELEASES, type ReleaseStatus } from "../api/mod.ts";
import { equalJson } from "../json/mod.ts";
import type { KubeObject } from "../kube/types.ts";
import { findCondition, sameCondition, transition } from "./conditions.ts";
import type { Verdict } from "./in_sync.ts";
import { sendOwned, skip, type WriterDeps, type WriteResult } from "./writer.ts";

const MANAGER = "convoy-health";

/** Number of objects per state. */
export type HealthSummary = NonNullable<ReleaseStatus["healthSummary"]>;

/**
 * Writes `Healthy` and `healthSummary`, unless status, reason, message, observed generation and summary are what they
 * were.
 *
 * @param cached the Release from the informer; its generation is the one observed
 * @param now ms
 */
export async function writeHealth(
  deps: WriterDeps,
  cached: Release,
  verdict: Verdict,
  healthSummary: HealthSummary,
  now: number,
): Promise<WriteResult> {
  const release = deps.memory.fresher(cached);
  const previous = findCondition(release.status?.conditions, "Healthy");
  const input = { type: "Healthy", ...verdict, observedGeneration: cached.metadata.generation };
  if (sameCondition(previous, input) && equalJson(release.status?.healthSummary, healthSummary)) {
    return skip(deps, MANAGER);
  }
  const { name, namespace, uid } = release.metadata;
  const body: KubeObject & { status: unknown } = {
    apiVersion: API_VERSION,
    kind: RELEASES.kind,
    metadata: { name, ...(namespace ? { namespace } : {}), ...(uid ? { uid } : {}) },
    status: { conditions: [transition(previous, input, now)], healthSummary },
  };
  return await sendOwned(deps, { manager: MANAGER, resource: RELEASES, subresource: "status", body });
}

/**
 * The Release controller's part of a Release's status: the only place that writes it.
 * Rules: status-ownership page, "How the controller builds its patch" and "When a writer skips the write".
 *
 * @module
 */
import { API_VERSION, type Release, RELEASES, type ReleaseSpec, type ReleaseStatus } from "../api/mod.ts";
import { equalJson } from "../json/mod.ts";
import type { KubeObject } from "../kube/types.ts";
import { rfc3339 } from "../runtime/clock.ts";
import { sendOwned, skip, type WriterDeps, type WriteResult } from "./writer.ts";

const MANAGER = "convoy-release-controller";
/** The condition types that the Release controller owns. */
export const CONTROLLER_CONDITIONS: readonly string[] = ["Applied", "RolloutSucceeded", "LifecycleSucceeded"];
const DEFAULT_RETENTION = { count: 10 };

/** The retention that is in force for that spec. */
export function resolveRetention(spec: Pick<ReleaseSpec, "retentionPolicy">): { count: number; maxAge?: string } {
  const { count = DEFAULT_RETENTION.count, maxAge } = spec.retentionPolicy ?? {};
  return { count, ...(maxAge === undefined ? {} : { maxAge }) };
}

/** The fields of the status that the controller owns; what has no value is left out. */
function ownedFields(status: ReleaseStatus): ReleaseStatus {
  const conditions = status.conditions?.filter((c) => CONTROLLER_CONDITIONS.includes(c.type)) ?? [];
  const owned: ReleaseStatus = {};
  if (conditions.length > 0) owned.conditions = conditions;
  if (status.observedGeneration !== undefined) owned.observedGeneration = status.observedGeneration;
  if (status.reconciledAt !== undefined) owned.reconciledAt = status.reconciledAt;
  if (status.source !== undefined) owned.source = status.source;
  if (status.renderRef !== undefined) owned.renderRef = status.renderRef;
  if (status.waves !== undefined && status.waves.length > 0) owned.waves = status.waves;
  if (status.renders !== undefined && status.renders.length > 0) owned.renders = status.renders;
  // Leaving one of these out clears it: that is how unpin works.
  if (status.pin !== undefined) owned.pin = status.pin;
  if (status.lifecycle !== undefined) owned.lifecycle = status.lifecycle;
  if (status.resolvedRetentionPolicy !== undefined) owned.resolvedRetentionPolicy = status.resolvedRetentionPolicy;
  return owned;
}

/**
 * The apply patch for `releases/<name>/status`, built field by field from a changed copy of the cached status. `InSync`,
 * `Healthy` and `healthSummary` are in the copy and never in the patch. `resolvedRetentionPolicy` is always sent.
 */
export function ownedStatusApplyConfig(
  release: Release,
  status: ReleaseStatus,
): KubeObject & { status: ReleaseStatus } {
  const { name, namespace, uid } = release.metadata;
  return {
    apiVersion: API_VERSION,
    kind: RELEASES.kind,
    metadata: { name, ...(namespace ? { namespace } : {}), ...(uid ? { uid } : {}) },
    status: {
      ...ownedFields(status),
      resolvedRetentionPolicy: status.resolvedRetentionPolicy ?? resolveRetention(release.spec),
    },
  };
}

/** Whether the new status differs from the cached one in a field that the controller owns, `reconciledAt` apart. */
export function statusChanged(cached: ReleaseStatus | undefined, next: ReleaseStatus): boolean {
  const { reconciledAt: _old, ...before } = ownedFields(cached ?? {});
  const { reconciledAt: _new, ...after } = ownedFields(next);
  return !equalJson(before, after);
}

/**
 * Writes the controller's part of the status when it changed, with `reconciledAt` = now. A Release that is gone is no
 * error.
 *
 * @param cached the Release that `next` was made from, see {@link WriterDeps.memory}
 * @param next the whole changed copy of the cached status
 * @param now ms
 */
export async function writeReleaseStatus(
  deps: WriterDeps,
  cached: Release,
  next: ReleaseStatus,
  now: number,
): Promise<WriteResult> {
  const status = { ...next, resolvedRetentionPolicy: next.resolvedRetentionPolicy ?? resolveRetention(cached.spec) };
  if (!statusChanged(cached.status, status)) return skip(deps, MANAGER);
  return await sendOwned(deps, {
    manager: MANAGER,
    resource: RELEASES,
    subresource: "status",
    body: ownedStatusApplyConfig(cached, { ...status, reconciledAt: rfc3339(now) }),
  });
}

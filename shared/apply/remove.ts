/** Deleting what a Release owns, and letting go of it. @module */
import type { Release } from "../api/types.ts";
import { StatusError } from "../kube/status.ts";
import type { ObjectKey, Resource, Unstructured } from "../kube/types.ts";
import type { Target } from "../target/contract.ts";
import { OWNER_ANNOTATION, OWNER_LABEL } from "../target/owner.ts";
import { judgeOwner } from "./owner.ts";
import { APPLY_MANAGER, type ApplyOptions, getLive } from "./apply.ts";

/** What became of a deletion. All but `deleting` mean that nothing is left to do. */
export type RemoveOutcome =
  /** There is no such object. */
  | { kind: "gone" }
  /** It goes, but finalizers or a grace period hold it; look again. */
  | { kind: "deleting"; uid: string; finalizers: string[] }
  /** It is another object now, or not this Release's: left alone. */
  | { kind: "kept"; why: "owned by another Release" | "without an owner mark" | "made anew by somebody else" };

/**
 * Deletes one object of the Release, once. Call again until the outcome is not `deleting`.
 *
 * @param deletedUid the uid of an earlier `deleting`: the wait ends when the live uid differs (C12)
 * @throws StatusError when the target refuses, TransportError and TargetError when it cannot be reached
 */
export async function removeObject(
  target: Target,
  resource: Resource,
  key: ObjectKey,
  release: Release,
  options: ApplyOptions & { deletedUid?: string } = {},
): Promise<RemoveOutcome> {
  const live = await getLive(target, resource, key, options.signal);
  if (!live) return { kind: "gone" };
  const uid = live.metadata.uid ?? "";
  if (options.deletedUid && options.deletedUid !== uid) return { kind: "kept", why: "made anew by somebody else" };
  const owner = judgeOwner(live, release);
  if (owner === "other") return { kind: "kept", why: "owned by another Release" };
  if (owner === "none") return { kind: "kept", why: "without an owner mark" };
  const deleting = { kind: "deleting" as const, uid, finalizers: live.metadata.finalizers ?? [] };
  if (live.metadata.deletionTimestamp) return deleting;
  try {
    await target.client.delete(resource, key, {
      preconditions: { uid },
      propagationPolicy: "Background",
      ...(options.impersonate ? { impersonate: options.impersonate } : {}),
      ...(options.signal ? { signal: options.signal } : {}),
    });
    const after = await getLive(target, resource, key, options.signal);
    if (!after) return { kind: "gone" };
    if (after.metadata.uid !== uid) return { kind: "kept", why: "made anew by somebody else" };
    return { ...deleting, finalizers: after.metadata.finalizers ?? [] };
  } catch (error) {
    if (error instanceof StatusError && error.code === 404) return { kind: "gone" };
    // The uid did not match: somebody made it anew since the look. That one is not ours to delete.
    if (error instanceof StatusError && error.code === 409) {
      return { kind: "kept", why: "made anew by somebody else" };
    }
    throw error;
  }
}

/** Takes the owner mark off an object that stays behind (`deletionPolicy: Orphan`). Other objects are left alone. */
export async function releaseObject(
  target: Target,
  resource: Resource,
  key: ObjectKey,
  release: Release,
  options: ApplyOptions = {},
): Promise<void> {
  const live = await getLive(target, resource, key, options.signal);
  if (!live || judgeOwner(live, release) === "other") return;
  try {
    await target.client.patch<Unstructured>(resource, key, {
      type: "merge",
      body: {
        metadata: {
          resourceVersion: live.metadata.resourceVersion,
          labels: { [OWNER_LABEL]: null },
          annotations: { [OWNER_ANNOTATION]: null },
        },
      },
    }, {
      fieldManager: APPLY_MANAGER,
      ...(options.impersonate ? { impersonate: options.impersonate } : {}),
      ...(options.signal ? { signal: options.signal } : {}),
    });
  } catch (error) {
    if (error instanceof StatusError && error.code === 404) return;
    throw error;
  }
}

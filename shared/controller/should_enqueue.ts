/** Which informer updates wake a loop (the page, "Status writes do not start a reconcile"). @module */
import type { KubeObject } from "../kube/types.ts";

/** The annotation that the API server sets on /sync, /pin, /mutations and /lifecycle. */
export const SYNC_ANNOTATION = "convoy.kumodo.io/sync-requested-at";

/**
 * True only when
 * 1. the resource version did not change (a periodic resync), or
 * 2. `metadata.generation` changed, or
 * 3. the annotation `annotation` changed; given by the Release controller only.
 */
export function shouldEnqueueOnUpdate(old: KubeObject, object: KubeObject, annotation?: string): boolean {
  if (old.metadata.resourceVersion === object.metadata.resourceVersion) return true;
  if (old.metadata.generation !== object.metadata.generation) return true;
  return annotation !== undefined &&
    old.metadata.annotations?.[annotation] !== object.metadata.annotations?.[annotation];
}

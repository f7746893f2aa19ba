/** Whose an object on a target is. @module */
import type { Release } from "../api/types.ts";
import type { KubeObject } from "../kube/types.ts";

/** Label with the uid of the Release; the observer's watches are narrowed by it. */
export const OWNER_LABEL = "convoy.kumodo.io/release-uid";
/** Annotation `namespace/name` of the Release. */
export const OWNER_ANNOTATION = "convoy.kumodo.io/release";

/** The labels and annotations that mark an object as that Release's. */
export function ownerMark(release: Release): { labels: Record<string, string>; annotations: Record<string, string> } {
  return {
    labels: { [OWNER_LABEL]: release.metadata.uid ?? "" },
    annotations: { [OWNER_ANNOTATION]: nameOf(release) },
  };
}

/**
 * Whose the object is: `own`, `none` (no mark), `other`. A mark with this Release's namespace and name and another uid
 * is of a Release that was here before (deleted with Orphan, restored from a backup): `former`, taken over.
 */
export function judgeOwner(object: KubeObject, release: Release): "own" | "former" | "none" | "other" {
  const uid = object.metadata.labels?.[OWNER_LABEL];
  const name = object.metadata.annotations?.[OWNER_ANNOTATION];
  if (!uid && !name) return "none";
  if (uid === release.metadata.uid) return "own";
  return name === nameOf(release) ? "former" : "other";
}

/** The owner as a message names it. */
export function ownerText(object: KubeObject): string {
  return object.metadata.annotations?.[OWNER_ANNOTATION] ||
    `the Release with uid ${object.metadata.labels?.[OWNER_LABEL] ?? "?"}`;
}

function nameOf(release: Release): string {
  return `${release.metadata.namespace ?? ""}/${release.metadata.name}`;
}

/** Whose an object on a target is. @module */
import type { Release } from "../api/types.ts";
import type { KubeObject } from "../kube/types.ts";
import { ownerOf } from "../target/owner.ts";

/**
 * Whose the object is: `own`, `none` (no mark), `other`. A mark with this Release's namespace and name and another uid
 * is of a Release that was here before (deleted with Orphan, restored from a backup): `former`, taken over.
 */
export function judgeOwner(object: KubeObject, release: Release): "own" | "former" | "none" | "other" {
  const owner = ownerOf(object);
  if (!owner) return "none";
  if (owner.uid === release.metadata.uid) return "own";
  return owner.release === `${release.metadata.namespace ?? ""}/${release.metadata.name}` ? "former" : "other";
}

/** The owner as a message names it. */
export function ownerText(object: KubeObject): string {
  const owner = ownerOf(object);
  return owner?.release || `the Release with uid ${owner?.uid || "?"}`;
}

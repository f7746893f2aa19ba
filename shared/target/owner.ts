/** The owner mark that every applied object bears. @module */
import type { KubeObject } from "../kube/types.ts";

/** Label with the uid of the Release; the shared watches are narrowed by it. */
export const OWNER_LABEL = "convoy.kumodo.io/release-uid";
/** Annotation with `namespace/name` of the Release. */
export const OWNER_ANNOTATION = "convoy.kumodo.io/release";

/** A copy of the object that bears the mark of the release; the object itself stays as it is. */
export function withOwnerMark<T extends { metadata: object }>(object: T, release: KubeObject): T {
  const { uid, name, namespace = "" } = release.metadata;
  if (!uid) throw new TypeError(`Cannot mark an object as of Release ${namespace}/${name}: the Release has no uid`);
  const { labels, annotations } = object.metadata as { labels?: object | null; annotations?: object | null };
  return {
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...labels, [OWNER_LABEL]: uid },
      annotations: { ...annotations, [OWNER_ANNOTATION]: `${namespace}/${name}` },
    },
  };
}

/** Whose a live object is: the Release's uid and `namespace/name`, each "" when that half of the mark is missing. */
export function ownerOf(live: KubeObject): { uid: string; release: string } | undefined {
  const uid = live.metadata.labels?.[OWNER_LABEL] ?? "";
  const release = live.metadata.annotations?.[OWNER_ANNOTATION] ?? "";
  return uid === "" && release === "" ? undefined : { uid, release };
}

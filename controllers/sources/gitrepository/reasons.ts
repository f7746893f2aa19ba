/** Words of the condition `Ready` of a source, and of its events. @module */

/** `Ready=True`. */
export const SUCCEEDED = "Succeeded";
/** Events. */
export const NEW_ARTIFACT = "NewArtifact";
/** A tag leads to another commit than before. */
export const TAG_MOVED = "TagMoved";
/** The commit before is not in the branch's history any more. */
export const FORCE_PUSHED = "ForcePushed";
/** A version range now means an older version (its newest tag was taken away). */
export const FETCH_FAILED_EVENT = "FetchFailed";

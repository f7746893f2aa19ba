/** What can be wrong with an artifact. @module */

/** Why. `NotFound`: no such artifact or path; `Unsafe`: a path or link that leaves the root, a device. */
export type ArtifactProblem = "NotFound" | "Unsafe" | "TooLarge" | "Corrupt" | "FetchFailed";

/** An artifact, or one entry of it, cannot be stored, read or fetched. The message never has file content. */
export class ArtifactError extends Error {
  override readonly name = "ArtifactError";
  constructor(readonly problem: ArtifactProblem, message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

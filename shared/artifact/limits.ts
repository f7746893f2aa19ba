/** Sizes that an artifact may have. @module */

/** Limits of a tree. */
export interface ArtifactLimits {
  /** Bytes of one file. @default 64 MiB */
  fileBytes: number;
  /** Bytes of all files, unpacked. @default 1 GiB */
  totalBytes: number;
  /** Number of files and links. @default 100_000 */
  entries: number;
}

/** The defaults of {@link ArtifactLimits}. */
export const defaultLimits: ArtifactLimits = { fileBytes: 64 * 2 ** 20, totalBytes: 2 ** 30, entries: 100_000 };

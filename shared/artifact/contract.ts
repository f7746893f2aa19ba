/** Artifacts: file trees that sources fetched, kept on disk by digest. @module */

/** A source revision that was fetched: `status.artifact` of a source. */
export interface ArtifactRef {
  /** `sha256:HEX` over the sorted list of (path, mode, content digest). */
  digest: string;
  /** e.g. `main@sha1:COMMIT`. */
  revision: string;
  /** Where the process that fetched it serves it, for processes that do not share its disk. */
  url?: string | undefined;
  lastUpdateTime: string;
}

/** One file of an artifact. `path` is relative with `/`; reading through a link that leaves the root is refused. */
export interface ArtifactFile {
  path: string;
  read(): Promise<Uint8Array>;
}

/** One file or link to store. Folders come from the paths. */
export type NewEntry =
  | { path: string; executable: boolean; data: Uint8Array }
  | { path: string; link: string };

/** The store. A half-written artifact never becomes visible (written aside, synced, renamed). */
export interface ArtifactStore {
  has(digest: string): Promise<boolean>;
  /** Copies a folder in; resolves to its digest. `include` filters by relative path. */
  put(folder: string, include?: (path: string) => boolean): Promise<string>;
  /** Stores a tree that comes entry by entry, in any order; resolves to its digest. */
  putEntries(entries: AsyncIterable<NewEntry>): Promise<string>;
  /**
   * Files under `path` of the artifact, in byte order; their paths are relative to the artifact's root. Fetches from
   * `ref.url` when it is not on this disk.
   */
  files(ref: ArtifactRef, path: string): Promise<ArtifactFile[]>;
  /** Removes all artifacts but these and those stored a moment ago. */
  prune(keep: ReadonlySet<string>): Promise<void>;
}

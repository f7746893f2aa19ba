/** Artifacts: file trees that sources fetched, kept on disk by digest and served to other processes. @module */
export * from "./contract.ts";
export { ACCESS_KEY_SECRET, cachedAccessKey, ensureAccessKey, readAccessKey } from "./access_key.ts";
export { packTarGz, type UnpackOptions, unpackTarGz } from "./archive.ts";
export { ArtifactError, type ArtifactProblem } from "./error.ts";
export { type ArtifactLimits, defaultLimits } from "./limits.ts";
export { artifactHandler, artifactPath } from "./serve.ts";
export { DiskArtifactStore, type DiskArtifactStoreOptions } from "./store.ts";
export { Tree, type TreeEntry } from "./tree.ts";

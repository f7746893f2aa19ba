/** Finds the artifact that a Release is made from. @module */
import type { GitRepository, Release } from "../../shared/api/mod.ts";
import type { ArtifactRef } from "../../shared/artifact/mod.ts";
import { findCondition } from "../../shared/status/mod.ts";
import { Stop } from "./stop.ts";

/** An artifact and the folder in it. */
export interface Source {
  artifact: ArtifactRef;
  path: string;
}

/**
 * The artifact of the Release's source.
 *
 * @param repository looks a GitRepository of the Release's namespace up
 * @throws Stop with SourceFailed, or Progressing while the first fetch is under way
 */
export function findSource(release: Release, repository: (name: string) => GitRepository | undefined): Source {
  const { git } = release.spec.source;
  if (!git) {
    const kind = release.spec.source.chart ? "chart" : "oci";
    throw new Stop("SourceFailed", `This version of Convoy cannot take spec.source.${kind}; use spec.source.git`);
  }
  const name = `${release.metadata.namespace}/${git.repository}`;
  const found = repository(git.repository);
  if (!found) {
    throw new Stop("SourceFailed", `GitRepository ${name} not found: create it or mend spec.source.git.repository`);
  }
  const ready = findCondition(found.status?.conditions, "Ready");
  const current = found.status?.observedGeneration === found.metadata.generation;
  if (ready?.status === "False" && current) {
    const kept = release.status?.source ? `; what is applied stays (${release.status.source.revision})` : "";
    throw new Stop("SourceFailed", `GitRepository ${name}: ${ready.reason}: ${ready.message}${kept}`);
  }
  const artifact = found.status?.artifact;
  // An artifact of the repository's old spec is good enough for what runs, not for something new.
  if (!artifact || (!current && !release.status?.renderRef)) {
    throw new Stop("Progressing", `Waiting for GitRepository ${name} to fetch`);
  }
  return {
    artifact: {
      digest: artifact.digest,
      revision: artifact.revision,
      lastUpdateTime: artifact.lastUpdateTime,
      ...(artifact.url === undefined ? {} : { url: artifact.url }),
    },
    path: git.path,
  };
}

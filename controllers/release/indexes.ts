/** Indexes over the informers, and what they are asked for. @module */
import type { Release } from "../../shared/api/mod.ts";
import type { Informer } from "../../shared/kube/mod.ts";

const BY_CLUSTER = "release-by-cluster";
const BY_SOURCE = "release-by-source";

/** `namespace/name` of the Cluster of a Release. */
export function clusterKey(release: Release): string {
  return `${release.metadata.namespace ?? ""}/${release.spec.cluster.name}`;
}

/** `Kind namespace/name` of the source of a Release. */
export function sourceKey(release: Release): string | undefined {
  const { git, chart, oci } = release.spec.source;
  const namespace = release.metadata.namespace ?? "";
  if (git) return `GitRepository ${namespace}/${git.repository}`;
  if (chart) return `HelmRegistry ${namespace}/${chart.registry}`;
  if (oci) return `OCIRegistry ${namespace}/${oci.registry}`;
  return undefined;
}

/** Adds the indexes; call before the informer starts. */
export function addIndexes(releases: Informer<Release>): void {
  releases.addIndex(BY_CLUSTER, (release) => [clusterKey(release)]);
  releases.addIndex(BY_SOURCE, (release) => {
    const key = sourceKey(release);
    return key === undefined ? [] : [key];
  });
}

/** Releases on that Cluster. */
export function releasesOnCluster(releases: Informer<Release>, key: string): Release[] {
  return releases.byIndex(BY_CLUSTER, key);
}

/** Releases of that source; `key` as of {@link sourceKey}. */
export function releasesOfSource(releases: Informer<Release>, key: string): Release[] {
  return releases.byIndex(BY_SOURCE, key);
}

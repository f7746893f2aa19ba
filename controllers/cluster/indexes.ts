/** Which Releases name a Cluster. @module */
import type { Release } from "../../shared/api/mod.ts";
import type { Informer } from "../../shared/kube/mod.ts";

const BY_CLUSTER = "cluster-of-release";

/** Adds the index. */
export function addIndexes(releases: Informer<Release>): void {
  releases.addIndex(BY_CLUSTER, (release) => [clusterKeyOf(release)]);
}

/** `namespace/name` of the Cluster that a Release names. */
export function clusterKeyOf(release: Release): string {
  return `${release.metadata.namespace ?? ""}/${release.spec.cluster.name}`;
}

/** Releases that name that Cluster. */
export function releasesOf(releases: Informer<Release>, key: string): Release[] {
  return releases.byIndex(BY_CLUSTER, key);
}

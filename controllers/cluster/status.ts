/** A Cluster's status, written as a whole by UpdateStatus: the Cluster controller is its only writer. @module */
import { type Cluster, CLUSTERS, type ClusterStatus } from "../../shared/api/mod.ts";
import { cloneJson, equalJson } from "../../shared/json/mod.ts";
import type { KubeClient } from "../../shared/kube/mod.ts";
import { rfc3339 } from "../../shared/runtime/clock.ts";
import { findCondition, transition } from "../../shared/status/mod.ts";
import type { ReachableReason } from "./reasons.ts";

/** What a probe found. */
export type Probe =
  | { reachable: true; version: string; resources: number }
  | { reachable: false; reason: Exclude<ReachableReason, "Connected">; message: string };

/** What the status is made of. */
export interface Findings {
  /** The last probe; undefined = keep what the status says. */
  probe?: Probe;
  releases: number;
  /** Why a deletion waits; undefined = none is asked for, or it need not wait. */
  deletion?: string;
}

/** The status after those findings. `lastProbeTime` moves only together with something else. */
export function nextStatus(cluster: Cluster, findings: Findings, now: number): ClusterStatus {
  const { probe, releases, deletion } = findings;
  const generation = cluster.metadata.generation;
  const status = cloneJson(cluster.status ?? {});
  status.releases = releases;
  const conditions = (status.conditions ?? []).filter((c) => c.type !== "Reachable" && c.type !== "Deleting");
  const before = findCondition(status.conditions, "Reachable");
  if (probe) {
    if (generation !== undefined) status.observedGeneration = generation;
    conditions.push(transition(before, {
      type: "Reachable",
      status: probe.reachable ? "True" : "False",
      reason: probe.reachable ? "Connected" : probe.reason,
      message: probe.reachable ? `Kubernetes ${probe.version} answers` : probe.message.slice(0, 4096),
      observedGeneration: generation,
    }, now));
    if (probe.reachable) {
      status.version = probe.version;
      status.resources = probe.resources;
    }
  } else if (before) conditions.push(before);
  if (deletion !== undefined) {
    conditions.push(transition(findCondition(status.conditions, "Deleting"), {
      type: "Deleting",
      status: "True",
      reason: "ReleasesRemain",
      message: deletion,
      observedGeneration: generation,
    }, now));
  }
  status.conditions = conditions;
  if (probe && !equalJson(status, cluster.status ?? {})) status.lastProbeTime = rfc3339(now);
  return status;
}

/** Writes the status when it differs; the Cluster as it is then. @throws StatusError Conflict when the cache lags */
export async function updateStatus(
  cluster: Cluster,
  status: ClusterStatus,
  client: KubeClient,
  signal: AbortSignal,
): Promise<Cluster> {
  if (equalJson(status, cluster.status ?? {})) return cluster;
  return await client.update<Cluster>(CLUSTERS, { ...cluster, status }, { subresource: "status", signal });
}

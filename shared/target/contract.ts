/**
 * Target clusters: connections made from Cluster objects, shared by all roles of one process. The one place that reads
 * kubeconfig Secrets. A cluster that is down costs its own Releases time and nobody else's.
 *
 * @module
 */
import type { KubeClient } from "../kube/contract.ts";
import type { KubeObject, Resource, Unstructured } from "../kube/types.ts";

/** Why a target cannot be used; `reason` is the reason of the status words (design.md §2). */
export class TargetError extends Error {
  override readonly name = "TargetError";
  /** What is wrong with the Cluster's settings, where that is why. */
  readonly problem?: TargetProblem;
  constructor(
    readonly reason: "ClusterNotFound" | "ClusterUnreachable" | "Suspended",
    message: string,
    options?: ErrorOptions & { problem?: TargetProblem },
  ) {
    super(message, options);
    if (options?.problem) this.problem = options.problem;
  }
}

/** What can be wrong with the settings of a Cluster. */
export type TargetProblem = "SecretNotFound" | "SecretKeyMissing" | "KubeconfigInvalid";

/** Group and kind (or one version of it) on a target. */
export interface GroupKind {
  group: string;
  kind: string;
  version?: string;
}

/** One target cluster. */
export interface Target {
  /** `namespace/name` of the Cluster object. */
  readonly key: string;
  /** Client with manager-neutral verbs; calls fail fast with TargetError(ClusterUnreachable) while the breaker is open. */
  readonly client: KubeClient;
  /** Finds where a kind is served; discovery is cached and refreshed once on a miss. undefined = the target has no such kind. */
  resourceFor(gk: GroupKind): Promise<Resource | undefined>;
  /** Drops cached discovery (a CRD was applied). */
  invalidateDiscovery(): void;
  /**
   * The shared watch of all objects of one resource that bear Convoy's owner label, started at first use and stopped
   * `idle` after the last handler left. Returns the remover.
   */
  watch(resource: Resource, handler: TargetWatchHandler): () => void;
  /** A live object from the shared watch's cache; undefined when not there; throws TargetError while not synced. */
  cached(resource: Resource, key: string): Unstructured | undefined;
}

/** Told of each change on a shared watch. `onLost`: the connection is gone, the cache is no longer true. */
export interface TargetWatchHandler {
  onChange(object: Unstructured, old: Unstructured | undefined): void;
  onDelete(object: Unstructured): void;
  onSynced?(): void;
  onLost?(error: Error): void;
}

/** All targets of this process. */
export interface Targets {
  /** @throws TargetError */
  get(namespace: string, cluster: string): Promise<Target>;
  /** Calls back when a target appears, changes credentials, becomes reachable or unreachable. */
  onChange(handler: (key: string, reachable: boolean) => void): () => void;
  /** Tests a Cluster's connection now (Cluster controller). @throws TargetError */
  probe(cluster: KubeObject): Promise<{ version: string; resources: number }>;
  close(): void;
}

/** One pass over a Cluster: finalizer, probe, status. @module */
import { type Cluster, CLUSTERS, FINALIZER, type Release } from "../../shared/api/mod.ts";
import type { Action, EventRecorder } from "../../shared/controller/mod.ts";
import { hasReason, type Informer, type KubeClient } from "../../shared/kube/mod.ts";
import type { Clock } from "../../shared/runtime/clock.ts";
import { findCondition, type WriteMemory } from "../../shared/status/mod.ts";
import { TargetError, type Targets } from "../../shared/target/contract.ts";
import { releasesOf } from "./indexes.ts";
import { reasonOf } from "./reasons.ts";
import { nextStatus, type Probe, updateStatus } from "./status.ts";

/** A cluster that answers is asked again after this time, ms: its watches tell at once when it goes. */
export const PROBE_MS = 600_000;
/** One that does not is asked again after this time, ms; its breaker tells at once when it comes back. */
export const RETRY_MS = 60_000;

const NAMES_SHOWN = 5;

/** What the reconciler needs. */
export interface ClusterReconcilerDeps {
  client: KubeClient;
  targets: Targets;
  events: EventRecorder;
  clock: Clock;
  memory: WriteMemory;
  clusters: Informer<Cluster>;
  releases: Informer<Release>;
  /** Called when a Cluster is in use, and when it is not any more. */
  onUse?(cluster: Cluster, used: boolean): void;
  /** In [0, 1). @default Math.random */
  random?: () => number;
}

/** Reconciles Clusters. */
export class ClusterReconciler {
  readonly #d: ClusterReconcilerDeps;
  /** When the next probe is due, ms, and of which generation the last one was. */
  readonly #probes = new Map<string, { due: number; generation: number | undefined; uid: string | undefined }>();

  constructor(deps: ClusterReconcilerDeps) {
    this.#d = deps;
  }

  /** The connection may have changed: the next pass probes. */
  probeNext(key: string): void {
    this.#probes.delete(key);
  }

  /** One pass. */
  async reconcile(key: string, signal: AbortSignal): Promise<Action> {
    const { client, clock, memory, clusters, releases } = this.#d;
    const cached = clusters.get(key);
    if (!cached) {
      this.#probes.delete(key);
      return { await: "change" };
    }
    let cluster = memory.fresher(cached);
    const users = releasesOf(releases, key);
    if (cluster.metadata.deletionTimestamp && users.length === 0) {
      this.#d.onUse?.(cluster, false);
      await setFinalizer(cluster, false, client, signal);
      return { await: "change" };
    }
    if (!cluster.metadata.deletionTimestamp && !cluster.metadata.finalizers?.includes(FINALIZER)) {
      cluster = await setFinalizer(cluster, true, client, signal);
      memory.remember(cluster);
    }
    const known = this.#probes.get(key);
    const due = known?.generation === cluster.metadata.generation && known?.uid === cluster.metadata.uid
      ? known!.due
      : 0;
    const probe = clock.now() >= due ? await this.#probe(cluster) : undefined;
    if (probe) this.#schedule(key, cluster, probe.reachable);
    const deletion = cluster.metadata.deletionTimestamp ? deletionWaits(users) : undefined;
    const status = nextStatus(cluster, {
      releases: users.length,
      ...(probe ? { probe } : {}),
      ...(deletion ? { deletion } : {}),
    }, clock.now());
    const written = await updateStatus(cluster, status, client, signal);
    if (written !== cluster) memory.remember(written);
    this.#tell(cluster, written);
    return { after: Math.max(1000, this.#probes.get(key)!.due - clock.now()) };
  }

  async #probe(cluster: Cluster): Promise<Probe> {
    try {
      const found = await this.#d.targets.probe(cluster);
      this.#d.onUse?.(cluster, true);
      return { reachable: true, ...found };
    } catch (error) {
      if (!(error instanceof TargetError)) throw error;
      const reason = reasonOf(error);
      if (reason === "Suspended") this.#d.onUse?.(cluster, false);
      return { reachable: false, reason: reason as Exclude<typeof reason, "Connected">, message: error.message };
    }
  }

  #schedule(key: string, cluster: Cluster, reachable: boolean): void {
    const spread = 0.9 + 0.2 * (this.#d.random ?? Math.random)();
    const due = this.#d.clock.now() + (reachable ? PROBE_MS : RETRY_MS) * spread;
    this.#probes.set(key, { due, generation: cluster.metadata.generation, uid: cluster.metadata.uid });
  }

  #tell(before: Cluster, after: Cluster): void {
    for (const type of ["Reachable", "Deleting"]) {
      const a = findCondition(before.status?.conditions, type), b = findCondition(after.status?.conditions, type);
      if (!b || (a?.status === b.status && a.reason === b.reason)) continue;
      this.#d.events.event(after, b.status === "True" ? "Normal" : "Warning", b.reason, b.message);
    }
  }
}

function deletionWaits(users: readonly Release[]): string {
  const names = users.map((r) => r.metadata.name).sort();
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : "";
  return `Releases name this Cluster: ${names.slice(0, NAMES_SHOWN).join(", ")}${more}; delete them first`;
}

/** Adds or takes off the finalizer by PUT of the whole object. A Cluster that is gone is no error. */
async function setFinalizer(
  cluster: Cluster,
  wanted: boolean,
  client: KubeClient,
  signal: AbortSignal,
): Promise<Cluster> {
  const others = cluster.metadata.finalizers?.filter((f) => f !== FINALIZER) ?? [];
  const finalizers = wanted ? [...others, FINALIZER] : others;
  const body = { ...cluster, metadata: { ...cluster.metadata, finalizers } };
  try {
    return await client.update<Cluster>(CLUSTERS, body, { signal });
  } catch (error) {
    if (!wanted && hasReason(error, "NotFound")) return cluster;
    throw error;
  }
}

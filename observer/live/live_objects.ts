/**
 * The live objects of all Releases that a loop observes: one watch per cluster and kind, started when the first Release
 * needs it and given back with the last. Events find their Release by its annotation.
 *
 * @module
 */
import { OWNER_ANNOTATION } from "../../shared/apply/mod.ts";
import { entryId, type EntryKey } from "../../shared/inventory/mod.ts";
import { keyOf, parseApiVersion, type Resource, StatusError, type Unstructured } from "../../shared/kube/mod.ts";
import type { Clock } from "../../shared/runtime/clock.ts";
import { type Target, TargetError, type Targets } from "../../shared/target/contract.ts";

/** A change of one live object. */
export interface LiveChange {
  /** `namespace/name` of the Release whose mark it bears. */
  release: string;
  /** Id of the inventory entry: {@link entryId}. */
  entry: string;
  /** undefined: it is gone. */
  object: Unstructured | undefined;
  /** As it was; undefined: it is new. */
  old: Unstructured | undefined;
  /** Part of the first list of a watch: nothing is known to have changed. */
  initial: boolean;
}

/** Told of what happens on the clusters. */
export interface LiveHandler {
  onChange(change: LiveChange): void;
  /** Something about the watches of this Release changed: synced, lost, cluster reachable or not. */
  onWake(release: string): void;
}

/** How one entry is seen. */
export type Seen =
  | { kind: "object"; object: Unstructured }
  | { kind: "absent" }
  /** The watch has not delivered its first list yet. */
  | { kind: "pending" }
  /** The cluster has no such kind. */
  | { kind: "unserved" }
  /** The cluster refuses to let us watch that kind. */
  | { kind: "refused"; why: string };

/** What a Release sees of its cluster. */
export interface View {
  target: Target;
  see(entry: EntryKey & { version?: string | undefined }): Seen;
  /** Where an entry's kind is served. */
  resourceOf(entry: EntryKey & { version?: string | undefined }): Resource | undefined;
}

/** A watch that has not delivered its first list for so long makes its cluster count as unreachable, ms. */
const SYNC_GRACE_MS = 20_000;
/** Discovery is asked again for a kind that was not served after this time, ms; while a rollout goes on after less. */
const UNSERVED_MS = 60_000;
const UNSERVED_EAGER_MS = 1_000;

interface Kind {
  users: Set<string>;
  resource: Resource | undefined;
  /** When discovery was asked last. */
  askedAt: number;
  remove: () => void;
  synced: boolean;
  since: number;
  /** The connection is gone, and not just for a moment: the target has waited before it said so. */
  lost: boolean;
  refused: string | undefined;
}

interface Cluster {
  target: Target;
  kinds: Map<string, Kind>;
}

/** The watches of one loop. */
export class LiveObjects {
  readonly #clusters = new Map<string, Cluster>();
  /** Release → its cluster and kinds. */
  readonly #releases = new Map<string, { cluster: string; kinds: Set<string> }>();
  /** Cluster → Releases that want it, reachable or not; and the other way round. */
  readonly #wanting = new Map<string, Set<string>>();
  readonly #wants = new Map<string, string>();
  /** Clusters that do not answer. */
  readonly #down = new Set<string>();
  readonly #timers = new Set<() => void>();
  readonly #stop: () => void;

  constructor(readonly targets: Targets, readonly clock: Clock, readonly handler: LiveHandler) {
    this.#stop = targets.onChange((cluster, reachable) => {
      if (reachable) this.#down.delete(cluster);
      else this.#down.add(cluster);
      for (const release of this.#wanting.get(cluster) ?? []) handler.onWake(release);
    });
  }

  /** Number of watches. */
  get watches(): number {
    let n = 0;
    for (const cluster of this.#clusters.values()) for (const kind of cluster.kinds.values()) if (kind.resource) n++;
    return n;
  }

  /**
   * Makes sure that the kinds of these entries are watched for this Release, and of no others. Costs no request when
   * nothing changed.
   *
   * @param eager ask discovery again soon for kinds that are not served (a rollout may be making them)
   * @throws TargetError when the cluster does not exist, is suspended or cannot be reached
   */
  async attach(
    release: string,
    namespace: string,
    name: string,
    entries: readonly (EntryKey & { version?: string | undefined })[],
    eager: boolean,
  ): Promise<View> {
    const key = `${namespace}/${name}`;
    if (this.#wants.get(release) !== key) {
      this.detach(release);
      this.#wants.set(release, key);
      addTo(this.#wanting, key, release);
    }
    const target = await this.targets.get(namespace, name);
    if (this.#down.has(key)) throw new TargetError("ClusterUnreachable", `Cluster ${name} does not answer`);
    const cluster = this.#clusterOf(key, target);
    const wanted = new Map(entries.map((e) => [kindId(e), e]));
    for (const [id, entry] of wanted) await this.#useKind(cluster, id, entry, release, eager);
    const mine = this.#releases.get(release);
    for (const id of mine?.kinds ?? []) if (!wanted.has(id)) this.#leaveKind(cluster, id, release);
    this.#releases.set(release, { cluster: key, kinds: new Set(wanted.keys()) });
    this.#failWhenLost(cluster, wanted.keys(), name);
    return {
      target,
      see: (entry) => see(cluster, entry),
      resourceOf: (entry) => cluster.kinds.get(kindId(entry))?.resource,
    };
  }

  /** The Release needs no watch any more. */
  detach(release: string): void {
    const wanted = this.#wants.get(release);
    if (wanted === undefined) return;
    this.#wants.delete(release);
    const wanting = this.#wanting.get(wanted);
    wanting?.delete(release);
    if (wanting?.size === 0) this.#wanting.delete(wanted);
    const mine = this.#releases.get(release);
    if (!mine) return;
    this.#releases.delete(release);
    const cluster = this.#clusters.get(mine.cluster);
    for (const id of mine.kinds) if (cluster) this.#leaveKind(cluster, id, release);
    if (cluster?.kinds.size === 0) this.#clusters.delete(mine.cluster);
  }

  /** Ends all watches. */
  close(): void {
    this.#stop();
    for (const cancel of this.#timers) cancel();
    for (const cluster of this.#clusters.values()) for (const kind of cluster.kinds.values()) kind.remove();
    this.#clusters.clear();
    this.#releases.clear();
    this.#wanting.clear();
    this.#wants.clear();
  }

  /** The cluster's watches; begun anew when its connection was replaced. */
  #clusterOf(key: string, target: Target): Cluster {
    const known = this.#clusters.get(key);
    if (known?.target === target) return known;
    for (const kind of known?.kinds.values() ?? []) kind.remove();
    const cluster: Cluster = { target, kinds: new Map() };
    this.#clusters.set(key, cluster);
    // The other Releases there have to start anew too.
    for (const release of this.#wanting.get(key) ?? []) if (known) this.handler.onWake(release);
    return cluster;
  }

  async #useKind(
    cluster: Cluster,
    id: string,
    entry: EntryKey & { version?: string | undefined },
    release: string,
    eager: boolean,
  ): Promise<void> {
    let kind = cluster.kinds.get(id);
    const now = this.clock.now();
    if (!kind) {
      const fresh: Kind = {
        users: new Set([release]),
        resource: undefined,
        askedAt: -Infinity,
        remove: () => {},
        synced: false,
        since: now,
        lost: false,
        refused: undefined,
      };
      cluster.kinds.set(id, kind = fresh);
    }
    kind.users.add(release);
    if (kind.resource || now - kind.askedAt < (eager ? UNSERVED_EAGER_MS : UNSERVED_MS)) return;
    const { group, kind: name, version } = entry;
    const resource = (version ? await cluster.target.resourceFor({ group, kind: name, version }) : undefined) ??
      await cluster.target.resourceFor({ group, kind: name });
    kind.askedAt = now;
    // Meanwhile another reconcile may have begun it, or all users may have left.
    if (!resource || kind.resource || cluster.kinds.get(id) !== kind) return;
    this.#watch(cluster, kind, resource);
  }

  #watch(cluster: Cluster, kind: Kind, resource: Resource): void {
    kind.resource = resource;
    kind.synced = false;
    kind.since = this.clock.now();
    kind.lost = false;
    kind.refused = undefined;
    const wake = () => {
      for (const release of kind.users) this.handler.onWake(release);
    };
    const tell = (object: Unstructured | undefined, old: Unstructured | undefined) => {
      const some = object ?? old!;
      const release = ownerOf(some) ?? (old && ownerOf(old));
      if (!release) return;
      this.handler.onChange({ release, entry: entryOf(some), object, old, initial: !kind.synced });
    };
    kind.remove = cluster.target.watch(resource, {
      onChange: (object, old) => tell(object, old),
      onDelete: (object) => tell(undefined, object),
      onSynced: () => {
        const changed = !kind.synced || kind.lost || kind.refused !== undefined;
        kind.synced = true;
        kind.lost = false;
        kind.refused = undefined;
        if (changed) wake();
      },
      onLost: (error) => {
        if (error instanceof StatusError && error.code === 404) {
          // The kind itself went away (its CustomResourceDefinition was deleted).
          kind.remove();
          kind.resource = undefined;
          kind.askedAt = this.clock.now();
          cluster.target.invalidateDiscovery();
          return wake();
        }
        if (error instanceof StatusError && (error.code === 403 || error.code === 401)) {
          kind.refused = `watching ${resource.plural} is refused: ${error.message}`;
          return wake();
        }
        kind.lost = true;
        wake();
      },
    });
    if (!kind.synced) this.#later(SYNC_GRACE_MS, () => !kind.synced && wake());
  }

  #later(ms: number, f: () => unknown): void {
    const cancel = this.clock.after(ms, () => {
      this.#timers.delete(cancel);
      f();
    });
    this.#timers.add(cancel);
  }

  #leaveKind(cluster: Cluster, id: string, release: string): void {
    const kind = cluster.kinds.get(id);
    if (!kind) return;
    kind.users.delete(release);
    if (kind.users.size > 0) return;
    cluster.kinds.delete(id);
    kind.remove();
  }

  #failWhenLost(cluster: Cluster, ids: Iterable<string>, name: string): void {
    const now = this.clock.now();
    for (const id of ids) {
      const kind = cluster.kinds.get(id);
      if (!kind?.resource || kind.refused) continue;
      const late = !kind.synced && now - kind.since >= SYNC_GRACE_MS;
      if (kind.lost || late) throw new TargetError("ClusterUnreachable", `Cluster ${name} does not answer`);
    }
  }
}

function see(cluster: Cluster, entry: EntryKey & { version?: string | undefined }): Seen {
  const kind = cluster.kinds.get(kindId(entry));
  if (!kind?.resource) return { kind: "unserved" };
  if (kind.refused) return { kind: "refused", why: kind.refused };
  try {
    const object = cluster.target.cached(
      kind.resource,
      keyOf({ metadata: { name: entry.name, ...(kind.resource.namespaced ? { namespace: entry.namespace } : {}) } }),
    );
    return object ? { kind: "object", object } : { kind: "absent" };
  } catch (error) {
    if (error instanceof TargetError) return { kind: "pending" };
    throw error;
  }
}

function kindId(entry: EntryKey & { version?: string | undefined }): string {
  return `${entry.group}|${entry.kind}|${entry.version ?? ""}`;
}

function ownerOf(object: Unstructured): string | undefined {
  return object.metadata.annotations?.[OWNER_ANNOTATION];
}

function entryOf(object: Unstructured): string {
  const { group } = parseApiVersion(object.apiVersion);
  return entryId({
    group,
    kind: object.kind,
    namespace: object.metadata.namespace ?? "",
    name: object.metadata.name,
  });
}

function addTo(map: Map<string, Set<string>>, key: string, value: string): void {
  const set = map.get(key);
  if (set) set.add(value);
  else map.set(key, new Set([value]));
}

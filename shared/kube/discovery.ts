/** Which kinds a server has, and where: discovery, cached. @module */
import { isObject, type JsonValue } from "../json/mod.ts";
import type { Clock } from "../runtime/clock.ts";
import type { KubeClient } from "./contract.ts";
import { StatusError } from "./status.ts";
import type { Resource } from "./types.ts";

/** Finds resources by kind. */
export interface RestMapper {
  /**
   * Where a kind is served; without a version, in the first version that the server prefers. undefined = the server has
   * no such kind.
   *
   * @throws DiscoveryError when the group's discovery failed, so that nobody can tell; errors of the client.
   */
  resourceFor(gk: { group: string; kind: string; version?: string }): Promise<Resource | undefined>;
  /** All resources, each in its preferred version, without subresources. */
  resources(): Promise<Resource[]>;
  /** What is known is asked anew at the next use. */
  invalidate(): void;
}

/** Part of discovery is missing, so a kind may or may not be there. */
export class DiscoveryError extends Error {
  override readonly name = "DiscoveryError";
}

/** Options of {@link createRestMapper}. */
export interface RestMapperOptions {
  clock: Clock;
  /** A kind that is not found makes discovery be asked again at most once in this time, ms. @default 10_000 */
  refreshMs?: number;
  /** Discovery is asked anew after this time, ms. @default 600_000 */
  maxAgeMs?: number;
}

interface Snapshot {
  at: number;
  /** `GROUP/KIND` → where it is served, preferred version first. */
  byKind: Map<string, Resource[]>;
  /** Groups of which some version could not be read. */
  failed: Set<string>;
}

const AGGREGATED = ["v2", "v2beta1"]
  .map((v) => `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList`)
  .concat("application/json")
  .join(",");

/** Group versions asked at once when there is no aggregated discovery. */
const AT_ONCE = 8;

/** Makes a mapper for the client's server. */
export function createRestMapper(client: KubeClient, o: RestMapperOptions): RestMapper {
  const { clock, refreshMs = 10_000, maxAgeMs = 600_000 } = o;
  let snapshot: Snapshot | undefined;
  let loading: Promise<Snapshot> | undefined;
  let stale = false;

  function load(): Promise<Snapshot> {
    loading ??= (async () => {
      stale = false;
      try {
        return snapshot = await discover(client, clock.now());
      } catch (error) {
        stale = true;
        throw error;
      } finally {
        loading = undefined;
      }
    })();
    return loading;
  }

  async function current(): Promise<Snapshot> {
    if (!snapshot || stale) return await load();
    if (clock.now() - snapshot.at < maxAgeMs) return snapshot;
    // Old knowledge is better than none.
    return await load().catch(() => snapshot!);
  }

  function find(from: Snapshot, gk: { group: string; kind: string; version?: string }): Resource | undefined {
    const found = from.byKind.get(`${gk.group}/${gk.kind}`);
    return gk.version === undefined ? found?.[0] : found?.find((r) => r.version === gk.version);
  }

  return {
    async resourceFor(gk) {
      let known = await current();
      let found = find(known, gk);
      if (!found && clock.now() - known.at >= refreshMs) {
        known = await load();
        found = find(known, gk);
      }
      if (!found && known.failed.has(gk.group)) {
        throw new DiscoveryError(
          `Cannot tell whether the server has ${gk.kind} of group "${gk.group}": its discovery failed`,
        );
      }
      return found && { ...found };
    },
    async resources() {
      return [...(await current()).byKind.values()].map((versions) => ({ ...versions[0]! }));
    },
    invalidate() {
      stale = true;
    },
  };
}

async function discover(client: KubeClient, at: number): Promise<Snapshot> {
  const snapshot: Snapshot = { at, byKind: new Map(), failed: new Set() };
  const [core, groups] = await Promise.all([
    client.raw<unknown>({ method: "GET", path: "/api", accept: AGGREGATED })
      // A server of one group (an aggregated one, or our own) may have no core group at all.
      .catch((error) => error instanceof StatusError && error.code === 404 ? {} : Promise.reject(error)),
    client.raw<unknown>({ method: "GET", path: "/apis", accept: AGGREGATED }),
  ]);
  const rest: { group: string; version: string }[] = [];
  for (const answer of [core, groups]) {
    if (!isObject(answer)) continue;
    if (answer.kind === "APIGroupDiscoveryList") readAggregated(snapshot, answer.items);
    else rest.push(...groupVersions(answer));
  }
  await readOneByOne(client, snapshot, rest);
  return snapshot;
}

function add(snapshot: Snapshot, resource: Resource): void {
  const key = `${resource.group}/${resource.kind}`;
  const there = snapshot.byKind.get(key);
  if (!there) snapshot.byKind.set(key, [resource]);
  else if (!there.some((r) => r.version === resource.version)) there.push(resource);
}

/** APIGroupDiscoveryList of apidiscovery.k8s.io. */
function readAggregated(snapshot: Snapshot, items: JsonValue | undefined): void {
  for (const item of objects(items)) {
    const group = isObject(item.metadata) && typeof item.metadata.name === "string" ? item.metadata.name : "";
    for (const version of objects(item.versions)) {
      if (version.freshness === "Stale") snapshot.failed.add(group);
      for (const r of objects(version.resources)) {
        const { resource, responseKind, scope } = r;
        if (typeof resource !== "string" || !isObject(responseKind) || typeof responseKind.kind !== "string") continue;
        add(snapshot, {
          group,
          version: String(version.version),
          plural: resource,
          kind: responseKind.kind,
          namespaced: scope === "Namespaced",
        });
      }
    }
  }
}

/** Group versions of APIVersions or APIGroupList, the preferred version of a group first. */
function groupVersions(answer: Record<string, JsonValue>): { group: string; version: string }[] {
  if (answer.kind === "APIVersions" && Array.isArray(answer.versions)) {
    return answer.versions.map((version) => ({ group: "", version: String(version) }));
  }
  return objects(answer.groups).flatMap((g) => {
    const preferred = isObject(g.preferredVersion) ? g.preferredVersion.version : undefined;
    const versions = objects(g.versions).map((v) => String(v.version));
    versions.sort((a, b) => Number(b === preferred) - Number(a === preferred));
    return versions.map((version) => ({ group: String(g.name), version }));
  });
}

/** One APIResourceList for each group version; the order of versions counts, not the order of answers. */
async function readOneByOne(
  client: KubeClient,
  snapshot: Snapshot,
  versions: { group: string; version: string }[],
): Promise<void> {
  const answers: unknown[] = new Array(versions.length);
  let next = 0;
  const one = async () => {
    for (let i = next++; i < versions.length; i = next++) {
      const { group, version } = versions[i]!;
      const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
      try {
        answers[i] = await client.raw<unknown>({ method: "GET", path });
      } catch (error) {
        // An extension server that is down takes only its own group with it. No answer at all is another matter.
        if (!(error instanceof StatusError)) throw error;
        // Gone between the two questions.
        if (error.code !== 404) snapshot.failed.add(group);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  answers.forEach((answer, i) => {
    const { group, version } = versions[i]!;
    for (const r of isObject(answer) ? objects(answer.resources) : []) {
      if (typeof r.name !== "string" || typeof r.kind !== "string" || r.name.includes("/")) continue;
      add(snapshot, { group, version, plural: r.name, kind: r.kind, namespaced: r.namespaced === true });
    }
  });
}

function objects(value: JsonValue | undefined): Record<string, JsonValue>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

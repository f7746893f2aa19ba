/** Discovery: what is served, in the old form (one request a version) and the aggregated one (one request in all). @module */
import type { JsonObject } from "../json/mod.ts";
import type { Registry, ServedKind, ServedVersion } from "./registry.ts";

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const SUBRESOURCE_VERBS = ["get", "patch", "update"];

/** Kinds of one group, in the order given; the version that stores comes first among the group's versions. */
interface Group {
  name: string;
  /** Version name → kinds served at it. */
  versions: Map<string, { kind: ServedKind; version: ServedVersion }[]>;
}

function groupsOf(registry: Registry): Group[] {
  const groups = new Map<string, Group>();
  for (const kind of registry.all()) {
    const group = groups.get(kind.def.group) ?? { name: kind.def.group, versions: new Map() };
    groups.set(kind.def.group, group);
    for (const version of kind.versions.values()) {
      if (!version.def.served) continue;
      const list = group.versions.get(version.def.name) ?? [];
      list.push({ kind, version });
      group.versions.set(version.def.name, list);
    }
  }
  for (const group of groups.values()) {
    group.versions = new Map([...group.versions].sort(([a], [b]) => compareVersions(b, a)));
  }
  return [...groups.values()].filter((g) => g.versions.size > 0);
}

/** Kubernetes' order of versions: v10 > v2 > v1 > v11beta2 > v3beta1 > v12alpha1 > foo. */
export function compareVersions(a: string, b: string): number {
  const parse = (v: string) => {
    const m = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(v);
    if (!m) return undefined;
    return [m[2] === undefined ? 2 : m[2] === "beta" ? 1 : 0, Number(m[1]), Number(m[3] ?? 0)] as const;
  };
  const x = parse(a), y = parse(b);
  if (!x || !y) return x ? 1 : y ? -1 : a < b ? 1 : a > b ? -1 : 0;
  return x[0] - y[0] || x[1] - y[1] || x[2] - y[2];
}

function groupVersion(group: string, version: string): string {
  return group === "" ? version : `${group}/${version}`;
}

function names(kind: ServedKind): JsonObject {
  const { def } = kind;
  return {
    ...(def.shortNames?.length ? { shortNames: def.shortNames } : {}),
    ...(def.categories?.length ? { categories: def.categories } : {}),
  };
}

function singular(kind: ServedKind): string {
  return kind.def.singular ?? kind.def.kind.toLowerCase();
}

interface Subresource {
  name: string;
  kind: { group: string; version: string; kind: string };
  verbs: string[];
}

function subresources(kind: ServedKind, version: ServedVersion): Subresource[] {
  const own = { group: kind.def.group, version: version.def.name, kind: kind.def.kind };
  const list: Subresource[] = [];
  if (version.def.statusSubresource) list.push({ name: "status", kind: own, verbs: SUBRESOURCE_VERBS });
  if (version.def.scale) {
    list.push({
      name: "scale",
      kind: { group: "autoscaling", version: "v1", kind: "Scale" },
      verbs: SUBRESOURCE_VERBS,
    });
  }
  const verbOf: Record<string, string> = {
    POST: "create",
    PUT: "update",
    DELETE: "delete",
    GET: "get",
    PATCH: "patch",
  };
  for (const [name, action] of Object.entries(kind.def.actions ?? {})) {
    list.push({ name, kind: own, verbs: action.methods.map((m) => verbOf[m] ?? m.toLowerCase()) });
  }
  return list;
}

/** `GET /api`. */
export function apiVersions(registry: Registry, host: string): JsonObject {
  const core = groupsOf(registry).find((g) => g.name === "");
  return {
    kind: "APIVersions",
    versions: core ? [...core.versions.keys()] : ["v1"],
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: host }],
  };
}

function apiGroup(group: Group, withKind: boolean): JsonObject {
  const versions = [...group.versions.keys()].map((version) => ({
    groupVersion: groupVersion(group.name, version),
    version,
  }));
  return {
    ...(withKind ? { kind: "APIGroup", apiVersion: "v1" } : {}),
    name: group.name,
    versions,
    preferredVersion: versions[0]!,
  };
}

/** `GET /apis`. */
export function apiGroupList(registry: Registry): JsonObject {
  const groups = groupsOf(registry).filter((g) => g.name !== "").map((g) => apiGroup(g, false));
  return { kind: "APIGroupList", apiVersion: "v1", groups };
}

/** `GET /apis/GROUP`; undefined when there is no such group. */
export function apiGroupOf(registry: Registry, name: string): JsonObject | undefined {
  const group = groupsOf(registry).find((g) => g.name === name);
  return group && name !== "" ? apiGroup(group, true) : undefined;
}

/** `GET /api/V` and `GET /apis/GROUP/V`; undefined when it is not served. */
export function apiResourceList(registry: Registry, group: string, version: string): JsonObject | undefined {
  const kinds = groupsOf(registry).find((g) => g.name === group)?.versions.get(version);
  if (!kinds) return undefined;
  const resources: JsonObject[] = [];
  for (const { kind, version: v } of kinds) {
    resources.push({
      name: kind.def.plural,
      singularName: singular(kind),
      namespaced: kind.def.namespaced,
      kind: kind.def.kind,
      verbs: VERBS,
      ...names(kind),
      storageVersionHash: hashOf(`${kind.def.group}/${kind.storage.def.name}/${kind.def.kind}`),
    });
    for (const sub of subresources(kind, v)) {
      const own = sub.kind.group === group;
      resources.push({
        name: `${kind.def.plural}/${sub.name}`,
        singularName: "",
        namespaced: kind.def.namespaced,
        ...(own ? {} : { group: sub.kind.group, version: sub.kind.version }),
        kind: sub.kind.kind,
        verbs: sub.verbs,
      });
    }
  }
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: groupVersion(group, version), resources };
}

/** Aggregated discovery of `/api` (`core`) or `/apis`. */
export function aggregated(registry: Registry, core: boolean, apiVersion: "v2" | "v2beta1"): JsonObject {
  const items = groupsOf(registry).filter((g) => (g.name === "") === core).map((group): JsonObject => ({
    metadata: { ...(group.name ? { name: group.name } : {}), creationTimestamp: null },
    versions: [...group.versions].map(([version, kinds]): JsonObject => ({
      version,
      resources: kinds.map(({ kind, version: v }): JsonObject => ({
        resource: kind.def.plural,
        responseKind: { group: kind.def.group, version, kind: kind.def.kind },
        scope: kind.def.namespaced ? "Namespaced" : "Cluster",
        singularResource: singular(kind),
        verbs: VERBS,
        ...names(kind),
        ...subresourceList(kind, v),
      })),
      freshness: "Current",
    })),
  }));
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: `apidiscovery.k8s.io/${apiVersion}`,
    metadata: {},
    items,
  };
}

function subresourceList(kind: ServedKind, version: ServedVersion): JsonObject {
  const list = subresources(kind, version).map((sub): JsonObject => ({
    subresource: sub.name,
    responseKind: sub.kind,
    verbs: sub.verbs,
  }));
  return list.length ? { subresources: list } : {};
}

/** Eight bytes in base64, as `storageVersionHash` is; it only has to change when its input does. */
export function hashOf(text: string): string {
  let a = 0x811c9dc5, b = 0x01000193;
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x01000193);
    b = Math.imul(b + text.charCodeAt(i), 0x85ebca6b) ^ (b >>> 13);
  }
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setUint32(0, a >>> 0);
  new DataView(bytes.buffer).setUint32(4, b >>> 0);
  return btoa(String.fromCharCode(...bytes));
}

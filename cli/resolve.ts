/** From what a person types (`rel`, `releases`, `Release`, `clusters.convoy.kumodo.io`) to a resource. @module */
import type { KubeClient } from "../shared/kube/contract.ts";
import { parseApiVersion, type Resource } from "../shared/kube/types.ts";
import { UsageError } from "./output.ts";

interface ApiResourceList {
  groupVersion: string;
  resources: { name: string; singularName?: string; kind: string; namespaced: boolean; shortNames?: string[] }[];
}

/** All resources that the server serves, Convoy's own group first. */
export async function servedResources(client: KubeClient): Promise<(Resource & { names: Set<string> })[]> {
  const groups = await client.raw<{ groups: { preferredVersion: { groupVersion: string } }[] }>({
    method: "GET",
    path: "/apis",
  });
  const paths = [...groups.groups.map((g) => `/apis/${g.preferredVersion.groupVersion}`), "/api/v1"];
  const lists = await Promise.all(paths.map((path) => client.raw<ApiResourceList>({ method: "GET", path })));
  const found = lists.flatMap((list) =>
    list.resources.filter((r) => !r.name.includes("/")).map((r) => ({
      ...parseApiVersion(list.groupVersion),
      plural: r.name,
      kind: r.kind,
      namespaced: r.namespaced,
      names: new Set([r.name, r.singularName ?? "", r.kind.toLowerCase(), ...(r.shortNames ?? [])].filter(Boolean)),
    }))
  );
  return found.sort((a, b) => Number(b.group.startsWith("convoy.")) - Number(a.group.startsWith("convoy.")));
}

/** Finds one resource. @throws UsageError that lists what there is. */
export async function resolveResource(client: KubeClient, typed: string): Promise<Resource> {
  const all = await servedResources(client);
  const [name, ...group] = typed.toLowerCase().split(".");
  const found = all.find((r) => r.names.has(name!) && (group.length === 0 || r.group === group.join(".")));
  if (found) {
    const { names: _, ...resource } = found;
    return resource;
  }
  throw new UsageError(`Cannot find the resource "${typed}": the server has ${all.map((r) => r.plural).join(", ")}`);
}

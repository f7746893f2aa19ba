/** Finding the object of an inventory entry in a render. @module */
import type { Release } from "../../shared/api/mod.ts";
import { namespaceOf } from "../../shared/apply/mod.ts";
import type { Member } from "../../shared/inventory/mod.ts";
import { parseApiVersion, type Resource, type Unstructured } from "../../shared/kube/mod.ts";
import type { StoredRender } from "../../shared/render/mod.ts";

// Renders are shared and never change, so an index lives as long as its render is kept.
const indexes = new WeakMap<StoredRender, Map<string, Unstructured[]>>();

/** The object of that entry as rendered; undefined when the render has none. */
export function renderedObject(
  render: StoredRender,
  member: Member,
  release: Release,
  resource: Resource,
): Unstructured | undefined {
  let index = indexes.get(render);
  if (!index) indexes.set(render, index = Map.groupBy(render.objects, idOf));
  const candidates = index.get(`${member.group}|${member.kind}|${member.name}`) ?? [];
  return candidates.find((o) => namespaceOf(o, release, resource) === member.namespace);
}

function idOf(object: Unstructured): string {
  return `${parseApiVersion(object.apiVersion).group}|${object.kind}|${object.metadata.name}`;
}

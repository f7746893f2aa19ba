/** The objects of a render as they will be on the target: where they are served and what they are called there. @module */
import type { Release } from "../../shared/api/mod.ts";
import { namespaceOf } from "../../shared/apply/mod.ts";
import { entryId, type EntryKey } from "../../shared/inventory/mod.ts";
import { isObject } from "../../shared/json/mod.ts";
import { parseApiVersion, type Resource, type Unstructured } from "../../shared/kube/mod.ts";
import type { Target } from "../../shared/target/contract.ts";
import { objectText } from "./reasons.ts";
import { Stop } from "./stop.ts";

/** Annotation of a manifest with its wave. */
export const WAVE_ANNOTATION = "convoy.kumodo.io/wave";

/** One object of the render. */
export interface Item extends EntryKey {
  id: string;
  version: string;
  wave: number;
  /** As rendered; never changed. */
  object: Unstructured;
  /** Where it is served; undefined while the target has no such kind. */
  resource: Resource | undefined;
  /** Name of the CustomResourceDefinition in the same render that makes its kind. */
  crd?: string;
}

/** Kinds that the CustomResourceDefinitions of a render make, by `group/Kind`. */
export function kindsOfCrds(objects: readonly Unstructured[]): Map<string, { crd: string; namespaced: boolean }> {
  const kinds = new Map<string, { crd: string; namespaced: boolean }>();
  for (const object of objects) {
    if (!isCrd(object) || !isObject(object.spec) || !isObject(object.spec.names)) continue;
    kinds.set(`${object.spec.group}/${object.spec.names.kind}`, {
      crd: object.metadata.name,
      namespaced: object.spec.scope !== "Cluster",
    });
  }
  return kinds;
}

/** True for an apiextensions.k8s.io CustomResourceDefinition. */
export function isCrd(object: Unstructured): boolean {
  return object.kind === "CustomResourceDefinition" &&
    parseApiVersion(object.apiVersion).group === "apiextensions.k8s.io";
}

/**
 * Finds out where each object lives. Discovery is asked once per kind.
 *
 * @param objects in apply order
 * @throws Stop with RenderFailed when two documents define one object or a wave is no number
 */
export async function makeItems(objects: readonly Unstructured[], release: Release, target: Target): Promise<Item[]> {
  const crds = kindsOfCrds(objects);
  const seen = new Set<string>();
  const items: Item[] = [];
  for (const object of objects) {
    const { group, version } = parseApiVersion(object.apiVersion);
    const made = crds.get(`${group}/${object.kind}`);
    const resource = await target.resourceFor({ group, kind: object.kind, version });
    const namespaced = resource?.namespaced ?? made?.namespaced ?? true;
    const key = {
      group,
      kind: object.kind,
      namespace: namespaceOf(object, release, { namespaced }),
      name: object.metadata.name,
    };
    const id = entryId(key);
    if (seen.has(id)) throw new Stop("RenderFailed", `Two documents define ${objectText(key)}: remove one of them`);
    seen.add(id);
    items.push({
      ...key,
      id,
      version,
      wave: waveOf(object, key),
      object,
      resource,
      ...(made ? { crd: made.crd } : {}),
    });
  }
  return items;
}

function waveOf(object: Unstructured, key: EntryKey): number {
  const text = object.metadata.annotations?.[WAVE_ANNOTATION];
  if (text === undefined) return 0;
  if (!/^-?\d{1,6}$/.test(text)) {
    throw new Stop(
      "RenderFailed",
      `Annotation ${WAVE_ANNOTATION} of ${objectText(key)} must be a whole number, not ${JSON.stringify(text)}`,
    );
  }
  return Number(text);
}

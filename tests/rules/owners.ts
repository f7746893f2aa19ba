/** Who owns what, read from managedFields. @module */
import { isObject } from "../../shared/json/mod.ts";
import type { KubeObject } from "../../shared/kube/mod.ts";

/** Owners of each leaf path, as `manager` of entries with that operation. List items by their keys. */
export function ownersOf(object: KubeObject, operation: "Apply" | "Update" = "Apply"): Map<string, Set<string>> {
  const owners = new Map<string, Set<string>>();
  for (const entry of object.metadata.managedFields ?? []) {
    if (entry.operation !== operation) continue;
    walk(entry.fieldsV1 ?? {}, "", (path) => {
      let set = owners.get(path);
      if (!set) owners.set(path, set = new Set());
      set.add(entry.manager ?? "");
    });
  }
  return owners;
}

function walk(node: Record<string, unknown>, path: string, leaf: (path: string) => void): void {
  for (const [key, child] of Object.entries(node)) {
    if (key === ".") {
      leaf(path);
      continue;
    }
    const at = key.startsWith("f:") ? `${path}.${key.slice(2)}` : `${path}[${key.slice(2)}]`;
    if (isObject(child) && Object.keys(child).length > 0) walk(child, at, leaf);
    else leaf(at);
  }
}

const CONTROLLER_CONDITION = /^\.status\.conditions\[\{"type":"(Applied|RolloutSucceeded|LifecycleSucceeded)"\}\]/;
const CONTROLLER_FIELD =
  /^\.status\.(observedGeneration|reconciledAt|source|renderRef|waves|pin|lifecycle|resolvedRetentionPolicy|renders)\b/;

/** The one owner that design.md's table gives to a path of a Release's status; undefined = not in the table. */
export function statusOwner(path: string): string | undefined {
  if (CONTROLLER_CONDITION.test(path) || CONTROLLER_FIELD.test(path)) return "convoy-release-controller";
  if (path.startsWith('.status.conditions[{"type":"InSync"}]')) return "convoy-drift";
  if (path.startsWith('.status.conditions[{"type":"Healthy"}]') || path.startsWith(".status.healthSummary")) {
    return "convoy-health";
  }
  return undefined;
}

/** The owners that design.md's table allows for a path of an inventory: one for a field, several for keys. */
export function inventoryOwners(path: string): string[] | undefined {
  const entry = /^\.inventory\[\{.*?\}\](.*)$/.exec(path);
  if (entry) {
    const field = entry[1]!;
    if (field === "" || /^\.(group|kind|namespace|name)$/.test(field)) {
      return ["convoy-release-inventory", "convoy-health", "convoy-drift"];
    }
    if (/^\.(version|renderRef|wave)$/.test(field)) return ["convoy-release-inventory"];
    if (/^\.(state|message|assessedRenderRef)$/.test(field)) return ["convoy-health"];
    if (/^\.drift\b/.test(field)) return ["convoy-drift"];
    return undefined;
  }
  const hook = /^\.hooks\[\{.*?\}\](.*)$/.exec(path);
  if (hook) {
    const field = hook[1]!;
    if (field === "" || /^\.(name|phase)$/.test(field)) return ["convoy-release-hooks", "convoy-health"];
    if (/^\.(renderRef|startedAt)$/.test(field)) return ["convoy-release-hooks"];
    if (/^\.(state|finishedAt|message)$/.test(field)) return ["convoy-health"];
    return undefined;
  }
  if (path.startsWith(".metadata.ownerReferences")) return ["convoy-release-inventory"];
  return undefined;
}

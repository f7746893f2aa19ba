/** Warnings about objects that are accepted all the same. @module */
import { isObject, type JsonObject, type JsonValue } from "../../json/mod.ts";
import { goQuote } from "../go_text.ts";
import type { Served } from "../registry.ts";
import { child, index } from "../schema/path.ts";

/** Fields that hold containers, wherever a pod spec is. */
const CONTAINERS = new Set(["containers", "initContainers", "ephemeralContainers"]);

/** Warnings of a built-in kind with a pod template: environment variables defined twice in one container. */
export function objectWarnings(served: Served, object: JsonObject, old: JsonObject | undefined): string[] {
  const { custom, def } = served.kind;
  // The cheap test first: only kinds that hold pod specs can have any.
  if (custom || !(isObject(object.spec) || isObject(object.template))) return [];
  // Workloads are looked at again only when their desired state changed.
  if (old && isObject(object.spec) && !def.noGeneration && generation(object) === generation(old)) return [];
  const warnings: string[] = [];
  for (const key of ["spec", "template"]) if (isObject(object[key])) search(object[key], key, warnings);
  return warnings;
}

function generation(object: JsonObject): JsonValue | undefined {
  return isObject(object.metadata) ? object.metadata.generation : undefined;
}

/** Pod specs lie at `spec`, `template.spec`, `jobTemplate.spec.template.spec`: nothing else is walked. */
function search(value: JsonObject, path: string, warnings: string[]): void {
  for (const key of Object.keys(value)) {
    const inner = value[key];
    if (CONTAINERS.has(key) && Array.isArray(inner)) {
      inner.forEach((c, i) => isObject(c) && duplicateEnv(c, index(child(path, key), i), warnings));
    } else if ((key === "template" || key === "jobTemplate" || key === "spec") && isObject(inner)) {
      search(inner, child(path, key), warnings);
    }
  }
}

function duplicateEnv(container: JsonObject, path: string, warnings: string[]): void {
  if (!Array.isArray(container.env)) return;
  const seen = new Set<JsonValue>();
  container.env.forEach((item, i) => {
    if (!isObject(item) || item.name === undefined) return;
    if (seen.has(item.name)) {
      warnings.push(
        `${path}.env[${i}]: hides previous definition of ${
          goQuote(String(item.name))
        }, which may be dropped when using apply`,
      );
    } else seen.add(item.name);
  });
}

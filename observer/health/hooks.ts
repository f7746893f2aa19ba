/** Hooks: what a live Job or Pod says about a hook that was started. @module */
import type { HookRecord } from "../../shared/api/mod.ts";
import { assess } from "../../shared/health/mod.ts";
import { type AssessedHook, hookId } from "../../shared/inventory/mod.ts";
import { isObject } from "../../shared/json/mod.ts";
import type { Unstructured } from "../../shared/kube/mod.ts";
import { rfc3339 } from "../../shared/runtime/clock.ts";

/** Annotation of an object that is a hook: its phase, or several with commas. */
export const HOOK_ANNOTATION = "convoy.kumodo.io/hook";

/** Kinds that a hook may be; watched while a hook is not finished. */
export const HOOK_KINDS = [
  { group: "batch", kind: "Job", namespace: "", name: "", version: "v1" },
  { group: "", kind: "Pod", namespace: "", name: "", version: "v1" },
] as const;

/** Ids of the hooks that the object is; none for other objects. */
export function hooksOf(object: Unstructured): string[] {
  const phases = object.metadata.annotations?.[HOOK_ANNOTATION];
  if (!phases) return [];
  return phases.split(",").map((phase) =>
    hookId({ name: object.metadata.name, phase: phase.trim() as HookRecord["phase"] })
  );
}

/**
 * What to record of the hooks that were started and are not finished. A finished one keeps what is recorded, also when
 * its Job is gone since.
 *
 * @param live live objects by {@link hookId}; undefined = it was there and is gone
 * @param now ms
 */
export function assessHooks(
  hooks: readonly HookRecord[],
  live: ReadonlyMap<string, Unstructured | undefined>,
  now: number,
): AssessedHook[] {
  return hooks.flatMap((hook): AssessedHook[] => {
    const id = hookId(hook);
    if (!hook.startedAt || hook.finishedAt || !live.has(id)) return [];
    const { name, phase } = hook;
    const object = live.get(id);
    if (!object) {
      const message = "its object was deleted before it had finished";
      return [{ name, phase, state: "Failed", finishedAt: rfc3339(now), message }];
    }
    const { state, message } = assess(object, { now });
    if (state !== "Healthy" && state !== "Degraded") {
      return [{ name, phase, state: "Running", ...(message ? { message } : {}) }];
    }
    return [{
      name,
      phase,
      state: state === "Healthy" ? "Succeeded" : "Failed",
      finishedAt: finishedAt(object) ?? rfc3339(now),
      ...(message ? { message } : {}),
    }];
  });
}

/** When a Job ended, by its own word. */
function finishedAt(object: Unstructured): string | undefined {
  const conditions = isObject(object.status) && Array.isArray(object.status.conditions) ? object.status.conditions : [];
  for (const c of conditions) {
    if (!isObject(c) || c.status !== "True" || (c.type !== "Complete" && c.type !== "Failed")) continue;
    if (typeof c.lastTransitionTime === "string" && !Number.isNaN(Date.parse(c.lastTransitionTime))) {
      return c.lastTransitionTime;
    }
  }
  return undefined;
}

/** Reading live objects without trusting their shape. @module */
import { isObject, type JsonObject, type JsonValue } from "../json/mod.ts";
import { type Assessment, type HealthContext, STUCK_AFTER } from "./types.ts";

/** A condition, as far as it is well formed. */
export interface SeenCondition {
  type: string;
  status: string;
  reason: string;
  message: string;
  observedGeneration: number | undefined;
  /** ms */
  since: number | undefined;
}

/** The value at a path of own keys. */
export function at(value: JsonValue | undefined, ...path: string[]): JsonValue | undefined {
  for (const key of path) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** A number at a path; undefined when there is none. */
export function num(value: JsonValue | undefined, ...path: string[]): number | undefined {
  const v = at(value, ...path);
  return typeof v === "number" ? v : typeof v === "bigint" ? Number(v) : undefined;
}

/** A string at a path; "" when there is none. */
export function str(value: JsonValue | undefined, ...path: string[]): string {
  const v = at(value, ...path);
  return typeof v === "string" ? v : "";
}

/** The objects of a list at a path. */
export function items(value: JsonValue | undefined, ...path: string[]): JsonObject[] {
  const v = at(value, ...path);
  return Array.isArray(v) ? v.filter(isObject) : [];
}

/** The condition of that type in `status.conditions`. */
export function condition(object: JsonObject, type: string): SeenCondition | undefined {
  const found = items(object, "status", "conditions").find((c) => str(c, "type") === type);
  if (!found) return undefined;
  const since = Date.parse(str(found, "lastTransitionTime"));
  return {
    type,
    status: str(found, "status"),
    reason: str(found, "reason"),
    message: str(found, "message"),
    observedGeneration: num(found, "observedGeneration"),
    since: Number.isNaN(since) ? undefined : since,
  };
}

/** The condition when its status is the given one. */
export function conditionIs(
  object: JsonObject,
  type: string,
  status: "True" | "False" | "Unknown",
): SeenCondition | undefined {
  const c = condition(object, type);
  return c?.status === status ? c : undefined;
}

/** `Reason: message`, or what there is of it. */
export function said(c: SeenCondition): string {
  const text = c.message.replace(/\s+/g, " ").trim();
  if (!c.reason) return text || `${c.type} is ${c.status}`;
  return text && text !== c.reason ? `${c.reason}: ${text}` : c.reason;
}

/**
 * The status is about another spec (C21): `observedGeneration` differs from the generation, or is missing where the
 * kind's controller always sets it. undefined = the status may be read.
 */
export function staleStatus(object: JsonObject, alwaysSet: boolean): Assessment | undefined {
  const generation = num(object, "metadata", "generation");
  const observed = num(object, "status", "observedGeneration");
  if (observed === undefined) {
    return alwaysSet ? progressing("its controller has not looked at it yet") : undefined;
  }
  return generation === undefined || observed === generation
    ? undefined
    : progressing(`its controller has not seen generation ${generation} yet, only ${observed}`);
}

/** Progressing until it has lasted too long since `since`, then Degraded; asks to be looked at again at that moment. */
export function untilStuck(
  message: string,
  since: number | undefined,
  ctx: HealthContext,
  limit = STUCK_AFTER,
): Assessment {
  if (since === undefined || ctx.now === undefined) return progressing(message);
  const left = since + limit - ctx.now;
  return left > 0 ? { state: "Progressing", message, after: left } : degraded(message);
}

/** Healthy. */
export const healthy = (message = ""): Assessment => ({ state: "Healthy", message });
/** On its way. */
export const progressing = (message: string): Assessment => ({ state: "Progressing", message });
/** Broken. */
export const degraded = (message: string): Assessment => ({ state: "Degraded", message });
/** Stopped on purpose. */
export const suspended = (message: string): Assessment => ({ state: "Suspended", message });
/** Nobody can say. */
export const unknown = (message: string): Assessment => ({ state: "Unknown", message });

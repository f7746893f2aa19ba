/** zod pieces that several kinds use; the Kubernetes extensions ride in `.meta()`. @module */
import * as z from "zod";
import type { Condition } from "../kube/types.ts";

/** A whole number in int64 (`format: int64`) with optional bounds. */
export function int(min?: number, max?: number) {
  let n = z.number().meta({ type: "integer", format: "int64" });
  if (min !== undefined) n = n.min(min);
  if (max !== undefined) n = n.max(max);
  return n;
}

/** A Go duration such as `90s` or `1h30m`. */
export const duration = () =>
  z.string().regex(/^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/).meta({ description: "A duration such as 30s, 5m or 1h30m." });

/** metav1.Time. */
export const time = () => z.string().meta({ format: "date-time" });

/** Name of an object in the same namespace (DNS-1123 subdomain). */
export const objectName = () =>
  z.string().min(1).max(253).regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);

/** A list map (`x-kubernetes-list-type: map`). */
export function listMap<T extends z.ZodType>(item: T, ...keys: string[]) {
  return z.array(item).meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys });
}

/** A set of scalars (`x-kubernetes-list-type: set`). */
export function set<T extends z.ZodType>(item: T) {
  return z.array(item).meta({ "x-kubernetes-list-type": "set" });
}

/** A list that is replaced as a whole. */
export function atomicList<T extends z.ZodType>(item: T) {
  return z.array(item).meta({ "x-kubernetes-list-type": "atomic" });
}

/** Any JSON object, kept as it is. */
export const anyObject = () => z.looseObject({}).meta({ type: "object", "x-kubernetes-preserve-unknown-fields": true });

/** Any JSON value, kept as it is. */
export const anyValue = () => z.unknown().meta({ "x-kubernetes-preserve-unknown-fields": true });

/** A CEL rule on an object (`x-kubernetes-validations`). */
export interface CelRule {
  rule: string;
  message: string;
}

/** Adds CEL rules to a schema. */
export function withRules<T extends z.ZodType>(schema: T, ...rules: CelRule[]): T {
  return schema.meta({ ...(schema.meta() ?? {}), "x-kubernetes-validations": rules }) as T;
}

/** metav1.Condition. */
export const condition = z.object({
  type: z.string().min(1).max(316),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string().min(1).max(1024).regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/),
  message: z.string().max(32768),
  observedGeneration: int(0).optional(),
  lastTransitionTime: time(),
});
condition satisfies z.ZodType<unknown>;

/** `status.conditions`: a list map on type. */
export const conditions = () => listMap(condition, "type");

/** The condition as the rest of Convoy types it. */
export type { Condition };

/** Names a Secret in the same namespace. */
export const secretRef = z.object({ name: objectName() });

/** `spec` part that all sources share. */
export const sourceTiming = {
  interval: duration().default("1m").describe("How often the source is looked at."),
  timeout: duration().default("60s").describe("Limit of one fetch."),
  suspend: z.boolean().default(false).describe("Stops fetching; what was fetched stays."),
};

/** `status` of a source. */
export const sourceStatus = z.object({
  observedGeneration: int(0).optional(),
  conditions: conditions().optional(),
  artifact: z.object({
    digest: z.string(),
    revision: z.string(),
    url: z.string().optional(),
    lastUpdateTime: time(),
  }).optional(),
  lastFetchTime: time().optional(),
  observedRef: z.string().optional().describe("The ref that the artifact came from, such as refs/heads/main."),
});

/** Kinds of the platform: Namespace, CustomResourceDefinition, APIService, HorizontalPodAutoscaler, PDB. @module */
import type { JsonObject } from "../json/mod.ts";
import { condition, conditionIs, degraded, healthy, progressing, said, staleStatus, str, untilStuck } from "./read.ts";
import type { Assessment, HealthContext } from "./types.ts";

/** core Namespace. */
export function namespace(object: JsonObject): Assessment {
  return str(object, "status", "phase") === "Terminating" ? progressing("being deleted") : healthy();
}

/** apiextensions CustomResourceDefinition: usable once its names are accepted and it is Established. */
export function customResourceDefinition(object: JsonObject): Assessment {
  const refused = conditionIs(object, "NamesAccepted", "False");
  if (refused) return degraded(said(refused));
  const established = condition(object, "Established");
  if (established?.status === "True") return healthy("established");
  if (established?.status === "False" && established.reason !== "Installing") return degraded(said(established));
  return progressing("not established yet");
}

/** apiregistration APIService. */
export function apiService(object: JsonObject, ctx: HealthContext): Assessment {
  const available = condition(object, "Available");
  if (available?.status === "True") return healthy();
  return available ? untilStuck(said(available), available.since, ctx) : progressing("not available yet");
}

/**
 * autoscaling HorizontalPodAutoscaler. Metrics of new pods come late, so a failure to read them is broken only when it
 * lasts; scaling that is off because the target is at zero is no failure.
 */
export function horizontalPodAutoscaler(object: JsonObject, ctx: HealthContext): Assessment {
  const stale = staleStatus(object, false);
  if (stale) return stale;
  for (const type of ["AbleToScale", "ScalingActive"]) {
    const c = conditionIs(object, type, "False");
    if (c && c.reason !== "ScalingDisabled") return untilStuck(said(c), c.since, ctx);
  }
  return healthy();
}

/** policy PodDisruptionBudget: fine once computed, whatever it allows. */
export function podDisruptionBudget(object: JsonObject, ctx: HealthContext): Assessment {
  const stale = staleStatus(object, false);
  if (stale) return stale;
  const c = conditionIs(object, "DisruptionAllowed", "False");
  return c?.reason === "SyncFailed" ? untilStuck(said(c), c.since, ctx) : healthy();
}

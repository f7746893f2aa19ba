/** Health of one live object: a pure function. @module */
import { isObject, type JsonObject } from "../json/mod.ts";
import { parseApiVersion } from "../kube/types.ts";
import { generic } from "./generic.ts";
import {
  apiService,
  customResourceDefinition,
  horizontalPodAutoscaler,
  namespace,
  podDisruptionBudget,
} from "./platform.ts";
import { cronJob, job, pod } from "./pods.ts";
import { at, healthy, progressing, staleStatus, str, unknown } from "./read.ts";
import { ingress, persistentVolume, persistentVolumeClaim, service } from "./storage_network.ts";
import { type Assessment, type HealthContext, type KindRule, MAX_MESSAGE } from "./types.ts";
import { daemonSet, deployment, replicaSet, statefulSet } from "./workloads.ts";

/** `convoy.kumodo.io/health: Ignore` on an object: it exists, so it is Healthy. */
export const HEALTH_ANNOTATION = "convoy.kumodo.io/health";

const KINDS: ReadonlyMap<string, KindRule> = new Map<string, KindRule>([
  ["apps/Deployment", deployment],
  ["apps/ReplicaSet", replicaSet],
  ["apps/StatefulSet", statefulSet],
  ["apps/DaemonSet", daemonSet],
  ["/ReplicationController", replicaSet],
  ["/Pod", pod],
  ["batch/Job", job],
  ["batch/CronJob", cronJob],
  ["/PersistentVolumeClaim", persistentVolumeClaim],
  ["/PersistentVolume", persistentVolume],
  ["/Service", service],
  ["networking.k8s.io/Ingress", ingress],
  ["/Namespace", namespace],
  ["apiextensions.k8s.io/CustomResourceDefinition", customResourceDefinition],
  ["apiregistration.k8s.io/APIService", apiService],
  ["autoscaling/HorizontalPodAutoscaler", horizontalPodAutoscaler],
  ["policy/PodDisruptionBudget", podDisruptionBudget],
]);

/**
 * Assesses a live object; undefined = it is not on the cluster. Never throws: what an object says in an unexpected
 * shape counts as not said.
 *
 * Order: missing, being deleted, ignored by annotation, the Release's own CEL rules, the kind's built-in rule, the
 * generic rule (kstatus).
 */
export function assess(live: object | undefined, ctx: HealthContext = {}): Assessment {
  if (!isObject(live)) return { state: "Missing", message: "not on the cluster" };
  try {
    const result = judge(live, ctx);
    return { ...result, message: oneLine(result.message) };
  } catch (error) {
    return unknown(oneLine(`Cannot assess it: ${error instanceof Error ? error.message : String(error)}`));
  }
}

function judge(object: JsonObject, ctx: HealthContext): Assessment {
  if (str(object, "metadata", "deletionTimestamp")) {
    const finalizers = at(object, "metadata", "finalizers");
    const names = Array.isArray(finalizers) ? finalizers.filter((f) => typeof f === "string") : [];
    return progressing(names.length ? `being deleted, waits for ${names.join(", ")}` : "being deleted");
  }
  if (str(object, "metadata", "annotations", HEALTH_ANNOTATION).toLowerCase() === "ignore") {
    return healthy("not assessed, as its annotation asks");
  }
  const { group } = parseApiVersion(str(object, "apiVersion"));
  const kind = str(object, "kind");
  if (ctx.rules?.covers(group, kind)) {
    // Even a rule of the user's own may not read an old status as an answer about the new spec.
    const result = staleStatus(object, false) ?? ctx.rules.apply(group, kind, object);
    if (result) return result;
  }
  return (KINDS.get(`${group}/${kind}`) ?? generic)(object, ctx);
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE - 1)}…` : line;
}

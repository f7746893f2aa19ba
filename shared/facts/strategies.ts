/**
 * What the OpenAPI document does not tell of the built-in kinds, by `group/kind`: hooks into the write path, generation,
 * unconditional update, create on update, names. From the strategies of kube-apiserver 1.36.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../json/mod.ts";
import type { KindDefinition, KindStrategy } from "../server/contract.ts";
import { cronJob, job } from "./batch.ts";
import { configMap, event, limitRange, namespace, node, regardingEvent, secret } from "./config.ts";
import { asObject, fill, objectsIn } from "./fields.ts";
import * as policies from "./policies.ts";
import { endpoints, endpointSlice, service } from "./services.ts";
import { csiDriver, persistentVolume, persistentVolumeClaim, storageClass } from "./volumes.ts";
import * as workloads from "./workloads.ts";

/** The part of a KindDefinition that comes from this table. */
export type KindRules =
  & Pick<
    KindDefinition,
    "noGeneration" | "generationOnAnnotations" | "allowUnconditionalUpdate" | "createOnUpdate" | "nameRule"
  >
  & { strategy?: KindStrategy };

const plain: KindRules = { noGeneration: true };
const rbac: KindRules = { noGeneration: true, createOnUpdate: true, nameRule: "pathSegment" };

const RULES: Readonly<Record<string, KindRules>> = {
  "/Namespace": { ...plain, nameRule: "dns1123Label", strategy: namespace },
  "/Secret": { ...plain, strategy: secret },
  "/ConfigMap": { ...plain, strategy: configMap },
  "/Event": { ...plain, createOnUpdate: true, strategy: event },
  "/Pod": { strategy: workloads.pod },
  "/Service": { ...plain, createOnUpdate: true, nameRule: "dns1123Label", strategy: service },
  "/ServiceAccount": plain,
  "/PersistentVolume": { ...plain, strategy: persistentVolume },
  "/PersistentVolumeClaim": { ...plain, strategy: persistentVolumeClaim },
  "/Node": { ...plain, strategy: node },
  "/Endpoints": { ...plain, createOnUpdate: true, strategy: endpoints },
  "/LimitRange": { ...plain, createOnUpdate: true, strategy: limitRange },
  "/ResourceQuota": plain,
  "/ReplicationController": { strategy: workloads.replicationController },
  "/PodTemplate": { strategy: workloads.podTemplate },
  "apps/Deployment": { generationOnAnnotations: true, strategy: workloads.deployment },
  "apps/StatefulSet": { strategy: workloads.statefulSet },
  "apps/DaemonSet": { strategy: workloads.daemonSet },
  "apps/ReplicaSet": { strategy: workloads.replicaSet },
  "apps/ControllerRevision": plain,
  "batch/Job": { strategy: job },
  "batch/CronJob": { strategy: cronJob },
  "rbac.authorization.k8s.io/Role": rbac,
  "rbac.authorization.k8s.io/ClusterRole": rbac,
  "rbac.authorization.k8s.io/RoleBinding": { ...rbac, strategy: policies.roleBinding },
  "rbac.authorization.k8s.io/ClusterRoleBinding": { ...rbac, strategy: policies.roleBinding },
  "networking.k8s.io/Ingress": { strategy: policies.ingress },
  "networking.k8s.io/IngressClass": { strategy: policies.ingressClass },
  "networking.k8s.io/NetworkPolicy": { strategy: policies.networkPolicy },
  "policy/PodDisruptionBudget": { allowUnconditionalUpdate: false, strategy: policies.podDisruptionBudget },
  "autoscaling/HorizontalPodAutoscaler": { ...plain, strategy: policies.horizontalPodAutoscaler },
  "apiextensions.k8s.io/CustomResourceDefinition": {
    allowUnconditionalUpdate: false,
    strategy: policies.customResourceDefinition,
  },
  "storage.k8s.io/StorageClass": { ...plain, strategy: storageClass },
  "storage.k8s.io/CSIDriver": { ...plain, allowUnconditionalUpdate: false, strategy: csiDriver },
  "coordination.k8s.io/Lease": { ...plain, createOnUpdate: true, allowUnconditionalUpdate: false },
  "events.k8s.io/Event": { ...plain, createOnUpdate: true, strategy: regardingEvent },
  "scheduling.k8s.io/PriorityClass": { strategy: policies.priorityClass },
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": {
    allowUnconditionalUpdate: false,
    strategy: policies.validatingWebhooks,
  },
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": {
    allowUnconditionalUpdate: false,
    strategy: policies.mutatingWebhooks,
  },
  "discovery.k8s.io/EndpointSlice": { strategy: endpointSlice },
  "apiregistration.k8s.io/APIService": {
    ...plain,
    allowUnconditionalUpdate: false,
    strategy: policies.apiService,
  },
};

/** What the Go types of a kind's status write whether set or not. */
export interface StatusFacts {
  /** Time fields of `status.conditions[]`: null when unset. */
  conditionTimes: readonly string[];
  /** Fields of `status` with the value they have when unset. */
  zeros: readonly (readonly [string, JsonValue])[];
}

/** Rules of one kind. */
export function rulesOf(group: string, kind: string, facts: StatusFacts): KindRules {
  const rules = RULES[`${group}/${kind}`] ?? {};
  if (facts.conditionTimes.length === 0 && facts.zeros.length === 0) return rules;
  const { prepare, ...rest } = rules.strategy ?? {};
  return {
    ...rules,
    strategy: {
      ...rest,
      prepare(object, old) {
        prepare?.(object, old);
        fillStatus(object, facts);
      },
    },
  };
}

function fillStatus(object: JsonObject, { conditionTimes, zeros }: StatusFacts): void {
  const status = asObject(object["status"]);
  if (!status) return;
  for (const [field, value] of zeros) fill(status, field, structuredClone(value));
  for (const condition of objectsIn(status, "conditions")) {
    for (const field of conditionTimes) fill(condition, field, null);
  }
}

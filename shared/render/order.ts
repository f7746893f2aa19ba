/** The order in which objects are applied: what others need comes first (C14). @module */
import { parseApiVersion, type Unstructured } from "../kube/mod.ts";

/** Kinds by rank, as `group/Kind`: a vendor's kind of the same name is not meant. */
const RANKS: readonly (readonly string[])[] = [
  ["/Namespace"],
  ["apiextensions.k8s.io/CustomResourceDefinition"],
  [
    "scheduling.k8s.io/PriorityClass",
    "storage.k8s.io/StorageClass",
    "storage.k8s.io/CSIDriver",
    "node.k8s.io/RuntimeClass",
    "networking.k8s.io/IngressClass",
  ],
  ["/ResourceQuota", "/LimitRange", "networking.k8s.io/NetworkPolicy", "policy/PodDisruptionBudget"],
  ["/ServiceAccount"],
  ["/Secret", "/ConfigMap"],
  ["/PersistentVolume", "/PersistentVolumeClaim"],
  ["rbac.authorization.k8s.io/ClusterRole", "rbac.authorization.k8s.io/Role"],
  ["rbac.authorization.k8s.io/ClusterRoleBinding", "rbac.authorization.k8s.io/RoleBinding"],
  ["/Service"],
  ["apps/DaemonSet", "/Pod", "/ReplicationController", "apps/ReplicaSet", "apps/Deployment", "apps/StatefulSet"],
  ["autoscaling/HorizontalPodAutoscaler", "batch/Job", "batch/CronJob"],
  ["networking.k8s.io/Ingress"],
];
/** They act on all that comes after them, and need something that answers: last. */
const LAST = [
  "apiregistration.k8s.io/APIService",
  "admissionregistration.k8s.io/MutatingWebhookConfiguration",
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration",
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy",
  "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding",
];

const rankOf = new Map<string, number>();
RANKS.forEach((kinds, rank) => kinds.forEach((kind) => rankOf.set(kind, rank)));
LAST.forEach((kind) => rankOf.set(kind, RANKS.length + 1));

/** Place of a kind in the order; kinds that are not built in come after workloads. Namespace 0, CRD 1. */
export function applyRank(group: string, kind: string): number {
  return rankOf.get(`${group}/${kind}`) ?? RANKS.length;
}

/** Objects in the order of apply; of one rank, as they came. */
export function applyOrder<T extends Pick<Unstructured, "apiVersion" | "kind">>(objects: readonly T[]): T[] {
  return objects.map((object, at) => ({
    object,
    at,
    rank: applyRank(parseApiVersion(object.apiVersion).group, object.kind),
  }))
    .sort((a, b) => a.rank - b.rank || a.at - b.at).map(({ object }) => object);
}

/** Objects in the order of deletion: the reverse. */
export function deleteOrder<T extends Pick<Unstructured, "apiVersion" | "kind">>(objects: readonly T[]): T[] {
  return applyOrder(objects).reverse();
}

/** The kinds that controllers of a simulated cluster deal with. @module */
import type { Place } from "./contract.ts";

function place(group: string, plural: string, kind: string, namespaced = true): Place {
  return { group, version: "v1", plural, kind, namespaced };
}

/** By kind. */
export const PLACES = {
  Namespace: place("", "namespaces", "Namespace", false),
  Node: place("", "nodes", "Node", false),
  Pod: place("", "pods", "Pod"),
  Service: place("", "services", "Service"),
  ServiceAccount: place("", "serviceaccounts", "ServiceAccount"),
  PersistentVolume: place("", "persistentvolumes", "PersistentVolume", false),
  PersistentVolumeClaim: place("", "persistentvolumeclaims", "PersistentVolumeClaim"),
  ReplicationController: place("", "replicationcontrollers", "ReplicationController"),
  Deployment: place("apps", "deployments", "Deployment"),
  StatefulSet: place("apps", "statefulsets", "StatefulSet"),
  DaemonSet: place("apps", "daemonsets", "DaemonSet"),
  ReplicaSet: place("apps", "replicasets", "ReplicaSet"),
  Job: place("batch", "jobs", "Job"),
  Ingress: place("networking.k8s.io", "ingresses", "Ingress"),
  PodDisruptionBudget: place("policy", "poddisruptionbudgets", "PodDisruptionBudget"),
  StorageClass: place("storage.k8s.io", "storageclasses", "StorageClass", false),
  APIService: place("apiregistration.k8s.io", "apiservices", "APIService", false),
} as const satisfies Record<string, Place>;

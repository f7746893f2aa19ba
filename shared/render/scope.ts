/** Whether a kind is namespaced. @module */
import { isObject } from "../json/mod.ts";
import { parseApiVersion, type Unstructured } from "../kube/mod.ts";

/** Of a kind. */
export type Scope = "Namespaced" | "Cluster";
/** Asks the target; undefined = it does not know the kind. */
export type ScopeOf = (group: string, kind: string) => Scope | undefined | Promise<Scope | undefined>;

/** Cluster-scoped kinds that every Kubernetes has: their scope needs no question to the target. */
const CLUSTER = new Set(
  [
    "/Namespace",
    "/Node",
    "/PersistentVolume",
    "apiextensions.k8s.io/CustomResourceDefinition",
    "apiregistration.k8s.io/APIService",
    "admissionregistration.k8s.io/MutatingWebhookConfiguration",
    "admissionregistration.k8s.io/ValidatingWebhookConfiguration",
    "admissionregistration.k8s.io/ValidatingAdmissionPolicy",
    "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding",
    "certificates.k8s.io/CertificateSigningRequest",
    "flowcontrol.apiserver.k8s.io/FlowSchema",
    "flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration",
    "networking.k8s.io/IngressClass",
    "node.k8s.io/RuntimeClass",
    "rbac.authorization.k8s.io/ClusterRole",
    "rbac.authorization.k8s.io/ClusterRoleBinding",
    "scheduling.k8s.io/PriorityClass",
    "storage.k8s.io/CSIDriver",
    "storage.k8s.io/CSINode",
    "storage.k8s.io/StorageClass",
    "storage.k8s.io/VolumeAttachment",
  ],
);
/** Groups whose other kinds are all namespaced. */
const BUILT_IN = new Set([
  "",
  "apps",
  "autoscaling",
  "batch",
  "coordination.k8s.io",
  "discovery.k8s.io",
  "policy",
  "rbac.authorization.k8s.io",
]);

/** Scope by what is known without the target: built-in kinds, and CustomResourceDefinitions among the objects. */
export function knownScopes(objects: readonly Unstructured[]): (group: string, kind: string) => Scope | undefined {
  const defined = new Map<string, Scope>();
  for (const object of objects) {
    const spec = object.spec;
    if (object.kind !== "CustomResourceDefinition" || !isObject(spec) || !isObject(spec.names)) continue;
    if (parseApiVersion(object.apiVersion).group !== "apiextensions.k8s.io") continue;
    if (spec.scope !== "Namespaced" && spec.scope !== "Cluster") continue;
    defined.set(`${String(spec.group)}/${String(spec.names.kind)}`, spec.scope);
  }
  return (group, kind) => {
    const key = `${group}/${kind}`;
    if (CLUSTER.has(key)) return "Cluster";
    return defined.get(key) ?? (BUILT_IN.has(group) ? "Namespaced" : undefined);
  };
}

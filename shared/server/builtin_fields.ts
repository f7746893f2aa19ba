/** Fields that field selectors of built-in kinds may name, as kube-apiserver has them. @module */

const FIELDS: Record<string, readonly string[]> = {
  "/Event": [
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source.component",
    "type",
  ],
  "events.k8s.io/Event": ["regarding.kind", "regarding.namespace", "regarding.name", "regarding.uid", "reason", "type"],
  "/Namespace": ["status.phase"],
  "/Node": ["spec.unschedulable"],
  "/Pod": [
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
  ],
  "/ReplicationController": ["status.replicas"],
  "/Secret": ["type"],
  "/Service": ["spec.clusterIP", "spec.type"],
  "apps/ReplicaSet": ["status.replicas"],
  "batch/Job": ["status.successful"],
};

/** The selectable fields of a built-in kind beyond its name and namespace. */
export function builtinFields(group: string, kind: string): readonly string[] {
  return FIELDS[`${group}/${kind}`] ?? [];
}

/** Printer columns of built-in kinds, as `kubectl get` shows them. NAME is added by the server. @module */
import type { JsonObject, JsonValue } from "../json/mod.ts";
import type { PrinterColumn } from "../server/contract.ts";
import { asObject, numberIn, objectAt, objectsIn, stringIn } from "./fields.ts";
import { endpointsText, eventObject, loadBalancerAddress, podReady, podRestarts, podStatus, ports } from "./cells.ts";
import { hpaTargets, jobDuration, jobStatus, nodeRoles, nodeStatus, selectorText, since, subjects } from "./cells.ts";

type Cell = (object: JsonObject, now: number) => string | number | boolean | null;

function cell(name: string, f: Cell, type: PrinterColumn["type"] = "string"): PrinterColumn {
  return { name, type, jsonPath: "", cell: f };
}

function wide(...columns: PrinterColumn[]): PrinterColumn[] {
  return columns.map((c) => ({ ...c, priority: 1 }));
}

const age: PrinterColumn = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** Text at a path; `fallback` when there is none. */
function text(name: string, path: string, fallback = ""): PrinterColumn {
  const steps = path.split(".");
  const last = steps.pop()!;
  return cell(name, (o) => {
    const value = objectAt(o, ...steps)?.[last];
    return value === undefined || value === null || value === "" ? fallback : plain(value);
  });
}

function integer(name: string, path: string): PrinterColumn {
  const steps = path.split(".");
  const last = steps.pop()!;
  return cell(name, (o) => numberIn(objectAt(o, ...steps), last), "integer");
}

function plain(value: JsonValue): string | number | boolean {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return Array.isArray(value) ? value.map((v) => String(v)).join(",") : String(value);
}

function count(o: JsonObject, ...fields: string[]): number {
  return fields.reduce((n, f) => n + Object.keys(asObject(o[f]) ?? {}).length, 0);
}

function templateColumns(specOf: (o: JsonObject) => JsonObject | undefined, selector = true): PrinterColumn[] {
  const containers = (o: JsonObject, field: string) =>
    objectsIn(specOf(o), "containers").map((c) => stringIn(c, field)).join(",");
  const columns = [cell("Containers", (o) => containers(o, "name")), cell("Images", (o) => containers(o, "image"))];
  if (selector) {
    columns.push(cell("Selector", (o) => selectorText(objectAt(o, "spec", "selector"))));
  }
  return wide(...columns);
}

const podSpecOf = (o: JsonObject) => objectAt(o, "spec", "template", "spec");

const replicaColumns = [
  integer("Desired", "spec.replicas"),
  integer("Current", "status.replicas"),
  integer("Ready", "status.readyReplicas"),
  age,
  ...templateColumns(podSpecOf),
];

const bindingColumns = [
  cell("Role", (o) => `${stringIn(objectAt(o, "roleRef"), "kind")}/${stringIn(objectAt(o, "roleRef"), "name")}`),
  age,
  ...wide(
    cell("Users", (o) => subjects(o, "User")),
    cell("Groups", (o) => subjects(o, "Group")),
    cell("ServiceAccounts", (o) => subjects(o, "ServiceAccount")),
  ),
];

const webhookColumns = [cell("Webhooks", (o) => objectsIn(o, "webhooks").length, "integer"), age];

const readyOf = (o: JsonObject) =>
  `${numberIn(objectAt(o, "status"), "readyReplicas")}/${numberIn(objectAt(o, "spec"), "replicas")}`;

const accessModes = (o: JsonObject, ...path: string[]) => {
  const short: Record<string, string> = {
    ReadWriteOnce: "RWO",
    ReadOnlyMany: "ROX",
    ReadWriteMany: "RWX",
    ReadWriteOncePod: "RWOP",
  };
  const modes = objectAt(o, ...path)?.["accessModes"];
  return Array.isArray(modes) ? modes.map((m) => short[String(m)] ?? String(m)).join(",") : "";
};

/** Columns by `group/kind`; kinds that are not here show NAME and AGE, as on the real server. */
export const COLUMNS: Readonly<Record<string, PrinterColumn[]>> = {
  "/Pod": [
    cell("Ready", podReady),
    cell("Status", podStatus),
    cell("Restarts", podRestarts),
    age,
    ...wide(
      text("IP", "status.podIP", "<none>"),
      text("Node", "spec.nodeName", "<none>"),
      text("Nominated Node", "status.nominatedNodeName", "<none>"),
      cell("Readiness Gates", () => "<none>"),
    ),
  ],
  "/PodTemplate": [
    ...templateColumns((o) => objectAt(o, "template", "spec"), false).map(({ priority: _, ...c }) => c),
    cell("Pod Labels", (o) => selectorText(objectAt(o, "template", "metadata", "labels"))),
  ],
  "/ReplicationController": replicaColumns,
  "/Service": [
    text("Type", "spec.type"),
    text("Cluster-IP", "spec.clusterIP", "<none>"),
    cell("External-IP", loadBalancerAddress),
    cell("Port(s)", ports),
    age,
    ...wide(cell("Selector", (o) => selectorText(objectAt(o, "spec", "selector")))),
  ],
  "/Endpoints": [cell("Endpoints", endpointsText), age],
  "/Node": [
    cell("Status", nodeStatus),
    cell("Roles", nodeRoles),
    age,
    text("Version", "status.nodeInfo.kubeletVersion"),
    ...wide(
      text("OS-Image", "status.nodeInfo.osImage", "<unknown>"),
      text("Kernel-Version", "status.nodeInfo.kernelVersion", "<unknown>"),
      text("Container-Runtime", "status.nodeInfo.containerRuntimeVersion", "<unknown>"),
    ),
  ],
  "/Event": [
    cell("Last Seen", (o, now) => since(o["lastTimestamp"] ?? o["eventTime"], now)),
    text("Type", "type"),
    text("Reason", "reason"),
    cell("Object", eventObject),
    ...wide(text("Subobject", "involvedObject.fieldPath"), text("Source", "source.component")),
    cell("Message", (o) => stringIn(o, "message").trim()),
    ...wide(
      cell("First Seen", (o, now) => since(o["firstTimestamp"] ?? o["eventTime"], now)),
      integer("Count", "count"),
    ),
    ...wide({ name: "Name", type: "string", jsonPath: ".metadata.name" }),
  ],
  "/Namespace": [text("Status", "status.phase"), age],
  "/Secret": [text("Type", "type"), cell("Data", (o) => count(o, "data"), "integer"), age],
  "/ConfigMap": [cell("Data", (o) => count(o, "data", "binaryData"), "integer"), age],
  "/ServiceAccount": [age],
  "/PersistentVolume": [
    text("Capacity", "spec.capacity.storage"),
    cell("Access Modes", (o) => accessModes(o, "spec")),
    text("Reclaim Policy", "spec.persistentVolumeReclaimPolicy"),
    text("Status", "status.phase"),
    cell("Claim", (o) => {
      const ref = objectAt(o, "spec", "claimRef");
      return ref ? `${stringIn(ref, "namespace")}/${stringIn(ref, "name")}` : "";
    }),
    text("StorageClass", "spec.storageClassName"),
    text("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>"),
    text("Reason", "status.reason"),
    age,
    ...wide(text("VolumeMode", "spec.volumeMode")),
  ],
  "/PersistentVolumeClaim": [
    text("Status", "status.phase"),
    text("Volume", "spec.volumeName"),
    text("Capacity", "status.capacity.storage"),
    cell("Access Modes", (o) => accessModes(o, "status")),
    text("StorageClass", "spec.storageClassName"),
    text("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>"),
    age,
    ...wide(text("VolumeMode", "spec.volumeMode")),
  ],
  "/ResourceQuota": [age],
  "apps/Deployment": [
    cell("Ready", readyOf),
    integer("Up-to-date", "status.updatedReplicas"),
    integer("Available", "status.availableReplicas"),
    age,
    ...templateColumns(podSpecOf),
  ],
  "apps/StatefulSet": [cell("Ready", readyOf), age, ...templateColumns(podSpecOf, false)],
  "apps/ReplicaSet": replicaColumns,
  "apps/DaemonSet": [
    integer("Desired", "status.desiredNumberScheduled"),
    integer("Current", "status.currentNumberScheduled"),
    integer("Ready", "status.numberReady"),
    integer("Up-to-date", "status.updatedNumberScheduled"),
    integer("Available", "status.numberAvailable"),
    cell("Node Selector", (o) => selectorText(objectAt(podSpecOf(o), "nodeSelector"))),
    age,
    ...templateColumns(podSpecOf),
  ],
  "apps/ControllerRevision": [
    cell("Controller", (o) => {
      const owner = objectsIn(objectAt(o, "metadata"), "ownerReferences").find((r) => r["controller"] === true);
      return owner ? `${stringIn(owner, "kind").toLowerCase()}.apps/${stringIn(owner, "name")}` : "<none>";
    }),
    integer("Revision", "revision"),
    age,
  ],
  "batch/Job": [
    cell("Status", jobStatus),
    cell(
      "Completions",
      (o) =>
        `${numberIn(objectAt(o, "status"), "succeeded")}/${
          objectAt(o, "spec")?.["completions"] ?? `1 of ${numberIn(objectAt(o, "spec"), "parallelism", 1)}`
        }`,
    ),
    cell("Duration", jobDuration),
    age,
    ...templateColumns(podSpecOf),
  ],
  "batch/CronJob": [
    text("Schedule", "spec.schedule"),
    text("Timezone", "spec.timeZone", "<none>"),
    cell("Suspend", (o) => objectAt(o, "spec")?.["suspend"] === true, "boolean"),
    cell("Active", (o) => objectsIn(objectAt(o, "status"), "active").length, "integer"),
    cell("Last Schedule", (o, now) => {
      const time = objectAt(o, "status")?.["lastScheduleTime"];
      return time ? since(time, now) : "<none>";
    }),
    age,
    ...templateColumns((o) => objectAt(o, "spec", "jobTemplate", "spec", "template", "spec"), false),
  ],
  "networking.k8s.io/Ingress": [
    text("Class", "spec.ingressClassName", "<none>"),
    cell(
      "Hosts",
      (o) => objectsIn(objectAt(o, "spec"), "rules").map((r) => stringIn(r, "host") || "*").join(",") || "*",
    ),
    cell(
      "Address",
      (o) =>
        objectsIn(objectAt(o, "status", "loadBalancer"), "ingress").map((i) =>
          stringIn(i, "ip") || stringIn(i, "hostname")
        )
          .filter((a) => a).join(","),
    ),
    cell("Ports", (o) => objectsIn(objectAt(o, "spec"), "tls").length > 0 ? "80, 443" : "80"),
    age,
  ],
  "networking.k8s.io/IngressClass": [
    text("Controller", "spec.controller"),
    cell("Parameters", (o) => {
      const p = objectAt(o, "spec", "parameters");
      return p
        ? `${stringIn(p, "kind")}${stringIn(p, "apiGroup") ? `.${stringIn(p, "apiGroup")}` : ""}/${stringIn(p, "name")}`
        : "<none>";
    }),
    age,
  ],
  "networking.k8s.io/NetworkPolicy": [
    cell("Pod-Selector", (o) => selectorText(objectAt(o, "spec", "podSelector"))),
    age,
  ],
  "policy/PodDisruptionBudget": [
    text("Min Available", "spec.minAvailable", "N/A"),
    text("Max Unavailable", "spec.maxUnavailable", "N/A"),
    integer("Allowed Disruptions", "status.disruptionsAllowed"),
    age,
  ],
  "autoscaling/HorizontalPodAutoscaler": [
    cell("Reference", (o) => {
      const ref = objectAt(o, "spec", "scaleTargetRef");
      return `${stringIn(ref, "kind")}/${stringIn(ref, "name")}`;
    }),
    cell("Targets", hpaTargets),
    text("MinPods", "spec.minReplicas", "<unset>"),
    integer("MaxPods", "spec.maxReplicas"),
    integer("Replicas", "status.currentReplicas"),
    age,
  ],
  "rbac.authorization.k8s.io/Role": [
    { name: "Created At", type: "string", jsonPath: ".metadata.creationTimestamp" },
  ],
  "rbac.authorization.k8s.io/ClusterRole": [
    { name: "Created At", type: "string", jsonPath: ".metadata.creationTimestamp" },
  ],
  "rbac.authorization.k8s.io/RoleBinding": bindingColumns,
  "rbac.authorization.k8s.io/ClusterRoleBinding": bindingColumns,
  "apiextensions.k8s.io/CustomResourceDefinition": [
    { name: "Created At", type: "string", jsonPath: ".metadata.creationTimestamp" },
  ],
  "storage.k8s.io/StorageClass": [
    text("Provisioner", "provisioner"),
    text("ReclaimPolicy", "reclaimPolicy", "Delete"),
    text("VolumeBindingMode", "volumeBindingMode", "<unset>"),
    cell("AllowVolumeExpansion", (o) => String(o["allowVolumeExpansion"] === true)),
    age,
  ],
  "storage.k8s.io/CSIDriver": [
    cell("AttachRequired", (o) => objectAt(o, "spec")?.["attachRequired"] === true, "boolean"),
    cell("PodInfoOnMount", (o) => objectAt(o, "spec")?.["podInfoOnMount"] === true, "boolean"),
    cell("StorageCapacity", (o) => objectAt(o, "spec")?.["storageCapacity"] === true, "boolean"),
    text("Modes", "spec.volumeLifecycleModes", "<none>"),
    age,
  ],
  "coordination.k8s.io/Lease": [text("Holder", "spec.holderIdentity"), age],
  "scheduling.k8s.io/PriorityClass": [
    integer("Value", "value"),
    cell("Global-Default", (o) => o["globalDefault"] === true, "boolean"),
    age,
    text("PreemptionPolicy", "preemptionPolicy"),
  ],
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": webhookColumns,
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": webhookColumns,
  "discovery.k8s.io/EndpointSlice": [
    text("AddressType", "addressType"),
    cell("Ports", (o) => objectsIn(o, "ports").map((p) => String(p["port"] ?? "*")).join(",") || "<unset>"),
    cell(
      "Endpoints",
      (o) =>
        objectsIn(o, "endpoints").flatMap((e) => Array.isArray(e["addresses"]) ? e["addresses"].map(String) : []).slice(
          0,
          3,
        )
          .join(",") || "<unset>",
    ),
    age,
  ],
  "apiregistration.k8s.io/APIService": [
    cell("Service", (o) => {
      const ref = objectAt(o, "spec", "service");
      return ref ? `${stringIn(ref, "namespace")}/${stringIn(ref, "name")}` : "Local";
    }),
    cell("Available", (o) => {
      const available = objectsIn(objectAt(o, "status"), "conditions").find((c) => c["type"] === "Available");
      const status = stringIn(available, "status") || "Unknown";
      return status === "True" || !stringIn(available, "reason")
        ? status
        : `${status} (${stringIn(available, "reason")})`;
    }),
    age,
  ],
};

/** Columns of a kind, NAME left out. */
export function columnsOf(group: string, kind: string): PrinterColumn[] {
  return COLUMNS[`${group}/${kind}`] ?? (group === "events.k8s.io" ? COLUMNS["/Event"]! : [age]);
}

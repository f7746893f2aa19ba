/** Manifests that reach as many defaults as they can: compared with the answers of a real kube-apiserver. @module */
import type { JsonObject } from "../json/mod.ts";

const POD: JsonObject = {
  serviceAccountName: "default",
  initContainers: [{ name: "init", image: "busybox", command: ["true"] }],
  containers: [
    {
      name: "a",
      image: "registry:5000/app@sha256:" + "0".repeat(64),
      ports: [{ containerPort: 80 }, { name: "dns", containerPort: 53, protocol: "UDP" }],
      env: [{ name: "N", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }, {
        name: "S",
        valueFrom: { secretKeyRef: { name: "s", key: "k" } },
      }],
      resources: { limits: { memory: "64Mi", cpu: "500m" } },
      livenessProbe: { httpGet: { port: 80 } },
      readinessProbe: { tcpSocket: { port: 80 }, periodSeconds: 3 },
      startupProbe: { grpc: { port: 80 } },
      lifecycle: { preStop: { httpGet: { port: "dns", path: "/bye" } } },
      volumeMounts: [{ name: "cm", mountPath: "/cm" }, { name: "p", mountPath: "/p" }],
    },
    { name: "b", image: "app:1.2.3" },
    { name: "c", image: "app:latest" },
  ],
  volumes: [
    { name: "none" },
    { name: "cm", configMap: { name: "cm" } },
    { name: "s", secret: { secretName: "s" } },
    { name: "h", hostPath: { path: "/x" } },
    { name: "d", downwardAPI: { items: [{ path: "l", fieldRef: { fieldPath: "metadata.labels" } }] } },
    {
      name: "p",
      projected: {
        sources: [{ serviceAccountToken: { path: "t" } }, { configMap: { name: "cm" } }, {
          downwardAPI: { items: [{ path: "n", fieldRef: { fieldPath: "metadata.name" } }] },
        }],
      },
    },
    {
      name: "e",
      ephemeral: {
        volumeClaimTemplate: {
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
      },
    },
    { name: "csi", csi: { driver: "d" } },
    { name: "nfs", nfs: { server: "s", path: "/" } },
  ],
};

const JOB_POD: JsonObject = { restartPolicy: "Never", containers: [{ name: "c", image: "i:1" }] };
const LABELS = { app: "x" };
const TEMPLATE: JsonObject = { metadata: { labels: LABELS }, spec: POD };
const APPS = { selector: { matchLabels: LABELS }, template: TEMPLATE };
const CLAIM = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
const RULES = [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }];
const WEBHOOK: JsonObject = {
  name: "x.example.com",
  clientConfig: { service: { namespace: "default", name: "s" } },
  rules: RULES,
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
};

function make(apiVersion: string, kind: string, fields: JsonObject = {}, name = "sample"): JsonObject {
  return { apiVersion, kind, metadata: { name, labels: { sample: "yes" } }, ...fields };
}

/** All samples. */
export const SAMPLES: readonly JsonObject[] = [
  make("v1", "Namespace"),
  make("v1", "Secret", { stringData: { a: "b" }, data: { c: "ZA==" } }),
  make("v1", "Secret", { type: "kubernetes.io/tls", data: { "tls.crt": "", "tls.key": "" } }, "sample-tls"),
  make("v1", "ConfigMap", { data: { a: "b" }, binaryData: { c: "ZA==" } }),
  make("v1", "ServiceAccount", { automountServiceAccountToken: false }),
  make("v1", "Service", { spec: { selector: LABELS, ports: [{ port: 80 }] } }),
  make("v1", "Service", {
    spec: { type: "LoadBalancer", selector: LABELS, ports: [{ name: "a", port: 80, targetPort: "http" }] },
  }, "sample-lb"),
  make(
    "v1",
    "Service",
    { spec: { type: "NodePort", sessionAffinity: "ClientIP", ports: [{ port: 80 }] } },
    "sample-np",
  ),
  make("v1", "Service", { spec: { clusterIP: "None", selector: LABELS, ports: [{ port: 80 }] } }, "sample-headless"),
  make("v1", "Service", { spec: { type: "ExternalName", externalName: "example.com" } }, "sample-name"),
  make("v1", "PersistentVolume", {
    spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } },
  }),
  make("v1", "PersistentVolumeClaim", { spec: { ...CLAIM, storageClassName: "none" } }),
  make("v1", "LimitRange", { spec: { limits: [{ type: "Container", max: { cpu: "2" }, min: { memory: "1Mi" } }] } }),
  make("v1", "ResourceQuota", { spec: { hard: { pods: "10" } } }),
  make("v1", "ReplicationController", { spec: { template: TEMPLATE } }),
  make("v1", "PodTemplate", { template: TEMPLATE }),
  make("v1", "Endpoints", { subsets: [{ addresses: [{ ip: "10.1.1.1" }], ports: [{ port: 80 }] }] }),
  make("v1", "Pod", { spec: JOB_POD }),
  make("v1", "Event", {
    involvedObject: { kind: "Pod", name: "p", namespace: "default" },
    reason: "Tested",
    message: "m",
    type: "Normal",
  }),
  make("apps/v1", "Deployment", { spec: APPS }),
  make("apps/v1", "Deployment", { spec: { ...APPS, strategy: { type: "Recreate" } } }, "sample-recreate"),
  make("apps/v1", "StatefulSet", {
    spec: { ...APPS, serviceName: "s", volumeClaimTemplates: [{ metadata: { name: "data" }, spec: CLAIM }] },
  }),
  make("apps/v1", "StatefulSet", { spec: { ...APPS, updateStrategy: { type: "OnDelete" } } }, "sample-ondelete"),
  make("apps/v1", "DaemonSet", { spec: APPS }),
  make("apps/v1", "ReplicaSet", { spec: APPS }),
  make("apps/v1", "ControllerRevision", { revision: 1, data: { spec: { any: ["thing", 1] } } }),
  make("batch/v1", "Job", { spec: { template: { metadata: { labels: LABELS }, spec: JOB_POD } } }),
  make("batch/v1", "Job", { spec: { completions: 3, parallelism: 2, template: { spec: JOB_POD } } }, "sample-many"),
  make("batch/v1", "CronJob", {
    spec: { schedule: "0 * * * *", jobTemplate: { spec: { template: { spec: JOB_POD } } } },
  }),
  make("rbac.authorization.k8s.io/v1", "Role", {
    rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
  }),
  make("rbac.authorization.k8s.io/v1", "RoleBinding", {
    roleRef: { kind: "Role", name: "sample" },
    subjects: [{ kind: "User", name: "u" }, { kind: "ServiceAccount", name: "default", namespace: "default" }],
  }),
  make("rbac.authorization.k8s.io/v1", "ClusterRole", { rules: [{ nonResourceURLs: ["/x"], verbs: ["get"] }] }),
  make("networking.k8s.io/v1", "Ingress", {
    spec: {
      rules: [{
        host: "example.com",
        http: { paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } } }] },
      }],
    },
  }),
  make("networking.k8s.io/v1", "IngressClass", {
    spec: { controller: "example.com/x", parameters: { kind: "P", name: "p", apiGroup: "example.com" } },
  }),
  make("networking.k8s.io/v1", "NetworkPolicy", {
    spec: { podSelector: {}, egress: [{ ports: [{ port: 53 }] }] },
  }),
  make("policy/v1", "PodDisruptionBudget", { spec: { minAvailable: 1, selector: { matchLabels: LABELS } } }),
  make("autoscaling/v2", "HorizontalPodAutoscaler", {
    spec: {
      maxReplicas: 3,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
      behavior: { scaleUp: { stabilizationWindowSeconds: 5 } },
    },
  }),
  make("storage.k8s.io/v1", "StorageClass", { provisioner: "p" }),
  make("storage.k8s.io/v1", "CSIDriver", { spec: {} }),
  make("coordination.k8s.io/v1", "Lease", { spec: { holderIdentity: "me", leaseDurationSeconds: 15 } }),
  make("scheduling.k8s.io/v1", "PriorityClass", { value: 7 }),
  make("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", { webhooks: [WEBHOOK] }),
  make("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", { webhooks: [WEBHOOK] }),
  make("discovery.k8s.io/v1", "EndpointSlice", {
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.1.1.1"] }],
    ports: [{ port: 80 }],
  }),
  make("apiextensions.k8s.io/v1", "CustomResourceDefinition", {
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "samples", kind: "Sample" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  }, "samples.example.com"),
  make("apiregistration.k8s.io/v1", "APIService", {
    spec: {
      group: "g.example.com",
      version: "v1",
      groupPriorityMinimum: 1,
      versionPriority: 1,
      insecureSkipTLSVerify: true,
      service: { namespace: "default", name: "s" },
    },
  }, "v1.g.example.com"),
];

/** Mistakes that people make, each with the sample's form. */
export const MISTAKES: readonly JsonObject[] = [
  make("apps/v1", "Deployment", { spec: { ...APPS, selector: { matchLabels: { app: "y" } } } }),
  make("apps/v1", "Deployment", { spec: { template: TEMPLATE } }),
  make("apps/v1", "Deployment", { spec: { ...APPS, selector: {} } }),
  make("apps/v1", "Deployment", { spec: { ...APPS, replicas: -1 } }),
  make("apps/v1", "Deployment", {
    spec: { ...APPS, template: { metadata: { labels: LABELS }, spec: { containers: [{ name: "A_", image: "" }] } } },
  }),
  make("apps/v1", "Deployment", {
    spec: {
      ...APPS,
      template: {
        metadata: { labels: LABELS },
        spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] },
      },
    },
  }),
  make("apps/v1", "Deployment", {
    spec: {
      ...APPS,
      template: {
        metadata: { labels: LABELS },
        spec: { containers: [{ name: "c", image: "i", volumeMounts: [{ name: "no", mountPath: "/x" }] }] },
      },
    },
  }),
  make("apps/v1", "Deployment", { spec: APPS }, "Not_A_Name"),
  make("batch/v1", "Job", { spec: { template: { spec: { containers: [{ name: "c", image: "i" }] } } } }),
  make("batch/v1", "CronJob", {
    spec: { schedule: "nonsense", jobTemplate: { spec: { template: { spec: JOB_POD } } } },
  }),
  make("v1", "Service", { spec: {} }),
  make("v1", "Service", { spec: { ports: [{ port: 1 }, { port: 2 }] } }),
  make("v1", "Service", { spec: { ports: [{ port: 99999 }] } }),
  make("v1", "Service", { spec: { ports: [{ port: 80 }] } }, "1-digit-first"),
  make("v1", "ConfigMap", { data: { "a/b": "c" } }),
  make("v1", "Secret", { type: "kubernetes.io/tls", data: {} }),
  make("v1", "PersistentVolumeClaim", { spec: {} }),
  make("networking.k8s.io/v1", "Ingress", { spec: {} }),
  make("networking.k8s.io/v1", "Ingress", {
    spec: { rules: [{ http: { paths: [{ path: "/", backend: { service: { name: "s", port: { number: 80 } } } }] } }] },
  }),
  make("rbac.authorization.k8s.io/v1", "RoleBinding", { roleRef: { kind: "Nope", name: "" } }),
  make("autoscaling/v2", "HorizontalPodAutoscaler", {
    spec: { maxReplicas: 0, scaleTargetRef: { kind: "D", name: "d" } },
  }),
  make("storage.k8s.io/v1", "StorageClass", {}),
];

import type { HealthContext } from "./types.ts";
import { deploy, exceeded, fine, make, rolled, sts, table } from "./testing_table.ts";

table("C21", [
  [
    "A an old failure is no answer about the new spec",
    deploy(7, { observedGeneration: 6, replicas: 2, readyReplicas: 2, conditions: [exceeded] }),
    "Progressing",
    /generation 7/,
  ],
  [
    "B a new DaemonSet without observedGeneration",
    make("apps/v1", "DaemonSet", { status: {} }, { generation: 1 }),
    "Progressing",
  ],
  [
    "C a Recreate rollout between its pods",
    deploy(3, { observedGeneration: 3 }, { replicas: 1, strategy: { type: "Recreate" } }),
    "Progressing",
    "0 of 1 updated",
  ],
  [
    "D a failure of the current spec",
    deploy(7, { observedGeneration: 7, replicas: 2, updatedReplicas: 1, conditions: [exceeded] }),
    "Degraded",
    "ProgressDeadlineExceeded: too long",
  ],
  ["a new Deployment without status", make("apps/v1", "Deployment", {}, { generation: 1 }), "Progressing"],
  [
    "a new StatefulSet without observedGeneration",
    make("apps/v1", "StatefulSet", { status: { replicas: 1 } }),
    "Progressing",
  ],
  ["a new ReplicaSet without observedGeneration", make("apps/v1", "ReplicaSet", { status: {} }), "Progressing"],
  ["a new ReplicationController", make("v1", "ReplicationController", { status: {} }), "Progressing"],
  [
    "an old Ready of a custom kind",
    make("demo.example/v1", "App", {
      status: { observedGeneration: 1, conditions: [{ type: "Ready", status: "True" }] },
    }, { generation: 2 }),
    "Progressing",
  ],
  [
    "an old Stalled of a custom kind",
    make("demo.example/v1", "App", {
      status: { observedGeneration: 1, conditions: [{ type: "Stalled", status: "True" }] },
    }, { generation: 2 }),
    "Progressing",
  ],
  [
    "a condition with its own old observedGeneration",
    make("demo.example/v1", "App", {
      status: { conditions: [{ type: "Ready", status: "True", observedGeneration: 1 }] },
    }, { generation: 2 }),
    "Progressing",
  ],
  [
    "an old failure condition beside a current Ready",
    make("demo.example/v1", "App", {
      status: {
        conditions: [
          { type: "Failed", status: "True", observedGeneration: 1 },
          { type: "Ready", status: "True", observedGeneration: 2 },
        ],
      },
    }, { generation: 2 }),
    "Healthy",
  ],
  [
    "an old PodDisruptionBudget status",
    make("policy/v1", "PodDisruptionBudget", { status: { observedGeneration: 1 } }, { generation: 2 }),
    "Progressing",
  ],
  [
    "a status from a former life of the object",
    deploy(1, { ...fine, observedGeneration: 9 }),
    "Progressing",
  ],
]);

const WAITS: HealthContext = {
  storageClass: (name) =>
    ({ std: { volumeBindingMode: "WaitForFirstConsumer" }, now: { volumeBindingMode: "Immediate" } })[name ?? "std"],
};

const claim = (spec: object, status: object = { phase: "Pending" }, metadata = {}) =>
  make("v1", "PersistentVolumeClaim", { spec, status }, metadata);

table("C22", [
  [
    "a claim of a WaitForFirstConsumer class",
    claim({ storageClassName: "std" }),
    "Healthy",
    "waiting for the first consumer",
    WAITS,
  ],
  ["a claim of the default class that waits", claim({}), "Healthy", "waiting for the first consumer", WAITS],
  [
    "a claim without status yet",
    make("v1", "PersistentVolumeClaim", { spec: { storageClassName: "std" } }),
    "Healthy",
    undefined,
    WAITS,
  ],
  ["a claim of an Immediate class", claim({ storageClassName: "now" }), "Progressing", undefined, WAITS],
  ["a claim whose class is not known", claim({ storageClassName: "nix" }), "Progressing", undefined, WAITS],
  ["a claim without class lookup", claim({ storageClassName: "std" }), "Progressing"],
  ["a claim that wants no class", claim({ storageClassName: "" }), "Progressing", undefined, WAITS],
  [
    "a claim that names its volume",
    claim({ storageClassName: "std", volumeName: "pv1" }),
    "Progressing",
    undefined,
    WAITS,
  ],
  [
    "a claim whose consumer has a node",
    claim({ storageClassName: "std" }, { phase: "Pending" }, {
      annotations: { "volume.kubernetes.io/selected-node": "n1" },
    }),
    "Progressing",
    undefined,
    WAITS,
  ],
  ["a bound claim", claim({ storageClassName: "now" }, { phase: "Bound" }), "Healthy"],
  ["a lost claim", claim({}, { phase: "Lost" }), "Degraded"],
  [
    "an OnDelete set",
    sts({ replicas: 3, updateStrategy: { type: "OnDelete" } }, { ...rolled, updatedReplicas: 0 }),
    "Healthy",
    /0 of 3 updated/,
  ],
  [
    "an OnDelete set not observed",
    sts({ replicas: 3, updateStrategy: { type: "OnDelete" } }, rolled, 3),
    "Progressing",
  ],
  [
    "an OnDelete set that lacks pods",
    sts({ replicas: 3, updateStrategy: { type: "OnDelete" } }, { ...rolled, readyReplicas: 1 }),
    "Progressing",
    "1 of 3 ready",
  ],
  [
    "a partition set",
    sts({ replicas: 3, updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 2 } } }, {
      ...rolled,
      updatedReplicas: 1,
    }),
    "Healthy",
    "1 of 3 updated (partition 2)",
  ],
  [
    "a partition set that still rolls above its partition",
    sts({ replicas: 5, updateStrategy: { rollingUpdate: { partition: 2 } } }, {
      ...rolled,
      replicas: 5,
      readyReplicas: 5,
      updatedReplicas: 2,
    }),
    "Progressing",
    "2 of 3 updated (partition 2)",
  ],
  [
    "a partition beyond the number of replicas",
    sts({ replicas: 3, updateStrategy: { rollingUpdate: { partition: 9 } } }, { ...rolled, updatedReplicas: 0 }),
    "Healthy",
    "0 of 3 updated (partition 9)",
  ],
  [
    "an OnDelete DaemonSet",
    make("apps/v1", "DaemonSet", {
      spec: { updateStrategy: { type: "OnDelete" } },
      status: {
        observedGeneration: 1,
        desiredNumberScheduled: 3,
        currentNumberScheduled: 3,
        numberReady: 3,
        numberAvailable: 3,
      },
    }, { generation: 1 }),
    "Healthy",
    "0 of 3 updated (OnDelete)",
  ],
  [
    "an Ingress without address",
    make("networking.k8s.io/v1", "Ingress", { status: { loadBalancer: { ingress: [{}] } } }),
    "Healthy",
  ],
  ["an Ingress without status", make("networking.k8s.io/v1", "Ingress", {}), "Healthy"],
  [
    "an Ingress with address",
    make("networking.k8s.io/v1", "Ingress", { status: { loadBalancer: { ingress: [{ ip: "10.0.0.1" }] } } }),
    "Healthy",
    "10.0.0.1",
  ],
  [
    "a LoadBalancer without address",
    make("v1", "Service", { spec: { type: "LoadBalancer" }, status: { loadBalancer: {} } }),
    "Progressing",
  ],
  [
    "a LoadBalancer with an empty row",
    make("v1", "Service", { spec: { type: "LoadBalancer" }, status: { loadBalancer: { ingress: [{}] } } }),
    "Progressing",
  ],
  [
    "a LoadBalancer with host name",
    make("v1", "Service", {
      spec: { type: "LoadBalancer" },
      status: { loadBalancer: { ingress: [{ hostname: "lb.example" }] } },
    }),
    "Healthy",
    "lb.example",
  ],
  ["a ClusterIP Service", make("v1", "Service", { spec: {} }), "Healthy"],
]);

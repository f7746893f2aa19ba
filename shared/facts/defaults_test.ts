import assert from "node:assert/strict";
import type { JsonObject } from "../json/mod.ts";
import { assertHolds, created, errorsOf, kindOf, workload } from "./testkit.ts";

Deno.test("Deployment: the defaults of the real server", () => {
  assertHolds(created("Deployment", workload("Deployment")), {
    spec: {
      replicas: 1,
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
      template: {
        spec: {
          restartPolicy: "Always",
          terminationGracePeriodSeconds: 30,
          dnsPolicy: "ClusterFirst",
          securityContext: {},
          schedulerName: "default-scheduler",
          containers: [{
            name: "c",
            image: "i:1",
            resources: {},
            terminationMessagePath: "/dev/termination-log",
            terminationMessagePolicy: "File",
            imagePullPolicy: "IfNotPresent",
          }],
        },
      },
    },
  });
  assertHolds(created("Deployment", workload("Deployment", { strategy: { type: "Recreate" } })), {
    spec: { strategy: { type: "Recreate", rollingUpdate: undefined } },
  });
});

Deno.test("pod templates: pull policy by tag, probes, ports, volumes and service accounts", () => {
  const object = created(
    "Deployment",
    workload("Deployment", {}, {
      serviceAccountName: "robot",
      volumes: [
        { name: "none" },
        { name: "s", secret: { secretName: "s" } },
        { name: "p", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } },
      ],
      containers: [
        {
          name: "a",
          image: "registry:5000/x",
          ports: [{ containerPort: 80 }],
          livenessProbe: { httpGet: { port: 80 } },
        },
        { name: "b", image: "x:latest", env: [{ name: "N", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] },
        { name: "c", image: "x@sha256:00" },
        { name: "d", image: "x:1.2", imagePullPolicy: "Never" },
      ],
    }),
  );
  assertHolds(object, {
    spec: {
      template: {
        spec: {
          serviceAccount: "robot",
          volumes: [
            { emptyDir: {} },
            { secret: { defaultMode: 420 } },
            { projected: { defaultMode: 420, sources: [{ serviceAccountToken: { expirationSeconds: 3600 } }] } },
          ],
          containers: [
            {
              imagePullPolicy: "Always",
              ports: [{ protocol: "TCP" }],
              livenessProbe: {
                httpGet: { path: "/", scheme: "HTTP" },
                timeoutSeconds: 1,
                periodSeconds: 10,
                successThreshold: 1,
                failureThreshold: 3,
              },
            },
            { imagePullPolicy: "Always", env: [{ valueFrom: { fieldRef: { apiVersion: "v1" } } }] },
            { imagePullPolicy: "IfNotPresent" },
            { imagePullPolicy: "Never" },
          ],
        },
      },
    },
  });
});

Deno.test("prepare: filling twice changes nothing (a repeated apply is a no-op)", () => {
  for (const kind of ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job"]) {
    const once = created(kind, workload(kind));
    const twice = structuredClone(once);
    const { strategy } = kindOf(kind);
    strategy?.prepare?.(twice, once);
    strategy?.allocate?.(twice, once);
    assert.deepEqual(twice, once, kind);
  }
});

Deno.test("StatefulSet, DaemonSet, Job, CronJob: defaults", () => {
  assertHolds(
    created(
      "StatefulSet",
      workload("StatefulSet", { volumeClaimTemplates: [{ metadata: { name: "data" }, spec: {} }] }),
    ),
    {
      spec: {
        podManagementPolicy: "OrderedReady",
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
        volumeClaimTemplates: [{
          apiVersion: "v1",
          kind: "PersistentVolumeClaim",
          spec: { volumeMode: "Filesystem" },
          status: { phase: "Pending" },
        }],
      },
    },
  );
  assertHolds(created("DaemonSet", workload("DaemonSet")), {
    metadata: { annotations: { "deprecated.daemonset.template.generation": "1" } },
    spec: { updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } },
  });
  assertHolds(created("Job", workload("Job", { selector: null }, { restartPolicy: "Never" })), {
    metadata: { labels: { a: "b" } },
    spec: {
      completions: 1,
      parallelism: 1,
      backoffLimit: 6,
      completionMode: "NonIndexed",
      suspend: false,
      selector: { matchLabels: { "batch.kubernetes.io/controller-uid": "u1" } },
      template: { metadata: { labels: { a: "b", "batch.kubernetes.io/job-name": "x" } } },
    },
  });
  assertHolds(
    created("CronJob", { metadata: { name: "x" }, spec: { schedule: "* * * * *", jobTemplate: { spec: {} } } }),
    { spec: { concurrencyPolicy: "Allow", suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 } },
  );
});

Deno.test("Service: type, ports, addresses; an address is kept and may not change", () => {
  const service = { metadata: { name: "s", namespace: "n" }, spec: { selector: { a: "b" }, ports: [{ port: 80 }] } };
  const first = created("Service", service);
  assertHolds(first, {
    spec: {
      type: "ClusterIP",
      sessionAffinity: "None",
      ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
      internalTrafficPolicy: "Cluster",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
    },
  });
  const ip = (first["spec"] as JsonObject)["clusterIP"];
  assert.match(String(ip), /^10\.\d+\.\d+\.\d+$/);
  assert.deepEqual((first["spec"] as JsonObject)["clusterIPs"], [ip]);
  const again = structuredClone(service) as JsonObject;
  kindOf("Service").strategy!.prepare!(again, first);
  kindOf("Service").strategy!.allocate!(again, first);
  assert.deepEqual(again, first);
  const moved = structuredClone(first);
  (moved["spec"] as JsonObject)["clusterIP"] = "10.96.0.1";
  assert.deepEqual(errorsOf("Service", moved, first), [
    `spec.clusterIPs[0]: Invalid value: ["${ip}"]: may not change once set`,
  ]);
  const balancer = created("Service", { ...service, spec: { ...service.spec, type: "LoadBalancer" } });
  assertHolds(balancer, { spec: { allocateLoadBalancerNodePorts: true, externalTrafficPolicy: "Cluster" } });
  assert.deepEqual(errorsOf("Service", balancer), []);
  const headless = created("Service", { metadata: { name: "h" }, spec: { clusterIP: "None" } });
  assert.deepEqual((headless["spec"] as JsonObject)["clusterIPs"], ["None"]);
  assert.deepEqual(errorsOf("Service", headless), []);
  const name = created("Service", { metadata: { name: "h" }, spec: { type: "ExternalName", externalName: "x.y" } });
  assert.equal((name["spec"] as JsonObject)["clusterIP"], undefined);
});

Deno.test("Namespace, PVC, StorageClass, HPA, RBAC, NetworkPolicy, CRD: defaults", () => {
  assert.deepEqual(created("Namespace", { metadata: { name: "n" } }), {
    metadata: { name: "n", labels: { "kubernetes.io/metadata.name": "n" } },
    status: { phase: "Active" },
    spec: { finalizers: ["kubernetes"] },
  });
  assertHolds(created("PersistentVolumeClaim", { spec: {} }), {
    spec: { volumeMode: "Filesystem" },
    status: { phase: "Pending" },
  });
  assertHolds(created("StorageClass", { provisioner: "p" }), {
    reclaimPolicy: "Delete",
    volumeBindingMode: "Immediate",
  });
  assertHolds(created("HorizontalPodAutoscaler", { spec: { maxReplicas: 3, behavior: {} } }), {
    spec: {
      minReplicas: 1,
      metrics: [{ type: "Resource", resource: { name: "cpu", target: { averageUtilization: 80 } } }],
      behavior: { scaleDown: { selectPolicy: "Max", policies: [{ type: "Percent", value: 100 }] } },
    },
  });
  assertHolds(
    created("RoleBinding", { roleRef: { kind: "Role", name: "r" }, subjects: [{ kind: "User", name: "u" }] }),
    {
      roleRef: { apiGroup: "rbac.authorization.k8s.io" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io" }],
    },
  );
  assertHolds(created("NetworkPolicy", { spec: { egress: [{ ports: [{ port: 53 }] }] } }), {
    spec: { policyTypes: ["Ingress", "Egress"], egress: [{ ports: [{ protocol: "TCP" }] }] },
  });
  assertHolds(created("CustomResourceDefinition", { spec: { names: { kind: "Thing", plural: "things" } } }), {
    spec: { names: { singular: "thing", listKind: "ThingList" }, conversion: { strategy: "None" } },
  });
});

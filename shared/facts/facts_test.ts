import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { JsonObject } from "../json/mod.ts";
import type { KindDefinition } from "../server/contract.ts";
import type { OpenApiSchema } from "../ssa/contract.ts";
import { FACTS } from "./gen/facts.ts";
import { builtinKinds } from "./mod.ts";
import { pack, unpack } from "./pack.ts";

/** A built-in kind. */
function kindOf(kind: string, group?: string): KindDefinition {
  const found = builtinKinds((k) => k.kind === kind && (group === undefined || k.group === group))[0];
  assert.ok(found, kind);
  return found;
}

/** The object after `prepare` and `allocate`, as a create does it. */
function created(kind: string, object: JsonObject): JsonObject {
  const copy = structuredClone(object);
  const { strategy } = kindOf(kind);
  strategy?.prepare?.(copy, undefined);
  strategy?.allocate?.(copy, undefined);
  return copy;
}

/** `field: message` of each error. */
function errorsOf(kind: string, object: JsonObject, old?: JsonObject): string[] {
  return (kindOf(kind).strategy?.validate?.(object, old) ?? []).map((e) => `${e.field}: ${e.message}`);
}

function withoutEnums(schema: OpenApiSchema): unknown {
  return JSON.parse(JSON.stringify(schema, (key, value) => key === "enum" && Array.isArray(value) ? undefined : value));
}

/** True when all that `part` says is also in `whole`. */
function assertHolds(whole: unknown, part: unknown, path = ""): void {
  if (Array.isArray(part)) {
    assert.ok(Array.isArray(whole), path);
    assert.equal(whole.length, part.length, path);
    part.forEach((p, i) => assertHolds(whole[i], p, `${path}[${i}]`));
  } else if (part !== null && typeof part === "object") {
    assert.ok(whole !== null && typeof whole === "object", path);
    for (const [key, value] of Object.entries(part)) {
      assertHolds((whole as Record<string, unknown>)[key], value, `${path}.${key}`);
    }
  } else assert.equal(whole, part, path);
}

const workload = (kind: string, spec: JsonObject = {}, pod: JsonObject = {}): JsonObject => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name: "x", namespace: "default", uid: "u1" },
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i:1" }], ...pod } },
    ...spec,
  },
});

Deno.test("builtinKinds: facts survive packing, are parsed once, and are shared", () => {
  const facts = unpack(JSON.parse(FACTS));
  assert.deepEqual(JSON.parse(JSON.stringify(pack(facts))), JSON.parse(FACTS));
  assert.equal(builtinKinds()[0], builtinKinds()[0]);
  assert.ok(FACTS.length < 250_000, `${FACTS.length} bytes`);
  assert.ok(!FACTS.includes('"description":"'));
});

Deno.test("builtinKinds: every reference leads to a definition of the kind", () => {
  for (const kind of builtinKinds()) {
    const walk = (schema: OpenApiSchema): void => {
      if (schema.$ref) assert.ok(kind.definitions?.[schema.$ref.slice("#/components/schemas/".length)], schema.$ref);
      for (const p of Object.values(schema.properties ?? {})) walk(p);
      for (const p of schema.allOf ?? []) walk(p);
      if (schema.items) walk(schema.items);
    };
    Object.values(kind.definitions!).forEach(walk);
    walk(kind.versions[0]!.schema);
  }
});

Deno.test("builtinKinds: the schemas of the recorded kinds have the recorded list keys, defaults and required fields", () => {
  const recorded = ["deployment", "service", "lease", "secret", "podtemplate", "configmap"];
  let compared = 0;
  for (const name of recorded) {
    const url = new URL(`../../../shared/ssa_vectors/schemas/builtin-${name}.json`, import.meta.url);
    let vector: { root: string; schemas: Record<string, OpenApiSchema> };
    try {
      vector = JSON.parse(readFileSync(url, "utf8"));
    } catch {
      continue; // The vectors are not part of a clone.
    }
    const facts = unpack(JSON.parse(FACTS)).schemas;
    for (const [schema, value] of Object.entries(vector.schemas)) {
      // The documents inside the module name no enums; a live server does.
      assert.deepEqual(facts[schema], withoutEnums(value), schema);
      compared++;
    }
  }
  if (compared > 0) assert.ok(compared > 100);
});

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

Deno.test("Secret: stringData goes into data, and no message tells a value", () => {
  const secret = created("Secret", { metadata: { name: "s" }, stringData: { p: "x" }, data: { q: "eQ==" } });
  assert.deepEqual(secret, { metadata: { name: "s" }, data: { p: "eA==", q: "eQ==" }, type: "Opaque" });
  const errors = errorsOf("Secret", { metadata: { name: "s" }, type: "Opaque", data: { k: "hunter2!", "a b": "" } });
  assert.equal(errors.length, 2);
  assert.ok(errors.every((e) => !e.includes("hunter2")), errors.join("\n"));
  assert.match(errors[0]!, /^data\[k\]: Invalid value: must be base64/);
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

Deno.test("validate: the mistakes people make, in the words of the real server", () => {
  const deployment = created("Deployment", workload("Deployment"));
  assert.deepEqual(errorsOf("Deployment", deployment), []);
  const other = created("Deployment", workload("Deployment", { selector: { matchLabels: { a: "c" } } }));
  assert.deepEqual(errorsOf("Deployment", other), [
    'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
  ]);
  const changed = structuredClone(other);
  ((changed["spec"] as JsonObject)["template"] as JsonObject)["metadata"] = { labels: { a: "c" } };
  assert.deepEqual(errorsOf("Deployment", changed, deployment), [
    'spec.selector: Invalid value: {"matchLabels":{"a":"c"}}: field is immutable',
  ]);
  assert.deepEqual(errorsOf("Deployment", created("Deployment", workload("Deployment", { selector: null }))), [
    "spec.selector: Required value",
    'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
  ]);
  assert.deepEqual(
    errorsOf(
      "Deployment",
      created("Deployment", workload("Deployment", {}, { containers: [{ name: "", image: "" }] })),
    ),
    ["spec.template.spec.containers[0].name: Required value", "spec.template.spec.containers[0].image: Required value"],
  );
  assert.deepEqual(
    errorsOf("Deployment", created("Deployment", workload("Deployment", {}, { restartPolicy: "Never" }))),
    ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
  );
  assert.deepEqual(errorsOf("Job", created("Job", workload("Job", { selector: null }))), [
    'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
  ]);
  assert.deepEqual(errorsOf("Service", created("Service", { metadata: { name: "s" }, spec: {} })), [
    "spec.ports: Required value",
  ]);
  assert.deepEqual(
    errorsOf("Service", created("Service", { metadata: { name: "s" }, spec: { ports: [{ port: 1 }, { port: 2 }] } })),
    ["spec.ports[0].name: Required value", "spec.ports[1].name: Required value"],
  );
  assert.match(
    errorsOf("ConfigMap", { metadata: { name: "c" }, data: { "a/b": "x" } })[0]!,
    /^data\[a\/b\]: Invalid value: "a\/b": a valid config key must consist of/,
  );
});

Deno.test("C08: env and port lists are maps by name, and by port with protocol whose default is TCP", () => {
  const { definitions } = kindOf("Deployment");
  const container = definitions!["io.k8s.api.core.v1.Container"]!.properties!;
  assert.deepEqual(container["ports"]!["x-kubernetes-list-map-keys"], ["containerPort", "protocol"]);
  assert.deepEqual(container["env"]!["x-kubernetes-list-map-keys"], ["name"]);
  assert.equal(definitions!["io.k8s.api.core.v1.ContainerPort"]!.properties!["protocol"]!.default, "TCP");
  const service = kindOf("Service").definitions!["io.k8s.api.core.v1.ServiceSpec"]!.properties!;
  assert.deepEqual(service["ports"]!["x-kubernetes-list-map-keys"], ["port", "protocol"]);
});

Deno.test("columns: cells of the main kinds", () => {
  const now = Date.parse("2026-01-01T00:02:05Z");
  const row = (kind: string, object: JsonObject, group?: string) =>
    kindOf(kind, group).versions[0]!.columns!.filter((c) => !c.priority).map((c) =>
      c.cell ? c.cell(object, now) : c.jsonPath
    );
  const age = ".metadata.creationTimestamp";
  assert.deepEqual(
    row("Deployment", {
      spec: { replicas: 3 },
      status: { readyReplicas: 2, updatedReplicas: 3, availableReplicas: 2 },
    }),
    ["2/3", 3, 2, age],
  );
  assert.deepEqual(
    row("Pod", {
      spec: { containers: [{}, {}] },
      status: {
        phase: "Running",
        containerStatuses: [{ ready: true }, { restartCount: 4, state: { waiting: { reason: "CrashLoopBackOff" } } }],
      },
    }),
    ["1/2", "CrashLoopBackOff", "4", age],
  );
  assert.deepEqual(
    row("Service", {
      spec: { type: "LoadBalancer", clusterIP: "10.0.0.1", ports: [{ port: 80, nodePort: 30080, protocol: "TCP" }] },
    }),
    ["LoadBalancer", "10.0.0.1", "<pending>", "80:30080/TCP", age],
  );
  assert.deepEqual(
    row("Job", {
      spec: { completions: 1 },
      status: { succeeded: 1, startTime: "2026-01-01T00:00:00Z", conditions: [{ type: "Complete", status: "True" }] },
    }),
    ["Complete", "1/1", "2m5s", age],
  );
  assert.deepEqual(row("ConfigMap", { data: { a: "1" }, binaryData: { b: "" } }), [2, age]);
});

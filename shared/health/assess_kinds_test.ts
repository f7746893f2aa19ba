import assert from "node:assert/strict";
import fc from "fast-check";
import { healthStates } from "../api/mod.ts";
import { assess } from "./mod.ts";
import { ago, make, MINUTE, NOW, table, yes } from "./testing_table.ts";

const crd = (...conditions: object[]) =>
  make("apiextensions.k8s.io/v1", "CustomResourceDefinition", { status: { conditions } });

const hpa = (...conditions: object[]) => make("autoscaling/v2", "HorizontalPodAutoscaler", { status: { conditions } });

table("platform kinds", [
  ["Namespace", make("v1", "Namespace", { status: { phase: "Active" } }), "Healthy"],
  [
    "Namespace that goes",
    make("v1", "Namespace", { status: { phase: "Terminating" } }),
    "Progressing",
    "being deleted",
  ],
  ["new CRD", crd(), "Progressing"],
  ["established CRD", crd(yes("NamesAccepted"), yes("Established")), "Healthy"],
  [
    "CRD that installs",
    crd(yes("NamesAccepted"), { type: "Established", status: "False", reason: "Installing" }),
    "Progressing",
  ],
  [
    "CRD with taken names",
    crd({ type: "NamesAccepted", status: "False", reason: "MultipleNamesConflict", message: "taken" }),
    "Degraded",
    "MultipleNamesConflict: taken",
  ],
  [
    "APIService",
    make("apiregistration.k8s.io/v1", "APIService", { status: { conditions: [yes("Available")] } }),
    "Healthy",
  ],
  [
    "APIService without endpoints",
    make("apiregistration.k8s.io/v1", "APIService", {
      status: {
        conditions: [{
          type: "Available",
          status: "False",
          reason: "MissingEndpoints",
          lastTransitionTime: ago(MINUTE),
        }],
      },
    }),
    "Progressing",
  ],
  [
    "APIService without endpoints for long",
    make("apiregistration.k8s.io/v1", "APIService", {
      status: {
        conditions: [{
          type: "Available",
          status: "False",
          reason: "MissingEndpoints",
          lastTransitionTime: ago(10 * MINUTE),
        }],
      },
    }),
    "Degraded",
  ],
  ["HPA that works", hpa(yes("AbleToScale"), yes("ScalingActive")), "Healthy"],
  [
    "HPA whose target is at zero",
    hpa({ type: "ScalingActive", status: "False", reason: "ScalingDisabled" }),
    "Healthy",
  ],
  [
    "HPA whose metrics come late",
    hpa({ type: "ScalingActive", status: "False", reason: "FailedGetResourceMetric", lastTransitionTime: ago(1000) }),
    "Progressing",
  ],
  [
    "HPA whose metrics never come",
    hpa({
      type: "ScalingActive",
      status: "False",
      reason: "FailedGetResourceMetric",
      lastTransitionTime: ago(10 * MINUTE),
    }),
    "Degraded",
  ],
  [
    "PDB",
    make("policy/v1", "PodDisruptionBudget", { status: { observedGeneration: 1, disruptionsAllowed: 0 } }, {
      generation: 1,
    }),
    "Healthy",
  ],
  ["PV", make("v1", "PersistentVolume", { status: { phase: "Available" } }), "Healthy"],
  [
    "failed PV",
    make("v1", "PersistentVolume", { status: { phase: "Failed", message: "recycle" } }),
    "Degraded",
    "recycle",
  ],
  ["ConfigMap", make("v1", "ConfigMap", { data: {} }), "Healthy"],
  ["Secret", make("v1", "Secret", {}), "Healthy"],
]);

const app = (status: unknown, generation = 2) => make("demo.example/v1", "App", { status }, { generation });

const withConditions = (...conditions: object[]) => app({ observedGeneration: 2, conditions });

table("any other kind", [
  ["missing", undefined, "Missing", "not on the cluster"],
  ["says nothing", make("demo.example/v1", "App", {}), "Healthy"],
  ["Ready", withConditions(yes("Ready")), "Healthy"],
  [
    "not Ready",
    withConditions({ type: "Ready", status: "False", reason: "Pulling", message: "image" }),
    "Progressing",
    "Pulling: image",
  ],
  ["Ready unknown", withConditions({ type: "Ready", status: "Unknown" }), "Progressing"],
  ["Reconciling", withConditions(yes("Ready"), yes("Reconciling", { reason: "Busy" })), "Progressing", "Busy"],
  [
    "Stalled",
    withConditions({ type: "Ready", status: "False" }, yes("Stalled", { reason: "BadSpec" })),
    "Degraded",
    "BadSpec",
  ],
  ["Failed", withConditions(yes("Failed")), "Degraded"],
  ["not Failed", withConditions({ type: "Failed", status: "False" }), "Healthy"],
  ["Available", withConditions(yes("Available")), "Healthy"],
  ["not Available", withConditions({ type: "Available", status: "False" }), "Progressing"],
  ["status of a wrong shape", app("broken"), "Healthy"],
  ["conditions of a wrong shape", app({ conditions: { Ready: "True" } }), "Healthy"],
  ["rows of a wrong shape", app({ conditions: [null, 3, "x", { type: 1 }] }), "Healthy"],
  ["being deleted", make("v1", "ConfigMap", {}, { deletionTimestamp: ago(0) }), "Progressing", "being deleted"],
  [
    "being deleted with finalizers",
    make("v1", "ConfigMap", {}, { deletionTimestamp: ago(0), finalizers: ["a/b"] }),
    "Progressing",
    "being deleted, waits for a/b",
  ],
  [
    "ignored by annotation",
    make("apps/v1", "Deployment", {}, { annotations: { "convoy.kumodo.io/health": "Ignore" } }),
    "Healthy",
  ],
]);

Deno.test("assess never throws and always gives a known state and a short single line, whatever the object says", () => {
  const kinds = [
    ["apps/v1", "Deployment"],
    ["apps/v1", "StatefulSet"],
    ["apps/v1", "DaemonSet"],
    ["v1", "Pod"],
    [
      "batch/v1",
      "Job",
    ],
    ["v1", "Service"],
    ["v1", "PersistentVolumeClaim"],
    ["demo.example/v1", "App"],
  ] as const;
  fc.assert(fc.property(
    fc.constantFrom(...kinds),
    fc.record({ metadata: fc.jsonValue(), spec: fc.jsonValue(), status: fc.jsonValue() }),
    fc.array(fc.record({ type: fc.constantFrom("Ready", "Progressing", "Failed"), message: fc.string() })),
    ([apiVersion, kind], parts, conditions) => {
      const object = { apiVersion, kind, ...parts, extra: conditions };
      const got = assess(object, { now: NOW });
      assert.ok(healthStates.includes(got.state));
      assert.ok(got.message.length <= 400 && !got.message.includes("\n"));
    },
  ));
});

import assert from "node:assert/strict";
import { assess } from "./mod.ts";
import { ago, complete, deploy, fine, make, MINUTE, NOW, rolled, sts, table } from "./testing_table.ts";

table("Deployment", [
  [
    "all up",
    deploy(1, { ...fine, conditions: [complete, { type: "Available", status: "True" }] }),
    "Healthy",
    "2 of 2 available",
  ],
  ["partly updated", deploy(1, { ...fine, updatedReplicas: 1 }), "Progressing", "1 of 2 updated"],
  ["an old pod left", deploy(1, { ...fine, replicas: 3 }), "Progressing", "1 old replica still to go"],
  [
    "scaled down",
    deploy(1, { ...fine, replicas: 3, updatedReplicas: 3, availableReplicas: 3 }),
    "Progressing",
    "1 replica still to go",
  ],
  ["not all available", deploy(1, { ...fine, availableReplicas: 1 }), "Progressing", "1 of 2 available"],
  ["zero replicas", deploy(1, { observedGeneration: 1 }, { replicas: 0 }), "Healthy", "scaled to zero"],
  ["zero replicas, one still there", deploy(1, { observedGeneration: 1, replicas: 1 }, { replicas: 0 }), "Progressing"],
  [
    "replicas default to one",
    deploy(1, { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1 }, {}),
    "Healthy",
  ],
  ["paused", deploy(1, { ...fine, updatedReplicas: 0 }, { replicas: 2, paused: true }), "Suspended"],
  [
    "quota exceeded",
    deploy(1, {
      observedGeneration: 1,
      conditions: [{ type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "exceeded quota" }],
    }),
    "Progressing",
    "0 of 2 updated; FailedCreate: exceeded quota",
  ],
  [
    "all pods lost after a complete rollout",
    deploy(1, { ...fine, availableReplicas: 0, conditions: [complete, { type: "Available", status: "False" }] }),
    "Degraded",
    "0 of 2 available",
  ],
  [
    "all pods lost at the generation that was healthy",
    deploy(1, { ...fine, availableReplicas: 0 }),
    "Degraded",
    undefined,
    { healthyGeneration: 1 },
  ],
  [
    "scaled up from zero is on its way",
    deploy(2, {
      ...fine,
      observedGeneration: 2,
      availableReplicas: 0,
      conditions: [complete, { type: "Available", status: "False", lastTransitionTime: ago(1000) }],
    }),
    "Progressing",
    undefined,
    { healthyGeneration: 1 },
  ],
  [
    "too few for longer than the deadline",
    deploy(1, {
      ...fine,
      availableReplicas: 1,
      conditions: [{ type: "Available", status: "False", lastTransitionTime: ago(11 * MINUTE) }],
    }),
    "Degraded",
    "1 of 2 available",
  ],
  [
    "too few within the deadline",
    deploy(1, {
      ...fine,
      availableReplicas: 1,
      conditions: [{ type: "Available", status: "False", lastTransitionTime: ago(MINUTE) }],
    }, { replicas: 2, progressDeadlineSeconds: 120 }),
    "Progressing",
  ],
  ["a kind of that name in another group", make("demo.example/v1", "Deployment", {}), "Healthy"],
]);

Deno.test("assess asks to be called again when only time can change the state", () => {
  const object = deploy(1, {
    ...fine,
    availableReplicas: 1,
    conditions: [{ type: "Available", status: "False", lastTransitionTime: ago(MINUTE) }],
  }, { replicas: 2, progressDeadlineSeconds: 120 });
  assert.equal(assess(object, { now: NOW }).after, MINUTE);
  assert.equal(assess(object, { now: NOW + MINUTE }).state, "Degraded");
});

table("ReplicaSet, StatefulSet, DaemonSet", [
  [
    "a ReplicaSet that is up",
    make("apps/v1", "ReplicaSet", {
      spec: { replicas: 1 },
      status: { observedGeneration: 1, replicas: 1, availableReplicas: 1 },
    }, { generation: 1 }),
    "Healthy",
  ],
  [
    "a ReplicaSet that cannot create",
    make("apps/v1", "ReplicaSet", {
      spec: { replicas: 1 },
      status: {
        observedGeneration: 1,
        conditions: [{ type: "ReplicaFailure", status: "True", reason: "FailedCreate" }],
      },
    }, { generation: 1 }),
    "Progressing",
    /FailedCreate/,
  ],
  [
    "a ReplicationController short of one",
    make("v1", "ReplicationController", {
      spec: { replicas: 2 },
      status: { observedGeneration: 1, replicas: 2, availableReplicas: 1 },
    }, { generation: 1 }),
    "Progressing",
    "1 of 2 available",
  ],
  [
    "a StatefulSet that is up",
    sts({ replicas: 3 }, { ...rolled, updatedReplicas: 3, currentRevision: "r2" }),
    "Healthy",
  ],
  [
    "a StatefulSet that rolls",
    sts({ replicas: 3 }, { ...rolled, updatedReplicas: 1 }),
    "Progressing",
    "1 of 3 updated",
  ],
  [
    "a StatefulSet that scales up",
    sts({ replicas: 3 }, { replicas: 2, readyReplicas: 2 }),
    "Progressing",
    "2 of 3 created",
  ],
  ["a StatefulSet that scales down", sts({ replicas: 1 }, { replicas: 3, readyReplicas: 3 }), "Progressing"],
  ["a StatefulSet at zero", sts({ replicas: 0 }, { replicas: 0 }), "Healthy", "scaled to zero"],
  [
    "a StatefulSet with minReadySeconds",
    sts({ replicas: 3, minReadySeconds: 10 }, { ...rolled, currentRevision: "r2", availableReplicas: 1 }),
    "Progressing",
    "1 of 3 ready",
  ],
  [
    "a StatefulSet that lost its pods",
    sts({ replicas: 3 }, { replicas: 3, currentRevision: "r2", updateRevision: "r2" }),
    "Degraded",
    undefined,
    { healthyGeneration: 2 },
  ],
  [
    "a DaemonSet that rolls",
    make("apps/v1", "DaemonSet", {
      status: {
        observedGeneration: 1,
        desiredNumberScheduled: 3,
        currentNumberScheduled: 3,
        updatedNumberScheduled: 2,
        numberReady: 3,
        numberAvailable: 3,
      },
    }, { generation: 1 }),
    "Progressing",
    "2 of 3 updated",
  ],
  [
    "a DaemonSet short of one",
    make("apps/v1", "DaemonSet", {
      status: {
        observedGeneration: 1,
        desiredNumberScheduled: 3,
        currentNumberScheduled: 3,
        updatedNumberScheduled: 3,
        numberReady: 3,
        numberAvailable: 2,
      },
    }, { generation: 1 }),
    "Progressing",
    "2 of 3 available",
  ],
  [
    "a DaemonSet without a node",
    make("apps/v1", "DaemonSet", {
      status: { observedGeneration: 1, desiredNumberScheduled: 0, currentNumberScheduled: 0 },
    }, { generation: 1 }),
    "Healthy",
    "no node to run on",
  ],
  [
    "a DaemonSet whose nodes are not counted",
    make("apps/v1", "DaemonSet", { status: { observedGeneration: 1 } }, { generation: 1 }),
    "Progressing",
  ],
]);

/** Deployments: status, and ReplicaSets when children are wanted. @module */
import type { JsonObject } from "../../shared/json/mod.ts";
import type { Rollout, SimContext, SimController } from "./contract.ts";
import {
  at,
  childMeta,
  condition,
  controllerOf,
  follow,
  nameOf,
  namespaceOf,
  nextLook,
  number,
  text,
  uidOf,
} from "./fields.ts";
import { PLACES } from "./places.ts";

/** Deployments become available `delays.ready` after a change of their template. */
export const deployments: SimController = {
  place: PLACES.Deployment,
  async reconcile(object, ctx) {
    const spec = at(object, "spec");
    const status = at(object, "status");
    const replicas = number(spec, "replicas", 1);
    if (spec["paused"] === true && number(status, "observedGeneration") !== 0) {
      await ctx.store.writeStatus(PLACES.Deployment, object, pausedStatus(object, ctx.now));
      return undefined;
    }
    const settled = number(status, "observedGeneration") === number(at(object, "metadata"), "generation") &&
      number(status, "availableReplicas") === replicas && number(status, "updatedReplicas") === replicas;
    const r = follow(object, at(spec, "template"), replicas, settled, ctx);
    await ctx.store.writeStatus(PLACES.Deployment, object, deploymentStatus(object, r, ctx.now));
    if (ctx.children) await keepReplicaSets(object, r, ctx);
    return nextLook(r, ctx.now);
  },
  async gone(object, ctx) {
    ctx.rollouts.delete(uidOf(object));
  },
};

function pausedStatus(object: JsonObject, now: number): JsonObject {
  const before = at(object, "status");
  const kept = Array.isArray(before["conditions"])
    ? before["conditions"].filter((c) => at({ c }, "c")["type"] !== "Progressing")
    : [];
  return {
    ...before,
    observedGeneration: number(at(object, "metadata"), "generation"),
    conditions: [
      ...kept,
      condition(before, "Progressing", "Unknown", "DeploymentPaused", "Deployment is paused", now, "lastUpdateTime"),
    ],
  };
}

/** The status that the real controller would show. */
export function deploymentStatus(object: JsonObject, r: Rollout, now: number): JsonObject {
  const before = at(object, "status");
  const replicas = r.replicas;
  const set = `ReplicaSet "${nameOf(object)}-${r.hash}"`;
  const ready = !r.crash && now >= r.readyAt;
  // During an update the old pods go on serving.
  const old = !ready && !r.dead && r.stableHash !== "" && r.stableHash !== r.hash;
  const scaling = !ready && !r.crash && r.stableHash === r.hash;
  const available = ready
    ? replicas
    : old
    ? replicas
    : scaling
    ? Math.min(number(before, "availableReplicas"), replicas)
    : 0;
  const isAvailable = available >= replicas && (ready || old || replicas === 0);
  const updated = old ? Math.min(1, replicas) : replicas;
  const status: JsonObject = { observedGeneration: number(at(object, "metadata"), "generation") };
  const put = (field: string, value: number) => {
    if (value > 0) status[field] = value;
  };
  put("replicas", replicas + (old ? 1 : 0));
  put("updatedReplicas", updated);
  put("readyReplicas", available);
  put("availableReplicas", available);
  put("unavailableReplicas", old ? 1 : replicas - available);
  const name = nameOf(object);
  const progressing = r.complete
    ? condition(
      before,
      "Progressing",
      "True",
      "NewReplicaSetAvailable",
      `${set} has successfully progressed.`,
      now,
      "lastUpdateTime",
    )
    : r.crash && now >= r.deadlineAt
    ? condition(
      before,
      "Progressing",
      "False",
      "ProgressDeadlineExceeded",
      `${set} has timed out progressing.`,
      now,
      "lastUpdateTime",
    )
    : condition(before, "Progressing", "True", "ReplicaSetUpdated", `${set} is progressing.`, now, "lastUpdateTime");
  status["conditions"] = [
    isAvailable
      ? condition(
        before,
        "Available",
        "True",
        "MinimumReplicasAvailable",
        "Deployment has minimum availability.",
        now,
        "lastUpdateTime",
      )
      : condition(
        before,
        "Available",
        "False",
        "MinimumReplicasUnavailable",
        "Deployment does not have minimum availability.",
        now,
        "lastUpdateTime",
      ),
    progressing,
  ];
  if (name && before["collisionCount"] !== undefined) status["collisionCount"] = before["collisionCount"];
  return status;
}

async function keepReplicaSets(object: JsonObject, r: Rollout, ctx: SimContext): Promise<void> {
  const spec = at(object, "spec");
  const template = structuredClone(at(spec, "template"));
  const wanted = `${nameOf(object)}-${r.hash}`;
  const all = await ctx.store.list(PLACES.ReplicaSet, namespaceOf(object));
  const own = all.filter((s) => controllerOf(s)?.uid === uidOf(object));
  const current = own.find((s) => nameOf(s) === wanted);
  if (!current) {
    const labels = { ...at(template, "metadata", "labels"), "pod-template-hash": r.hash };
    template["metadata"] = { ...at(template, "metadata"), labels };
    const match = { ...at(spec, "selector", "matchLabels"), "pod-template-hash": r.hash };
    await ctx.store.create(PLACES.ReplicaSet, {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: childMeta(object, wanted, labels),
      spec: { replicas: r.replicas, selector: { ...at(spec, "selector"), matchLabels: match }, template },
    });
  } else if (number(at(current, "spec"), "replicas") !== r.replicas) {
    at(current, "spec")["replicas"] = r.replicas;
    await ctx.store.update(PLACES.ReplicaSet, current);
  }
  if (!r.complete) return;
  const old = own.filter((s) => nameOf(s) !== wanted);
  const limit = number(spec, "revisionHistoryLimit", 10);
  old.sort((a, b) =>
    text(at(a, "metadata"), "creationTimestamp") < text(at(b, "metadata"), "creationTimestamp") ? -1 : 1
  );
  for (const [i, set] of old.entries()) {
    if (i < old.length - limit) await ctx.store.remove(PLACES.ReplicaSet, namespaceOf(set), nameOf(set));
    else if (number(at(set, "spec"), "replicas") !== 0) {
      at(set, "spec")["replicas"] = 0;
      await ctx.store.update(PLACES.ReplicaSet, set);
    }
  }
}

/**
 * Workloads: Deployment, ReplicaSet, ReplicationController, StatefulSet, DaemonSet. Their controllers always set
 * `status.observedGeneration`, so a status without it is not an answer (C21); counts that are absent are zero.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";
import {
  at,
  condition,
  conditionIs,
  degraded,
  healthy,
  num,
  progressing,
  said,
  staleStatus,
  str,
  suspended,
  untilStuck,
} from "./read.ts";
import type { Assessment, HealthContext } from "./types.ts";

/** Of the object's own accord: everything was up at this generation, and now nothing is. */
function lostAll(object: JsonObject, ctx: HealthContext): boolean {
  const generation = num(object, "metadata", "generation");
  return generation !== undefined && ctx.healthyGeneration === generation;
}

const plural = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`;

/** apps Deployment. */
export function deployment(object: JsonObject, ctx: HealthContext): Assessment {
  const stale = staleStatus(object, true);
  if (stale) return stale;
  const rollout = condition(object, "Progressing");
  if (rollout?.status === "False" && rollout.reason === "ProgressDeadlineExceeded") return degraded(said(rollout));
  if (at(object, "spec", "paused") === true) return suspended("paused");

  const want = num(object, "spec", "replicas") ?? 1;
  const total = num(object, "status", "replicas") ?? 0;
  const updated = num(object, "status", "updatedReplicas") ?? 0;
  const available = num(object, "status", "availableReplicas") ?? 0;
  const failure = conditionIs(object, "ReplicaFailure", "True");
  const why = failure ? `; ${said(failure)}` : "";
  if (updated < want) return progressing(`${updated} of ${want} updated${why}`);
  if (total > updated) return progressing(`${plural(total - updated, "old replica")} still to go`);
  if (updated > want) return progressing(`${plural(updated - want, "replica")} still to go`);
  if (available < want) {
    const message = `${available} of ${want} available${why}`;
    const up = condition(object, "Available");
    // Without a memory of our own, the controller's word that the rollout was once complete stands in for it.
    const wasUp = ctx.healthyGeneration === undefined
      ? rollout?.reason === "NewReplicaSetAvailable" && up?.status === "False"
      : lostAll(object, ctx);
    if (available === 0 && wasUp) return degraded(message);
    const deadline = (num(object, "spec", "progressDeadlineSeconds") ?? 600) * 1000;
    return untilStuck(message, up?.status === "False" ? up.since : undefined, ctx, deadline);
  }
  const down = conditionIs(object, "Available", "False");
  if (down) return progressing(said(down));
  return healthy(want === 0 ? "scaled to zero" : `${available} of ${want} available`);
}

/** apps ReplicaSet and core ReplicationController. */
export function replicaSet(object: JsonObject, ctx: HealthContext): Assessment {
  const stale = staleStatus(object, true);
  if (stale) return stale;
  const want = num(object, "spec", "replicas") ?? 1;
  const total = num(object, "status", "replicas") ?? 0;
  const available = num(object, "status", "availableReplicas") ?? 0;
  const failure = conditionIs(object, "ReplicaFailure", "True");
  if (failure) return progressing(`${total} of ${want} created; ${said(failure)}`);
  if (total < want) return progressing(`${total} of ${want} created`);
  if (total > want) return progressing(`${plural(total - want, "replica")} still to go`);
  if (available < want) {
    const message = `${available} of ${want} available`;
    return available === 0 && lostAll(object, ctx) ? degraded(message) : progressing(message);
  }
  return healthy(want === 0 ? "scaled to zero" : `${available} of ${want} available`);
}

/** apps StatefulSet. Updates that nobody starts (OnDelete, below the partition) are not waited for (C22). */
export function statefulSet(object: JsonObject, ctx: HealthContext): Assessment {
  const stale = staleStatus(object, true);
  if (stale) return stale;
  const want = num(object, "spec", "replicas") ?? 1;
  const total = num(object, "status", "replicas") ?? 0;
  const updated = num(object, "status", "updatedReplicas") ?? 0;
  const ready = num(object, "status", "readyReplicas") ?? 0;
  const up = (num(object, "spec", "minReadySeconds") ?? 0) > 0
    ? num(object, "status", "availableReplicas") ?? 0
    : ready;
  if (total < want) return progressing(`${total} of ${want} created`);
  if (total > want) return progressing(`${plural(total - want, "replica")} still to go`);
  if (up < want) {
    const message = `${up} of ${want} ready`;
    return up === 0 && lostAll(object, ctx) ? degraded(message) : progressing(message);
  }
  const current = str(object, "status", "currentRevision");
  const next = str(object, "status", "updateRevision");
  const rolling = next !== "" && next !== current;
  if (str(object, "spec", "updateStrategy", "type") === "OnDelete") {
    return healthy(rolling || updated < want ? `${updated} of ${want} updated (OnDelete)` : `${up} of ${want} ready`);
  }
  const partition = num(object, "spec", "updateStrategy", "rollingUpdate", "partition") ?? 0;
  if (partition > 0) {
    const due = Math.max(0, want - partition);
    if (rolling && updated < due) return progressing(`${updated} of ${due} updated (partition ${partition})`);
    return healthy(rolling ? `${updated} of ${want} updated (partition ${partition})` : `${up} of ${want} ready`);
  }
  if (rolling) return progressing(`${updated} of ${want} updated`);
  return healthy(want === 0 ? "scaled to zero" : `${up} of ${want} ready`);
}

/** apps DaemonSet. */
export function daemonSet(object: JsonObject, ctx: HealthContext): Assessment {
  const stale = staleStatus(object, true);
  if (stale) return stale;
  const want = num(object, "status", "desiredNumberScheduled");
  if (want === undefined) return progressing("its controller has not counted the nodes yet");
  const scheduled = num(object, "status", "currentNumberScheduled") ?? 0;
  const updated = num(object, "status", "updatedNumberScheduled") ?? 0;
  const available = num(object, "status", "numberAvailable") ?? 0;
  const ready = num(object, "status", "numberReady") ?? 0;
  const onDelete = str(object, "spec", "updateStrategy", "type") === "OnDelete";
  if (scheduled < want) return progressing(`${scheduled} of ${want} scheduled`);
  if (updated < want && !onDelete) return progressing(`${updated} of ${want} updated`);
  const up = Math.min(available, ready);
  if (up < want) {
    const message = `${up} of ${want} available`;
    return up === 0 && lostAll(object, ctx) ? degraded(message) : progressing(message);
  }
  if (onDelete && updated < want) return healthy(`${updated} of ${want} updated (OnDelete)`);
  return healthy(want === 0 ? "no node to run on" : `${available} of ${want} available`);
}

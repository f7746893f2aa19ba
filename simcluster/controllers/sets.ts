/** StatefulSet, DaemonSet, ReplicaSet and ReplicationController. @module */
import type { JsonObject } from "../../shared/json/mod.ts";
import type { Rollout, SimContext, SimController } from "./contract.ts";
import {
  at,
  controllerOf,
  follow,
  hashOf,
  items,
  nameOf,
  namespaceOf,
  nextLook,
  number,
  text,
  uidOf,
} from "./fields.ts";
import { PLACES } from "./places.ts";
import { keepPods, podNames } from "./pods.ts";

const generationOf = (o: JsonObject) => number(at(o, "metadata"), "generation");

/** `observedGeneration` is that of the spec and all replicas are ready. */
function isSettled(object: JsonObject, replicas: number, readyField: string): boolean {
  const status = at(object, "status");
  return number(status, "observedGeneration") === generationOf(object) && number(status, readyField) === replicas;
}

/** Pods that serve while the new ones are not ready: one at a time is replaced, and a broken one stops the rollout. */
function servingBefore(r: Rollout, replicas: number, ready: number): number {
  if (r.dead || r.stableHash === "") return 0;
  if (!r.crash) return Math.min(ready, replicas);
  return r.stableHash === r.hash ? 0 : Math.max(0, replicas - 1);
}

/** StatefulSets: revisions, `OnDelete`, partitions, claims for each replica. */
export const statefulSets: SimController = {
  place: PLACES.StatefulSet,
  async reconcile(object, ctx) {
    const spec = at(object, "spec");
    const before = at(object, "status");
    const replicas = number(spec, "replicas", 1);
    const template = at(spec, "template");
    const r = follow(object, template, replicas, isSettled(object, replicas, "readyReplicas"), ctx);
    const ready = !r.crash && ctx.now >= r.readyAt;
    const update = `${nameOf(object)}-${hashOf(template)}`;
    const was = text(before, "currentRevision") || update;
    const isNew = was === update;
    const strategy = at(spec, "updateStrategy");
    const byHand = text(strategy, "type") === "OnDelete";
    const partition = Math.min(replicas, number(at(strategy, "rollingUpdate"), "partition"));
    // Pods below the partition, and all pods of OnDelete, stay at the old revision.
    const toUpdate = isNew ? replicas : byHand ? 0 : replicas - partition;
    const updated = ready || isNew ? toUpdate : 0;
    const done = ready && updated === replicas;
    const ordinals = Math.min(number(before, "readyReplicas"), replicas);
    const readyReplicas = ready ? replicas : servingBefore(r, replicas, ordinals);
    const current = done ? update : was;
    const status: JsonObject = {
      observedGeneration: generationOf(object),
      replicas,
      ...(readyReplicas > 0 ? { readyReplicas } : {}),
      availableReplicas: readyReplicas,
      ...(done || isNew
        ? { currentReplicas: replicas }
        : replicas - updated > 0
        ? { currentReplicas: replicas - updated }
        : {}),
      ...(updated > 0 ? { updatedReplicas: updated } : {}),
      currentRevision: current,
      updateRevision: update,
      collisionCount: 0,
    };
    await ctx.store.writeStatus(PLACES.StatefulSet, object, status);
    if (ctx.children) await keepOrdinals(object, template, replicas, update, ctx);
    return nextLook({ ...r, deadlineAt: 0 }, ctx.now);
  },
  async gone(object, ctx) {
    ctx.rollouts.delete(uidOf(object));
  },
};

async function keepOrdinals(
  object: JsonObject,
  template: JsonObject,
  replicas: number,
  revision: string,
  ctx: SimContext,
): Promise<void> {
  const spec = at(object, "spec");
  const names = Array.from({ length: replicas }, (_, i) => `${nameOf(object)}-${i}`);
  const claims = items(spec, "volumeClaimTemplates");
  for (const claim of claims) {
    const claimName = nameOf(claim);
    for (const name of names) {
      await ctx.store.create(PLACES.PersistentVolumeClaim, {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        // Without an owner: claims outlive the set, as by default on a real cluster.
        metadata: {
          name: `${claimName}-${name}`,
          namespace: namespaceOf(object),
          labels: { ...at(spec, "selector", "matchLabels"), ...at(claim, "metadata", "labels") },
        },
        spec: structuredClone(at(claim, "spec")),
      });
    }
  }
  await keepPods(object, template, names, ctx, (pod, name) => {
    const labels = at(pod, "metadata", "labels");
    labels["controller-revision-hash"] = revision;
    labels["statefulset.kubernetes.io/pod-name"] = name;
    labels["apps.kubernetes.io/pod-index"] = name.slice(name.lastIndexOf("-") + 1);
    const volumes = items(at(pod, "spec"), "volumes");
    for (const claim of claims) {
      volumes.push({ name: nameOf(claim), persistentVolumeClaim: { claimName: `${nameOf(claim)}-${name}` } });
    }
    if (volumes.length > 0) at(pod, "spec")["volumes"] = volumes;
  });
}

/** DaemonSets: one pod for each node. */
export const daemonSets: SimController = {
  place: PLACES.DaemonSet,
  async reconcile(object, ctx) {
    const spec = at(object, "spec");
    const template = at(spec, "template");
    const selector = at(template, "spec", "nodeSelector");
    const nodes = (await ctx.store.list(PLACES.Node)).filter((node) => {
      const labels = at(node, "metadata", "labels");
      return Object.entries(selector).every(([k, v]) => labels[k] === v);
    });
    const desired = nodes.length;
    const r = follow(object, template, desired, isSettled(object, desired, "numberReady"), ctx);
    const ready = !r.crash && ctx.now >= r.readyAt;
    const available = ready ? desired : servingBefore(r, desired, number(at(object, "status"), "numberReady"));
    await ctx.store.writeStatus(PLACES.DaemonSet, object, {
      currentNumberScheduled: desired,
      numberMisscheduled: 0,
      desiredNumberScheduled: desired,
      numberReady: available,
      observedGeneration: generationOf(object),
      ...(ready || r.stableHash === "" ? { updatedNumberScheduled: desired } : {}),
      ...(available > 0 ? { numberAvailable: available } : {}),
      ...(desired - available > 0 ? { numberUnavailable: desired - available } : {}),
    });
    if (ctx.children) {
      const names = nodes.map((n) => `${nameOf(object)}-${hashOf([uidOf(object), nameOf(n)], 5)}`);
      await keepPods(object, template, names, ctx, (pod, name) => {
        at(pod, "spec")["nodeName"] = nameOf(nodes[names.indexOf(name)]!);
      });
    }
    return nextLook({ ...r, deadlineAt: 0 }, ctx.now);
  },
  async gone(object, ctx) {
    ctx.rollouts.delete(uidOf(object));
  },
};

function replicaSetLike(place: typeof PLACES.ReplicaSet | typeof PLACES.ReplicationController): SimController {
  return {
    place,
    async reconcile(object, ctx) {
      const spec = at(object, "spec");
      const replicas = number(spec, "replicas", 1);
      const template = at(spec, "template");
      const r = follow(object, template, replicas, isSettled(object, replicas, "readyReplicas"), ctx);
      const owner = controllerOf(object);
      const crash = r.crash || (owner !== undefined && ctx.faults.crashes(owner.kind, namespaceOf(object), owner.name));
      const ready = !crash && ctx.now >= r.readyAt ? replicas : 0;
      await ctx.store.writeStatus(place, object, {
        replicas,
        ...(replicas > 0 ? { fullyLabeledReplicas: replicas } : {}),
        ...(ready > 0 ? { readyReplicas: ready, availableReplicas: ready } : {}),
        observedGeneration: generationOf(object),
      });
      if (ctx.children) await keepPods(object, template, podNames(object, replicas), ctx);
      return nextLook({ ...r, deadlineAt: 0 }, ctx.now);
    },
    async gone(object, ctx) {
      ctx.rollouts.delete(uidOf(object));
    },
  };
}

/** ReplicaSets, those of Deployments too. */
export const replicaSets: SimController = replicaSetLike(PLACES.ReplicaSet);
/** ReplicationControllers. */
export const replicationControllers: SimController = replicaSetLike(PLACES.ReplicationController);

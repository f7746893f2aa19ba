/** Pods: scheduled, running and ready after a delay, or crashing. @module */
import type { JsonObject } from "../../shared/json/mod.ts";
import { rfc3339 } from "../../shared/runtime/clock.ts";
import type { SimContext, SimController } from "./contract.ts";
import {
  at,
  childMeta,
  condition,
  controllerOf,
  hashOf,
  imageBroken,
  items,
  nameOf,
  namespaceOf,
  text,
  uidOf,
} from "./fields.ts";
import { PLACES } from "./places.ts";
import { claimsOf } from "./volumes.ts";

/** Pods get a node at once and are ready `delays.ready` later; those of a Job end after `delays.job`. */
export const pods: SimController = {
  place: PLACES.Pod,
  async reconcile(object, ctx) {
    const phase = text(at(object, "status"), "phase");
    if (phase === "Succeeded" || phase === "Failed") return undefined;
    const spec = at(object, "spec");
    if (!text(spec, "nodeName")) {
      const nodes = await ctx.store.list(PLACES.Node);
      if (nodes.length === 0) return undefined;
      spec["nodeName"] = nameOf(nodes[Number.parseInt(hexOf(uidOf(object)), 16) % nodes.length]!);
      await ctx.store.update(PLACES.Pod, object);
      // A claim may have waited for its first consumer.
      for (const claim of claimsOf(object)) ctx.wake(PLACES.PersistentVolumeClaim, namespaceOf(object), claim);
      return undefined; // The event of this write goes on.
    }
    const owner = await workloadOf(object, ctx);
    const crash = imageBroken({ spec }) ||
      (owner !== undefined && ctx.faults.crashes(owner.kind, namespaceOf(object), owner.name)) ||
      ctx.faults.crashes("Pod", namespaceOf(object), nameOf(object));
    const created = Date.parse(text(at(object, "metadata"), "creationTimestamp"));
    const readyAt = created + ctx.delays.ready;
    const isJob = owner?.kind === "Job";
    if (crash) {
      await ctx.store.writeStatus(PLACES.Pod, object, podStatus(object, imageBroken({ spec }) ? "pull" : "crash", ctx));
      await wakeBudgets(object, ctx);
      return undefined;
    }
    if (isJob) {
      const endsAt = created + ctx.delays.job;
      await ctx.store.writeStatus(PLACES.Pod, object, podStatus(object, ctx.now >= endsAt ? "done" : "ready", ctx));
      return ctx.now >= endsAt ? undefined : endsAt - ctx.now;
    }
    const wasReady = isReady(object);
    await ctx.store.writeStatus(PLACES.Pod, object, podStatus(object, ctx.now >= readyAt ? "ready" : "starting", ctx));
    if (wasReady !== (ctx.now >= readyAt)) await wakeBudgets(object, ctx);
    return ctx.now >= readyAt ? undefined : readyAt - ctx.now;
  },
  async gone(object, ctx) {
    for (const claim of claimsOf(object)) ctx.wake(PLACES.PersistentVolumeClaim, namespaceOf(object), claim);
    const owner = controllerOf(object);
    const place = owner && OWNERS[owner.kind];
    if (place) ctx.wake(place, namespaceOf(object), owner.name);
  },
};

const isReady = (pod: JsonObject) =>
  items(at(pod, "status"), "conditions").some((c) => c["type"] === "Ready" && c["status"] === "True");

async function wakeBudgets(pod: JsonObject, ctx: SimContext): Promise<void> {
  for (const budget of await ctx.store.list(PLACES.PodDisruptionBudget, namespaceOf(pod))) {
    ctx.wake(PLACES.PodDisruptionBudget, namespaceOf(budget), nameOf(budget));
  }
}

const OWNERS: Record<string, typeof PLACES[keyof typeof PLACES] | undefined> = {
  ReplicaSet: PLACES.ReplicaSet,
  StatefulSet: PLACES.StatefulSet,
  DaemonSet: PLACES.DaemonSet,
  Job: PLACES.Job,
};

/** The workload that a user would name: the owner, or the owner's owner. */
async function workloadOf(pod: JsonObject, ctx: SimContext): Promise<{ kind: string; name: string } | undefined> {
  const owner = controllerOf(pod);
  if (owner?.kind !== "ReplicaSet") return owner;
  const set = await ctx.store.get(PLACES.ReplicaSet, namespaceOf(pod), owner.name);
  return (set && controllerOf(set)) ?? owner;
}

function hexOf(uid: string): string {
  return uid.replace(/[^0-9a-f]/g, "").slice(0, 6) || "0";
}

type PodState = "starting" | "ready" | "crash" | "pull" | "done";

function podStatus(object: JsonObject, state: PodState, ctx: SimContext): JsonObject {
  const before = at(object, "status");
  const ready = state === "ready";
  const started = text(before, "startTime") || rfc3339(ctx.now);
  const make = (type: string, ok: boolean, reason = "", message = "") =>
    condition(before, type, ok ? "True" : "False", ok ? "" : reason, ok ? "" : message, ctx.now, "lastProbeTime");
  const why = state === "done" ? "PodCompleted" : "ContainersNotReady";
  const number = Number.parseInt(hexOf(uidOf(object)), 16);
  const containers = items(at(object, "spec"), "containers").map((c) => {
    const previous = items(before, "containerStatuses").find((s) => text(s, "name") === text(c, "name")) ?? {};
    return {
      name: text(c, "name"),
      image: text(c, "image"),
      imageID: state === "starting" || state === "pull" ? "" : `sim://${text(c, "image")}`,
      ready,
      started: ready,
      restartCount: state === "crash" ? 3 : Number(previous["restartCount"] ?? 0),
      state: stateOf(state, at(previous, "state"), rfc3339(ctx.now)),
      lastState: {},
    };
  });
  return {
    phase: state === "done" ? "Succeeded" : state === "starting" || state === "pull" ? "Pending" : "Running",
    qosClass: text(before, "qosClass") || "BestEffort",
    startTime: started,
    hostIP: "192.0.2.10",
    hostIPs: [{ ip: "192.0.2.10" }],
    ...(state === "starting" || state === "pull" ? {} : {
      podIP: `10.244.${(number >> 8) & 255}.${number & 255}`,
      podIPs: [{ ip: `10.244.${(number >> 8) & 255}.${number & 255}` }],
    }),
    conditions: [
      make("PodReadyToStartContainers", state !== "done"),
      make("Initialized", true),
      make("Ready", ready, why, state === "done" ? "" : "containers are not ready"),
      make("ContainersReady", ready, why, state === "done" ? "" : "containers are not ready"),
      make("PodScheduled", true),
    ],
    containerStatuses: containers,
  };
}

function stateOf(state: PodState, before: JsonObject, time: string): JsonObject {
  switch (state) {
    case "ready":
      return { running: { startedAt: text(at(before, "running"), "startedAt") || time } };
    case "starting":
      return { waiting: { reason: "ContainerCreating" } };
    case "pull":
      return { waiting: { reason: "ImagePullBackOff", message: "the image of this tag cannot be pulled" } };
    case "crash":
      return { waiting: { reason: "CrashLoopBackOff", message: "back-off 40s restarting failed container" } };
    case "done":
      return {
        terminated: {
          exitCode: 0,
          reason: "Completed",
          startedAt: text(at(before, "running"), "startedAt") || time,
          finishedAt: text(at(before, "terminated"), "finishedAt") || time,
        },
      };
  }
}

/** Makes and removes the pods of a workload until exactly `names` are there. */
export async function keepPods(
  owner: JsonObject,
  template: JsonObject,
  names: readonly string[],
  ctx: SimContext,
  change: (pod: JsonObject, name: string) => void = () => {},
): Promise<void> {
  const all = await ctx.store.list(PLACES.Pod, namespaceOf(owner));
  const own = new Map(all.filter((p) => controllerOf(p)?.uid === uidOf(owner)).map((p) => [nameOf(p), p]));
  for (const name of own.keys()) {
    if (!names.includes(name)) await ctx.store.remove(PLACES.Pod, namespaceOf(owner), name);
  }
  for (const name of names) {
    if (own.has(name)) continue;
    const meta = at(template, "metadata");
    const pod: JsonObject = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        ...childMeta(owner, name, { ...at(meta, "labels") }),
        ...(Object.keys(at(meta, "annotations")).length > 0 ? { annotations: { ...at(meta, "annotations") } } : {}),
      },
      spec: structuredClone(at(template, "spec")),
    };
    change(pod, name);
    await ctx.store.create(PLACES.Pod, pod);
  }
}

/** Names of the pods of a set without ordinals: the same for the same set, so that nothing is made twice. */
export function podNames(owner: JsonObject, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${nameOf(owner)}-${hashOf([uidOf(owner), i], 5)}`);
}

/** Reading objects, and the pieces that all workload controllers share. @module */
import type { JsonObject, JsonValue } from "../../shared/json/mod.ts";
import { rfc3339 } from "../../shared/runtime/clock.ts";
import type { Rollout, SimContext } from "./contract.ts";

/** The object at a path; `{}` when there is none. */
export function at(object: JsonObject | undefined, ...path: string[]): JsonObject {
  let value: JsonValue | undefined = object;
  for (const name of path) {
    value = value !== null && typeof value === "object" && !Array.isArray(value) ? value[name] : undefined;
  }
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
}

/** The objects of a list field. */
export function items(object: JsonObject, field: string): JsonObject[] {
  const value = object[field];
  return Array.isArray(value)
    ? value.filter((v): v is JsonObject => v !== null && typeof v === "object" && !Array.isArray(v))
    : [];
}

/** Text of a field, or "". */
export function text(object: JsonObject, field: string): string {
  const value = object[field];
  return typeof value === "string" ? value : "";
}

/** Number of a field, or `fallback`. */
export function number(object: JsonObject, field: string, fallback = 0): number {
  const value = object[field];
  return typeof value === "number" ? value : fallback;
}

/** metadata.name. */
export const nameOf = (object: JsonObject): string => text(at(object, "metadata"), "name");
/** metadata.namespace, or "". */
export const namespaceOf = (object: JsonObject): string => text(at(object, "metadata"), "namespace");
/** metadata.uid. */
export const uidOf = (object: JsonObject): string => text(at(object, "metadata"), "uid");

/** The owner reference with `controller: true`. */
export function controllerOf(object: JsonObject): { kind: string; name: string; uid: string } | undefined {
  const ref = items(at(object, "metadata"), "ownerReferences").find((r) => r["controller"] === true);
  return ref && { kind: text(ref, "kind"), name: text(ref, "name"), uid: text(ref, "uid") };
}

/** Metadata of a child: labels, namespace, and the owner that controls it. */
export function childMeta(owner: JsonObject, name: string, labels: JsonObject): JsonObject {
  return {
    name,
    namespace: namespaceOf(owner),
    labels,
    ownerReferences: [{
      apiVersion: text(owner, "apiVersion"),
      kind: text(owner, "kind"),
      name: nameOf(owner),
      uid: uidOf(owner),
      controller: true,
      blockOwnerDeletion: true,
    }],
  };
}

const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** A short name part made of any value: equal values give equal parts. */
export function hashOf(value: JsonValue, length = 10): string {
  const json = JSON.stringify(value, (_, v) => typeof v === "bigint" ? String(v) : v);
  let a = 0x811c9dc5;
  let b = 0x01000193;
  for (let i = 0; i < json.length; i++) {
    a = Math.imul(a ^ json.charCodeAt(i), 0x01000193) >>> 0;
    b = Math.imul(b ^ json.charCodeAt(i), 0x85ebca6b) >>> 0;
  }
  let out = "";
  for (let i = 0; i < length; i++) {
    out += ALPHABET[(i % 2 ? a : b) % ALPHABET.length];
    if (i % 2) a = Math.floor(a / ALPHABET.length) || b ^ 0x9e3779b9;
    else b = Math.floor(b / ALPHABET.length) || 0x85ebca6b;
    a >>>= 0;
    b >>>= 0;
  }
  return out;
}

/** A condition as it should be now; `lastTransitionTime` moves only when its status does. */
export function condition(
  before: JsonObject,
  type: string,
  status: "True" | "False" | "Unknown",
  reason: string,
  message: string,
  now: number,
  extra: "lastUpdateTime" | "lastProbeTime" | undefined = undefined,
): JsonObject {
  const old = items(before, "conditions").find((c) => text(c, "type") === type);
  const same = old !== undefined && text(old, "status") === status;
  const time = rfc3339(now);
  const unchanged = same && text(old, "reason") === reason && text(old, "message") === message;
  const out: JsonObject = { type, status };
  if (extra === "lastUpdateTime") out["lastUpdateTime"] = unchanged ? old["lastUpdateTime"] ?? time : time;
  if (extra === "lastProbeTime") out["lastProbeTime"] = null;
  out["lastTransitionTime"] = same ? old["lastTransitionTime"] ?? time : time;
  if (reason) out["reason"] = reason;
  if (message) out["message"] = message;
  return out;
}

/** An image whose tag is `broken` cannot be pulled: the way to break a workload by its manifest. */
export function imageBroken(template: JsonObject): boolean {
  const spec = at(template, "spec");
  return [...items(spec, "containers"), ...items(spec, "initContainers")].some((c) =>
    /:broken$/.test(text(c, "image"))
  );
}

/** Follows the rollout of a workload: what its pods do, and since when. */
export function follow(
  object: JsonObject,
  template: JsonObject,
  replicas: number,
  settled: boolean,
  ctx: SimContext,
): Rollout {
  const { now, delays } = ctx;
  const uid = uidOf(object);
  const hash = hashOf(template);
  const dead = ctx.faults.crashes(text(object, "kind"), namespaceOf(object), nameOf(object));
  const crash = dead || imageBroken(template);
  const seconds = number(at(object, "spec"), "progressDeadlineSeconds", 600);
  const deadlineAt = now + (delays.progressDeadline ?? seconds * 1000);
  const before = ctx.rollouts.get(uid);
  const r: Rollout = before ?? {
    hash,
    // Seen for the first time but settled: this process was started anew.
    stableHash: settled ? hash : "",
    replicas,
    crash,
    dead,
    readyAt: settled ? now : now + delays.ready,
    deadlineAt,
    complete: settled,
  };
  if (r.hash !== hash) {
    Object.assign(r, { hash, complete: false, readyAt: now + delays.ready, deadlineAt });
  } else if (replicas > r.replicas) r.readyAt = now + delays.ready;
  if (r.crash && !crash) r.readyAt = now + delays.ready;
  if (replicas === 0 && !crash) r.readyAt = now;
  r.replicas = replicas;
  r.crash = crash;
  r.dead = dead;
  if (!crash && now >= r.readyAt) {
    r.complete = true;
    r.stableHash = hash;
  }
  ctx.rollouts.set(uid, r);
  return r;
}

/** When the rollout has to be looked at again, ms from now. */
export function nextLook(r: Rollout, now: number): number | undefined {
  if (r.crash) return r.complete || now >= r.deadlineAt ? undefined : r.deadlineAt - now;
  return now >= r.readyAt ? undefined : r.readyAt - now;
}

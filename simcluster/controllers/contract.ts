/** What a controller of a simulated cluster is and what it is given. @module */
import type { JsonObject } from "../../shared/json/mod.ts";
import type { FaultState } from "../faults.ts";
import type { Delays } from "../types.ts";

/** Where a kind lives. `group` is "" for the core group. */
export interface Place {
  group: string;
  version: string;
  plural: string;
  kind: string;
  namespaced: boolean;
}

/** Reads from the store, writes through the API. Objects that come from it are the caller's own. */
export interface SimStore {
  get(place: Place, namespace: string, name: string): Promise<JsonObject | undefined>;
  list(place: Place, namespace?: string): Promise<JsonObject[]>;
  /** Creates; an object that is already there is left alone. */
  create(place: Place, object: JsonObject): Promise<void>;
  /** Replaces the whole object; gives way when it changed meanwhile (an event will tell). */
  update(place: Place, object: JsonObject): Promise<void>;
  /** Replaces status when it differs from what is there; gives way when the object changed meanwhile. */
  writeStatus(place: Place, object: JsonObject, status: JsonObject): Promise<void>;
  remove(place: Place, namespace: string, name: string): Promise<void>;
}

/** Rollout of one workload, kept between reconciles by uid. */
export interface Rollout {
  /** Of the pod template. */
  hash: string;
  /** Hash that was fully rolled out last; "" = none yet. */
  stableHash: string;
  replicas: number;
  /** The pods of the current template crash. */
  crash: boolean;
  /** A fault makes those of the template before crash too. */
  dead: boolean;
  /** When the pods are ready, ms. */
  readyAt: number;
  /** When the rollout counts as failed, ms. */
  deadlineAt: number;
  /** The rollout was complete once: later crashes do not count against the deadline. */
  complete: boolean;
}

/** A Rollout for kinds that only wait for a time. */
export function waiting(readyAt: number): Rollout {
  return { hash: "", stableHash: "", replicas: 0, crash: false, dead: false, readyAt, deadlineAt: 0, complete: false };
}

/** The world of a controller. */
export interface SimContext {
  store: SimStore;
  /** ms since the epoch. */
  now: number;
  delays: Delays;
  faults: FaultState;
  rollouts: Map<string, Rollout>;
  /** Whether ReplicaSets, Pods and claims are made for workloads. */
  children: boolean;
  /** Reconciles an object again: it depends on one that changed. */
  wake(place: Place, namespace: string, name: string): void;
}

/** A controller of one kind: level-based, called with the object as it is now. */
export interface SimController {
  place: Place;
  /** Returns the time in ms after which to look again, or undefined to wait for a change. */
  reconcile(object: JsonObject, ctx: SimContext): Promise<number | undefined>;
  /** The object is gone. */
  gone?(object: JsonObject, ctx: SimContext): Promise<void>;
}

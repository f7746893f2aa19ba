/** What a health assessment is made of. @module */
import type { HealthState } from "../api/mod.ts";
import type { JsonObject } from "../json/mod.ts";
import type { CompiledHealthRules } from "./rules.ts";

/** The health of one object. */
export interface Assessment {
  state: HealthState;
  /** Short, one line, at most {@link MAX_MESSAGE} characters; "" when there is nothing to say. */
  message: string;
  /** The state may change by time alone: assess again after this many ms. */
  after?: number;
}

/** What a StorageClass says that matters here. */
export interface StorageClassInfo {
  volumeBindingMode: "Immediate" | "WaitForFirstConsumer" | string;
}

/** What an assessment may know beside the object. Everything is optional. */
export interface HealthContext {
  /** Time in ms; without it nothing is judged by its age. */
  now?: number;
  /** Compiled `spec.healthRules` of the Release. */
  rules?: CompiledHealthRules;
  /**
   * Looks up a StorageClass of the target, from a cache; name undefined asks for the default class. undefined = not
   * known (yet), or there is none.
   */
  storageClass?(name: string | undefined): StorageClassInfo | undefined;
  /**
   * `metadata.generation` at which this object was last seen Healthy. A workload that lost all its replicas without a
   * change of its spec is broken, not on its way.
   */
  healthyGeneration?: number;
}

/** A built-in rule: called with an object that exists and is not being deleted. */
export type KindRule = (object: JsonObject, ctx: HealthContext) => Assessment;

/** Longest message, in characters. */
export const MAX_MESSAGE = 400;

/** How long something may be on its way before it counts as broken, where the kind has no deadline of its own. ms */
export const STUCK_AFTER = 5 * 60_000;

/** Jobs: complete after a delay, or fail when they crash. @module */
import type { JsonObject } from "../../shared/json/mod.ts";
import { rfc3339 } from "../../shared/runtime/clock.ts";
import { type SimController, waiting } from "./contract.ts";
import { at, condition, imageBroken, items, nameOf, namespaceOf, number, text, uidOf } from "./fields.ts";
import { PLACES } from "./places.ts";
import { keepPods, podNames } from "./pods.ts";

const over = (status: JsonObject) =>
  items(status, "conditions").some((c) => ["Complete", "Failed"].includes(text(c, "type")) && c["status"] === "True");

/** Jobs run `delays.job`. */
export const jobs: SimController = {
  place: PLACES.Job,
  async reconcile(object, ctx) {
    const spec = at(object, "spec");
    const before = at(object, "status");
    if (over(before)) return undefined;
    const { now, delays } = ctx;
    if (spec["suspend"] === true) {
      await ctx.store.writeStatus(PLACES.Job, object, {
        conditions: [condition(before, "Suspended", "True", "JobSuspended", "Job suspended", now, "lastProbeTime")],
        ready: 0,
        terminating: 0,
        uncountedTerminatedPods: {},
      });
      return undefined;
    }
    const completions = number(spec, "completions", 1);
    const parallelism = Math.min(number(spec, "parallelism", 1), completions);
    const startTime = text(before, "startTime") || rfc3339(now);
    // startTime has whole seconds: the exact start is kept in memory.
    const rollout = ctx.rollouts.get(uidOf(object)) ?? waiting(
      (text(before, "startTime") ? Date.parse(startTime) : now) + delays.job,
    );
    ctx.rollouts.set(uidOf(object), rollout);
    const crash = ctx.faults.crashes("Job", namespaceOf(object), nameOf(object)) || imageBroken(at(spec, "template"));
    if (ctx.children) {
      const names = podNames(object, now < rollout.readyAt ? parallelism : completions);
      await keepPods(object, at(spec, "template"), names, ctx);
    }
    if (now < rollout.readyAt) {
      await ctx.store.writeStatus(PLACES.Job, object, {
        startTime,
        active: parallelism,
        ready: 0,
        terminating: 0,
        uncountedTerminatedPods: {},
      });
      return rollout.readyAt - now;
    }
    await ctx.store.writeStatus(
      PLACES.Job,
      object,
      crash ? failed(object, startTime, now) : complete(object, startTime, now),
    );
    return undefined;
  },
  async gone(object, ctx) {
    ctx.rollouts.delete(uidOf(object));
  },
};

function complete(object: JsonObject, startTime: string, now: number): JsonObject {
  const before = at(object, "status");
  const message = "Reached expected number of succeeded pods";
  const make = (type: string) => condition(before, type, "True", "CompletionsReached", message, now, "lastProbeTime");
  return {
    conditions: [make("SuccessCriteriaMet"), make("Complete")],
    startTime,
    completionTime: rfc3339(now),
    succeeded: number(at(object, "spec"), "completions", 1),
    ready: 0,
    terminating: 0,
    uncountedTerminatedPods: {},
  };
}

function failed(object: JsonObject, startTime: string, now: number): JsonObject {
  const before = at(object, "status");
  const make = (type: string) =>
    condition(
      before,
      type,
      "True",
      "BackoffLimitExceeded",
      "Job has reached the specified backoff limit",
      now,
      "lastProbeTime",
    );
  return {
    conditions: [make("FailureTarget"), make("Failed")],
    startTime,
    failed: number(at(object, "spec"), "backoffLimit", 6) + 1,
    ready: 0,
    terminating: 0,
    uncountedTerminatedPods: {},
  };
}

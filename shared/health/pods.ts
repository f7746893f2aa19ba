/** Pods and what runs to its end: Pod, Job, CronJob. @module */
import type { JsonObject } from "../json/mod.ts";
import {
  at,
  condition,
  conditionIs,
  degraded,
  healthy,
  items,
  num,
  progressing,
  said,
  str,
  suspended,
  unknown,
  untilStuck,
} from "./read.ts";
import type { Assessment, HealthContext } from "./types.ts";

/** Reasons of a waiting container that do not go away by waiting alone. */
const BROKEN = /^(Err.*|.*Error|.*BackOff|InvalidImageName|RegistryUnavailable|ContainerCannotRun|DeadlineExceeded)$/;

/** core Pod. */
export function pod(object: JsonObject, ctx: HealthContext): Assessment {
  const phase = str(object, "status", "phase");
  if (phase === "Succeeded") return healthy("completed");
  const reason = [str(object, "status", "reason"), str(object, "status", "message")].filter(Boolean).join(": ");
  if (phase === "Failed") return degraded(reason || failedContainer(object) || "failed");
  if (phase === "Unknown") return unknown(reason || "its node does not answer");

  for (
    const [list, word] of [["initContainerStatuses", "init container"], ["containerStatuses", "container"]] as const
  ) {
    for (const c of items(object, "status", list)) {
      const waiting = str(c, "state", "waiting", "reason");
      if (!BROKEN.test(waiting)) continue;
      const detail = str(c, "state", "waiting", "message");
      return degraded(`${word} ${str(c, "name")}: ${waiting}${detail ? `: ${detail}` : ""}`);
    }
  }
  const scheduled = conditionIs(object, "PodScheduled", "False");
  if (scheduled) {
    const gated = scheduled.reason === "SchedulingGated";
    return gated ? suspended(said(scheduled)) : untilStuck(said(scheduled), scheduled.since, ctx);
  }
  const inits = items(object, "spec", "initContainers").filter((c) => str(c, "restartPolicy") !== "Always");
  if (phase !== "Running") {
    const statuses = items(object, "status", "initContainerStatuses");
    const open = inits.filter((c) => {
      const status = statuses.find((s) => str(s, "name") === str(c, "name"));
      return !status || num(status, "state", "terminated", "exitCode") !== 0;
    });
    if (phase === "Pending" && open.length > 0) {
      return progressing(`${inits.length - open.length} of ${inits.length} init containers done`);
    }
    return progressing(phase ? "its containers are not running yet" : "not scheduled yet");
  }
  const policy = str(object, "spec", "restartPolicy") || "Always";
  if (policy === "Never") {
    const failed = failedContainer(object);
    if (failed) return degraded(failed);
  }
  // Such a pod is a task: it is done when it is done, not when it is ready (as for a Job).
  if (policy !== "Always") return progressing("runs to completion");
  const ready = condition(object, "Ready");
  if (ready?.status === "True") return healthy();
  const statuses = items(object, "status", "containerStatuses");
  const up = statuses.filter((c) => at(c, "ready") === true).length;
  if (statuses.length > 0 && up < statuses.length) return progressing(`${up} of ${statuses.length} containers ready`);
  return progressing(ready ? said(ready) : "not ready yet");
}

function failedContainer(object: JsonObject): string {
  for (const list of ["initContainerStatuses", "containerStatuses"]) {
    for (const c of items(object, "status", list)) {
      const code = num(c, "state", "terminated", "exitCode");
      if (code === undefined || code === 0) continue;
      const detail = str(c, "state", "terminated", "message") || str(c, "state", "terminated", "reason");
      return `container ${str(c, "name")} ended with code ${code}${detail ? `: ${detail}` : ""}`;
    }
  }
  return "";
}

/** batch Job. */
export function job(object: JsonObject): Assessment {
  const done = num(object, "status", "succeeded") ?? 0;
  const completions = num(object, "spec", "completions");
  const failed = conditionIs(object, "Failed", "True");
  if (failed) return degraded(said(failed));
  if (conditionIs(object, "Complete", "True")) return healthy(`completed, ${done} succeeded`);
  const failing = conditionIs(object, "FailureTarget", "True");
  if (failing) return progressing(`failing: ${said(failing)}`);
  if (conditionIs(object, "SuccessCriteriaMet", "True")) return progressing("succeeded, its last pods still end");
  if (at(object, "spec", "suspend") === true || conditionIs(object, "Suspended", "True")) return suspended("suspended");
  if (!str(object, "status", "startTime")) return progressing("not started yet");
  return progressing(
    `${done}${completions === undefined ? "" : ` of ${completions}`} succeeded, ` +
      `${num(object, "status", "active") ?? 0} active, ${num(object, "status", "failed") ?? 0} failed`,
  );
}

/** batch CronJob: its Jobs are not part of the Release. */
export function cronJob(object: JsonObject): Assessment {
  return at(object, "spec", "suspend") === true ? suspended("suspended") : healthy();
}

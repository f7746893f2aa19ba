import { ago, make, MINUTE, table, yes } from "./testing_table.ts";

const podOf = (status: object, spec: object = {}) => make("v1", "Pod", { spec, status });

const waiting = (reason: string, name = "c", message?: string) => ({ name, state: { waiting: { reason, message } } });

table("Pod", [
  ["just made", make("v1", "Pod", {}), "Progressing"],
  ["running and ready", podOf({ phase: "Running", conditions: [{ type: "Ready", status: "True" }] }), "Healthy"],
  [
    "running, not ready",
    podOf({ phase: "Running", containerStatuses: [{ name: "a", ready: true }, { name: "b", ready: false }] }),
    "Progressing",
    "1 of 2 containers ready",
  ],
  ["completed", podOf({ phase: "Succeeded" }, { restartPolicy: "Never" }), "Healthy", "completed"],
  [
    "failed with a reason",
    podOf({ phase: "Failed", reason: "Evicted", message: "disk pressure" }),
    "Degraded",
    "Evicted: disk pressure",
  ],
  [
    "failed by exit code",
    podOf({ phase: "Failed", containerStatuses: [{ name: "m", state: { terminated: { exitCode: 3 } } }] }),
    "Degraded",
    "container m ended with code 3",
  ],
  [
    "crash loop",
    podOf({ phase: "Running", containerStatuses: [waiting("CrashLoopBackOff")] }),
    "Degraded",
    "container c: CrashLoopBackOff",
  ],
  [
    "image pull",
    podOf({ phase: "Pending", containerStatuses: [waiting("ImagePullBackOff", "web", "no such image")] }),
    "Degraded",
    "container web: ImagePullBackOff: no such image",
  ],
  ["first failed pull", podOf({ phase: "Pending", containerStatuses: [waiting("ErrImagePull")] }), "Degraded"],
  ["bad config", podOf({ phase: "Pending", containerStatuses: [waiting("CreateContainerConfigError")] }), "Degraded"],
  [
    "containers being made",
    podOf({ phase: "Pending", containerStatuses: [waiting("ContainerCreating")] }),
    "Progressing",
  ],
  [
    "init crash loop",
    podOf({ phase: "Pending", initContainerStatuses: [waiting("CrashLoopBackOff", "init")] }),
    "Degraded",
    "init container init: CrashLoopBackOff",
  ],
  [
    "init running",
    podOf({
      phase: "Pending",
      initContainerStatuses: [{ name: "a", state: { terminated: { exitCode: 0 } } }, {
        name: "b",
        state: { running: {} },
      }],
    }, { initContainers: [{ name: "a" }, { name: "b" }, { name: "sidecar", restartPolicy: "Always" }] }),
    "Progressing",
    "1 of 2 init containers done",
  ],
  [
    "a task runs",
    podOf({ phase: "Running", conditions: [{ type: "Ready", status: "True" }] }, { restartPolicy: "OnFailure" }),
    "Progressing",
    "runs to completion",
  ],
  [
    "a task that failed beside a running container",
    podOf({
      phase: "Running",
      containerStatuses: [{ name: "a", state: { terminated: { exitCode: 1, reason: "Error" } } }, {
        name: "b",
        state: { running: {} },
      }],
    }, { restartPolicy: "Never" }),
    "Degraded",
    "container a ended with code 1: Error",
  ],
  [
    "unschedulable for a while",
    podOf({
      phase: "Pending",
      conditions: [{
        type: "PodScheduled",
        status: "False",
        reason: "Unschedulable",
        message: "0/3 nodes",
        lastTransitionTime: ago(MINUTE),
      }],
    }),
    "Progressing",
    "Unschedulable: 0/3 nodes",
  ],
  [
    "unschedulable for long",
    podOf({
      phase: "Pending",
      conditions: [{
        type: "PodScheduled",
        status: "False",
        reason: "Unschedulable",
        lastTransitionTime: ago(6 * MINUTE),
      }],
    }),
    "Degraded",
  ],
  ["node lost", podOf({ phase: "Unknown", reason: "NodeLost" }), "Unknown", "NodeLost"],
]);

const jobOf = (status: object, spec: object = {}) => make("batch/v1", "Job", { spec, status });

table("Job and CronJob", [
  [
    "complete",
    jobOf({ succeeded: 1, conditions: [yes("SuccessCriteriaMet"), yes("Complete")] }),
    "Healthy",
    "completed, 1 succeeded",
  ],
  [
    "failed",
    jobOf({ conditions: [yes("Failed", { reason: "BackoffLimitExceeded", message: "too often" })] }),
    "Degraded",
    "BackoffLimitExceeded: too often",
  ],
  ["failing", jobOf({ conditions: [yes("FailureTarget", { reason: "PodFailurePolicy" })] }), "Progressing"],
  ["criteria met, pods end", jobOf({ startTime: ago(0), conditions: [yes("SuccessCriteriaMet")] }), "Progressing"],
  ["suspended by spec", jobOf({}, { suspend: true }), "Suspended"],
  ["suspended by condition", jobOf({ conditions: [yes("Suspended")] }), "Suspended"],
  ["complete beats suspend", jobOf({ conditions: [yes("Complete")] }, { suspend: true }), "Healthy"],
  [
    "a resumed one",
    jobOf({ startTime: ago(0), active: 1, conditions: [{ type: "Suspended", status: "False" }] }, { completions: 3 }),
    "Progressing",
    "0 of 3 succeeded, 1 active, 0 failed",
  ],
  ["not started", jobOf({}), "Progressing", "not started yet"],
  ["CronJob", make("batch/v1", "CronJob", { spec: { schedule: "* * * * *" } }), "Healthy"],
  ["suspended CronJob", make("batch/v1", "CronJob", { spec: { suspend: true } }), "Suspended"],
]);

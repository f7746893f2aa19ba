/** Kind Release: one application on one cluster. @module */
import * as z from "zod";
import {
  anyValue,
  atomicList,
  conditions,
  duration,
  int,
  listMap,
  objectName,
  set,
  time,
  withRules,
} from "./building_blocks.ts";

const target = z.object({
  group: z.string().default(""),
  kind: z.string().min(1),
  namespace: z.string().optional(),
  name: z.string().optional(),
});

const source = withRules(
  z.object({
    git: z.object({
      repository: objectName().describe("Name of a GitRepository in the namespace of the Release."),
      path: z.string().default(".").describe("Folder inside the repository."),
    }).optional(),
    chart: z.object({
      registry: objectName().describe("Name of a HelmRegistry in the namespace of the Release."),
      name: z.string().min(1),
      version: z.string().default("*").describe("Version or range."),
    }).optional(),
    oci: z.object({
      registry: objectName().describe("Name of an OCIRegistry in the namespace of the Release."),
      repository: z.string().min(1),
      tag: z.string().optional(),
      digest: z.string().optional(),
      semver: z.string().optional(),
      path: z.string().default("."),
    }).optional(),
  }),
  {
    rule: "(has(self.git) ? 1 : 0) + (has(self.chart) ? 1 : 0) + (has(self.oci) ? 1 : 0) == 1",
    message: "exactly one of git, chart and oci must be set",
  },
);

const render = z.object({
  type: z.enum(["Auto", "Manifests", "Kustomize", "Helm"]).default("Auto"),
  helm: z.object({
    releaseName: z.string().optional(),
    values: z.looseObject({}).meta({ type: "object", "x-kubernetes-preserve-unknown-fields": true }).optional(),
    valuesFrom: atomicList(z.object({
      kind: z.enum(["Secret", "ConfigMap"]),
      name: objectName(),
      key: z.string().default("values.yaml"),
      optional: z.boolean().default(false),
    })).optional(),
    includeCRDs: z.boolean().default(true),
  }).optional(),
  kustomize: z.object({
    components: atomicList(z.string()).optional(),
    namePrefix: z.string().optional(),
    nameSuffix: z.string().optional(),
    images: atomicList(z.object({
      name: z.string(),
      newName: z.string().optional(),
      newTag: z.string().optional(),
      digest: z.string().optional(),
    })).optional(),
  }).optional(),
  targetNamespace: objectName().optional().describe("Namespace of objects that name none."),
  commonLabels: z.record(z.string(), z.string()).optional(),
  commonAnnotations: z.record(z.string(), z.string()).optional(),
});

const pin = withRules(
  z.object({
    renderRef: z.string().optional(),
    revision: z.string().optional(),
    reason: z.string().max(1024).optional(),
    expiresAt: time().optional(),
    by: z.string().optional().describe("The user who asked."),
    at: time().optional(),
  }),
  {
    rule: "has(self.renderRef) != has(self.revision)",
    message: "exactly one of renderRef and revision must be set",
  },
);

const mutation = withRules(
  z.object({
    name: z.string().min(1).max(63),
    target,
    jsonPatch: atomicList(z.object({
      op: z.enum(["add", "remove", "replace", "move", "copy", "test"]),
      path: z.string(),
      from: z.string().optional(),
      value: anyValue().optional(),
    })).optional(),
    mergePatch: z.looseObject({}).meta({ type: "object", "x-kubernetes-preserve-unknown-fields": true }).optional(),
    reason: z.string().max(1024).optional(),
    expiresAt: time().optional(),
    by: z.string().optional(),
    at: time().optional(),
  }),
  {
    rule: "has(self.jsonPatch) != has(self.mergePatch)",
    message: "exactly one of jsonPatch and mergePatch must be set",
  },
);

const lifecycle = z.object({
  action: z.enum(["Restart", "Suspend", "Resume", "Rollback", "Retire"]),
  id: z.string().min(1).describe("Names the request, so that it runs once."),
  reason: z.string().max(1024).optional(),
  by: z.string().optional(),
  at: time().optional(),
});

const retention = {
  count: int(1, 1000).default(10).describe("How many Renders to keep."),
  maxAge: duration().optional().describe("Renders older than this go, but for the live one."),
};

/** `spec` of a Release. */
export const releaseSpec = z.object({
  // The inventory tells objects, not clusters: a Release that moved would leave all it had on the old one.
  cluster: withRules(z.object({ name: objectName() }), {
    rule: "self.name == oldSelf.name",
    message: "the cluster of a Release cannot change: delete the Release and create another",
  }).describe("The Cluster in the namespace of the Release."),
  clusterWave: int(0, 1_000_000).default(0)
    .describe("Waits until every Release of a lower wave on the cluster is Applied and Healthy."),
  source,
  render: render.default({ type: "Auto" }),
  interval: duration().default("10m").describe("How often to apply again although nothing changed."),
  timeout: duration().default("5m").describe("Limit of one rollout."),
  suspend: z.boolean().default(false).describe("Stops the Release controller; the observer goes on."),
  prune: z.boolean().default(true).describe("Deletes objects that left the render."),
  pruneHandover: z.enum(["Wait", "None"]).default("Wait"),
  allowEmpty: z.boolean().default(false).describe("Whether a render without objects may prune everything."),
  deletionPolicy: z.enum(["Delete", "Orphan"]).default("Delete").describe(
    "What becomes of the objects when the Release is deleted.",
  ),
  serviceAccountName: objectName().optional().describe("ServiceAccount on the target that is impersonated."),
  drift: z.object({
    mode: z.enum(["Report", "Correct"]).default("Report"),
    ignore: atomicList(z.object({
      group: z.string().optional(),
      kind: z.string().optional(),
      namespace: z.string().optional(),
      name: z.string().optional(),
      paths: z.array(z.string()).min(1).meta({ "x-kubernetes-list-type": "atomic" }),
    })).optional(),
  }).default({ mode: "Report" }),
  healthRules: atomicList(z.object({
    group: z.string().default(""),
    kind: z.string().min(1),
    healthy: z.string().optional(),
    progressing: z.string().optional(),
    degraded: z.string().optional(),
  })).optional().describe("CEL over `object`, tried in the order degraded, progressing, healthy."),
  adoptManagers: set(z.string()).optional().describe("Field managers whose fields are taken over."),
  retentionPolicy: z.object(retention).optional(),
  pin: pin.optional(),
  mutations: listMap(mutation, "name").optional(),
  lifecycle: lifecycle.optional(),
});

/** Words of per-object health. */
export const healthStates = ["Healthy", "Progressing", "Degraded", "Suspended", "Missing", "Unknown"] as const;
/** One word of per-object health. */
export type HealthState = typeof healthStates[number];

/** `status.healthSummary`: number of objects per state. */
export const healthSummary = z.object({
  healthy: int(0),
  progressing: int(0),
  degraded: int(0),
  suspended: int(0),
  missing: int(0),
  unknown: int(0),
});

/** `status` of a Release; who writes what: design.md, "Who writes what". */
export const releaseStatus = z.object({
  conditions: conditions().optional(),
  observedGeneration: int(0).optional(),
  reconciledAt: time().optional(),
  source: z.object({ revision: z.string(), digest: z.string() }).optional(),
  renderRef: z.string().optional(),
  waves: listMap(
    z.object({
      wave: int(),
      objects: int(0),
      applied: int(0),
      healthy: int(0),
      startedAt: time().optional(),
      finishedAt: time().optional(),
    }),
    "wave",
  ).optional(),
  pin: z.object({
    renderRef: z.string().optional(),
    revision: z.string().optional(),
    reason: z.string().optional(),
    expiresAt: time().optional(),
    by: z.string().optional(),
    since: time().optional(),
  }).optional(),
  lifecycle: z.object({
    action: z.string(),
    id: z.string(),
    by: z.string().optional(),
    requestedAt: time().optional(),
    startedAt: time().optional(),
    finishedAt: time().optional(),
  }).optional(),
  resolvedRetentionPolicy: z.object(retention).optional(),
  renders: listMap(
    z.object({
      renderRef: z.string(),
      revision: z.string(),
      time: time(),
      size: int(0),
      objects: int(0),
    }),
    "renderRef",
  ).optional(),
  healthSummary: healthSummary.optional(),
});

/** `spec` as stored, defaults filled in. */
export type ReleaseSpec = z.output<typeof releaseSpec>;
/** `status`. */
export type ReleaseStatus = z.output<typeof releaseStatus>;

/** Defaults and checks of the kinds that run pods for good: Deployment, StatefulSet, DaemonSet, ReplicaSet, Pod. @module */
import type { JsonObject } from "../json/mod.ts";
import type { FieldError, KindStrategy } from "../server/contract.ts";
import {
  asObject,
  ensureObject,
  fill,
  fillText,
  forbidden,
  immutable,
  invalid,
  numberIn,
  objectAt,
  objectsIn,
  required,
  sameJson,
  stringIn,
} from "./fields.ts";
import { podSpecErrors, preparePodSpec, preparePodTemplate, templateErrors } from "./pods.ts";

function selectorErrors(spec: JsonObject | undefined, kind: string): FieldError[] {
  const selector = asObject(spec?.["selector"]);
  if (!selector) return [required("spec.selector")];
  const labels = objectAt(selector, "matchLabels");
  if (Object.keys(labels ?? {}).length === 0 && objectsIn(selector, "matchExpressions").length === 0) {
    return [invalid("spec.selector", selector, `empty selector is invalid for ${kind}`)];
  }
  return [];
}

function countErrors(spec: JsonObject | undefined, ...fields: string[]): FieldError[] {
  return fields.filter((f) => numberIn(spec, f) < 0).map((f) =>
    invalid(`spec.${f}`, spec![f], "must be greater than or equal to 0")
  );
}

function workloadErrors(object: JsonObject, old: JsonObject | undefined, kind: string): FieldError[] {
  const spec = objectAt(object, "spec");
  const claims = objectsIn(spec, "volumeClaimTemplates").map((c) => stringIn(objectAt(c, "metadata"), "name"));
  const errors = [
    ...countErrors(spec, "replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"),
    ...selectorErrors(spec, kind),
    ...templateErrors(
      objectAt(spec, "template"),
      asObject(spec?.["selector"]) ?? null,
      "spec.template",
      ["Always"],
      claims,
    ),
  ];
  if (old) errors.push(...immutable("spec.selector", spec?.["selector"], objectAt(old, "spec")?.["selector"]));
  return errors;
}

/** apps/v1 Deployment. */
export const deployment: KindStrategy = {
  prepare(object) {
    const spec = ensureObject(object, "spec");
    if (!spec) return;
    fill(spec, "replicas", 1);
    fill(spec, "revisionHistoryLimit", 10);
    fill(spec, "progressDeadlineSeconds", 600);
    const strategy = ensureObject(spec, "strategy");
    if (strategy) {
      fillText(strategy, "type", "RollingUpdate");
      if (strategy["type"] === "RollingUpdate") {
        const rolling = ensureObject(strategy, "rollingUpdate");
        if (rolling) {
          fill(rolling, "maxUnavailable", "25%");
          fill(rolling, "maxSurge", "25%");
        }
      }
    }
    preparePodTemplate(asObject(spec["template"]));
  },
  validate(object, old) {
    const spec = objectAt(object, "spec");
    const errors = workloadErrors(object, old, "deployment");
    const strategy = objectAt(spec, "strategy");
    if (stringIn(strategy, "type") === "Recreate" && asObject(strategy?.["rollingUpdate"])) {
      errors.push(
        forbidden("spec.strategy.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'"),
      );
    }
    return errors;
  },
};

/** Fields of a StatefulSet's spec that may change. */
const STATEFULSET_MUTABLE = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];

/** apps/v1 StatefulSet. */
export const statefulSet: KindStrategy = {
  prepare(object) {
    const spec = ensureObject(object, "spec");
    if (!spec) return;
    fill(spec, "replicas", 1);
    fill(spec, "revisionHistoryLimit", 10);
    fillText(spec, "podManagementPolicy", "OrderedReady");
    const update = ensureObject(spec, "updateStrategy");
    if (update) {
      if (!update["type"]) {
        update["type"] = "RollingUpdate";
        fill(update, "rollingUpdate", {});
      }
      const rolling = asObject(update["rollingUpdate"]);
      if (update["type"] === "RollingUpdate" && rolling) fill(rolling, "partition", 0);
    }
    const retention = ensureObject(spec, "persistentVolumeClaimRetentionPolicy");
    if (retention) {
      fillText(retention, "whenDeleted", "Retain");
      fillText(retention, "whenScaled", "Retain");
    }
    preparePodTemplate(asObject(spec["template"]));
    for (const claim of objectsIn(spec, "volumeClaimTemplates")) {
      claim["apiVersion"] = "v1";
      claim["kind"] = "PersistentVolumeClaim";
      const claimSpec = ensureObject(claim, "spec");
      if (claimSpec) fillText(claimSpec, "volumeMode", "Filesystem");
      const status = ensureObject(claim, "status");
      if (status) fillText(status, "phase", "Pending");
    }
  },
  validate(object, old) {
    const errors = workloadErrors(object, undefined, "statefulset");
    const now = objectAt(object, "spec");
    const was = objectAt(old, "spec");
    if (now && was) {
      const fields = new Set([...Object.keys(now), ...Object.keys(was)]);
      if ([...fields].some((f) => !STATEFULSET_MUTABLE.includes(f) && !sameJson(now[f] ?? null, was[f] ?? null))) {
        const listed = STATEFULSET_MUTABLE.map((f) => `'${f}'`);
        errors.push(forbidden(
          "spec",
          `updates to statefulset spec for fields other than ${listed.slice(0, -1).join(", ")} and ${
            listed.at(-1)
          } are forbidden`,
        ));
      }
    }
    return errors;
  },
};

const TEMPLATE_GENERATION = "deprecated.daemonset.template.generation";

/** apps/v1 DaemonSet. */
export const daemonSet: KindStrategy = {
  prepare(object, old) {
    const spec = ensureObject(object, "spec");
    if (!spec) return;
    // Whoever creates a set owns this annotation, since decoding writes it.
    const metadata = ensureObject(object, "metadata");
    const annotations = !old && metadata ? ensureObject(metadata, "annotations") : undefined;
    if (annotations) fill(annotations, TEMPLATE_GENERATION, "0");
    fill(spec, "revisionHistoryLimit", 10);
    const update = ensureObject(spec, "updateStrategy");
    if (update) {
      fillText(update, "type", "RollingUpdate");
      if (update["type"] === "RollingUpdate") {
        const rolling = ensureObject(update, "rollingUpdate");
        if (rolling) {
          fill(rolling, "maxUnavailable", 1);
          fill(rolling, "maxSurge", 0);
        }
      }
    }
    preparePodTemplate(asObject(spec["template"]));
  },
  allocate(object, old) {
    const metadata = ensureObject(object, "metadata");
    const annotations = metadata && ensureObject(metadata, "annotations");
    if (!annotations) return;
    const was = Number(stringIn(objectAt(old, "metadata", "annotations"), TEMPLATE_GENERATION)) || 0;
    const changed = !sameJson(objectAt(old, "spec", "template"), objectAt(object, "spec", "template"));
    annotations[TEMPLATE_GENERATION] = String(changed ? was + 1 : Math.max(was, 1));
  },
  validate: (object, old) => workloadErrors(object, old, "daemonset"),
};

/** apps/v1 ReplicaSet. */
export const replicaSet: KindStrategy = {
  prepare(object) {
    const spec = ensureObject(object, "spec");
    if (!spec) return;
    fill(spec, "replicas", 1);
    preparePodTemplate(asObject(spec["template"]));
  },
  validate: (object, old) => workloadErrors(object, old, "replicaset"),
};

/** v1 ReplicationController: selector and labels come from the template. */
export const replicationController: KindStrategy = {
  prepare(object) {
    const spec = ensureObject(object, "spec");
    if (!spec) return;
    fill(spec, "replicas", 1);
    if (spec["minReadySeconds"] === 0) delete spec["minReadySeconds"];
    const labels = objectAt(spec, "template", "metadata", "labels");
    if (labels) {
      if (Object.keys(asObject(spec["selector"]) ?? {}).length === 0) spec["selector"] = { ...labels };
      const metadata = ensureObject(object, "metadata");
      if (metadata && Object.keys(asObject(metadata["labels"]) ?? {}).length === 0) metadata["labels"] = { ...labels };
    }
    preparePodTemplate(asObject(spec["template"]));
  },
  validate(object) {
    const spec = objectAt(object, "spec");
    const selector = asObject(spec?.["selector"]);
    const errors = countErrors(spec, "replicas", "minReadySeconds");
    if (!selector || Object.keys(selector).length === 0) errors.push(required("spec.selector"));
    if (!asObject(spec?.["template"])) return [...errors, required("spec.template")];
    return [
      ...errors,
      ...templateErrors(objectAt(spec, "template"), selector && { matchLabels: selector }, "spec.template"),
    ];
  },
};

/** v1 PodTemplate. */
export const podTemplate: KindStrategy = {
  prepare: (object) => preparePodTemplate(asObject(object["template"])),
  validate: (object) => podSpecErrors(objectAt(object, "template", "spec"), "template.spec"),
};

/** Fields of a pod's spec that may change. */
const POD_MUTABLE = ["activeDeadlineSeconds", "terminationGracePeriodSeconds", "tolerations", "ephemeralContainers"];

/** v1 Pod. */
export const pod: KindStrategy = {
  prepare(object) {
    const spec = ensureObject(object, "spec");
    if (!spec) return;
    preparePodSpec(spec);
    fill(spec, "enableServiceLinks", true);
    for (const field of ["initContainers", "containers"]) {
      for (const container of objectsIn(spec, field)) preparePodContainer(container, spec["hostNetwork"] === true);
    }
  },
  allocate(object, old) {
    const spec = objectAt(object, "spec");
    if (!spec || old) return;
    fillText(spec, "serviceAccountName", "default");
    spec["serviceAccount"] = spec["serviceAccountName"]!;
    fill(spec, "priority", 0);
    fillText(spec, "preemptionPolicy", "PreemptLowerPriority");
    const tolerations = Array.isArray(spec["tolerations"]) ? spec["tolerations"] : [];
    for (const key of ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]) {
      if (!objectsIn(spec, "tolerations").some((t) => stringIn(t, "key") === key)) {
        tolerations.push({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 });
      }
    }
    spec["tolerations"] = tolerations;
    object["status"] = { phase: "Pending", qosClass: qosClassOf(spec) };
  },
  validate(object, old) {
    const spec = objectAt(object, "spec");
    const errors = podSpecErrors(spec, "spec");
    const was = objectAt(old, "spec");
    if (!spec || !was) return errors;
    const strip = (s: JsonObject): JsonObject => {
      const out: JsonObject = { ...s };
      // The scheduler's binding sets nodeName once.
      for (const field of POD_MUTABLE) delete out[field];
      if (!was["nodeName"]) delete out["nodeName"];
      for (const field of ["containers", "initContainers"]) {
        out[field] = objectsIn(s, field).map((c) => ({ ...c, image: "", imagePullPolicy: "", resources: {} }));
      }
      return out;
    };
    if (!sameJson(strip(spec), strip(was))) {
      errors.push(forbidden(
        "spec",
        "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
      ));
    }
    return errors;
  },
};

function preparePodContainer(container: JsonObject, hostNetwork: boolean): void {
  const resources = asObject(container["resources"]);
  const limits = asObject(resources?.["limits"]);
  if (resources && limits) {
    const requests = ensureObject(resources, "requests");
    if (requests) { for (const [key, value] of Object.entries(limits)) fill(requests, key, value); }
  }
  if (!hostNetwork) return;
  for (const port of objectsIn(container, "ports")) {
    if (!port["hostPort"]) port["hostPort"] = port["containerPort"] ?? 0;
  }
}

function qosClassOf(spec: JsonObject): string {
  let any = false;
  let guaranteed = true;
  for (const container of [...objectsIn(spec, "containers"), ...objectsIn(spec, "initContainers")]) {
    const requests = objectAt(container, "resources", "requests") ?? {};
    const limits = objectAt(container, "resources", "limits") ?? {};
    for (const name of ["cpu", "memory"]) {
      if (requests[name] !== undefined || limits[name] !== undefined) any = true;
      if (limits[name] === undefined || !sameJson(limits[name], requests[name] ?? limits[name])) guaranteed = false;
    }
  }
  return !any ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

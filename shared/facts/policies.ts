/** Defaults and checks of rbac, networking, autoscaling, scheduling, webhook, CRD and APIService kinds. @module */
import type { JsonObject, JsonValue } from "../json/mod.ts";
import type { FieldError, KindStrategy } from "../server/contract.ts";
import {
  asObject,
  ensureObject,
  fill,
  fillText,
  forbidden,
  invalid,
  numberIn,
  objectAt,
  objectsIn,
  required,
  sameJson,
  stringIn,
  unsupported,
} from "./fields.ts";

const RBAC = "rbac.authorization.k8s.io";

/** RoleBinding and ClusterRoleBinding. */
export const roleBinding: KindStrategy = {
  prepare(object) {
    const ref = asObject(object["roleRef"]);
    if (ref) fillText(ref, "apiGroup", RBAC);
    for (const subject of objectsIn(object, "subjects")) {
      const kind = stringIn(subject, "kind");
      if (kind === "User" || kind === "Group") fillText(subject, "apiGroup", RBAC);
    }
  },
  validate(object, old) {
    const errors: FieldError[] = [];
    const ref = asObject(object["roleRef"]);
    const kinds = object["kind"] === "ClusterRoleBinding" ? ["ClusterRole"] : ["Role", "ClusterRole"];
    if (!kinds.includes(stringIn(ref, "kind"))) errors.push(unsupported("roleRef.kind", ref?.["kind"] ?? "", kinds));
    if (!stringIn(ref, "name")) errors.push(required("roleRef.name"));
    objectsIn(object, "subjects").forEach((subject, i) => {
      if (!stringIn(subject, "name")) errors.push(required(`subjects[${i}].name`));
      const kind = stringIn(subject, "kind");
      if (!["ServiceAccount", "User", "Group"].includes(kind)) {
        errors.push(unsupported(`subjects[${i}].kind`, kind, ["Group", "ServiceAccount", "User"]));
      }
      if (kind === "ServiceAccount" && !stringIn(subject, "namespace") && object["kind"] === "ClusterRoleBinding") {
        errors.push(required(`subjects[${i}].namespace`));
      }
    });
    if (old && !sameJson(object["roleRef"] ?? null, old["roleRef"] ?? null)) {
      errors.push(invalid("roleRef", object["roleRef"], "cannot change roleRef"));
    }
    return errors;
  },
};

/** networking.k8s.io/v1 Ingress. */
export const ingress: KindStrategy = {
  validate(object) {
    const spec = objectAt(object, "spec");
    const errors: FieldError[] = [];
    const rules = objectsIn(spec, "rules");
    if (rules.length === 0 && !asObject(spec?.["defaultBackend"])) {
      errors.push(invalid("spec", null, "either `defaultBackend` or `rules` must be specified"));
    }
    rules.forEach((rule, i) => {
      objectsIn(objectAt(rule, "http"), "paths").forEach((path, j) => {
        const at = `spec.rules[${i}].http.paths[${j}]`;
        const type = stringIn(path, "pathType");
        const types = ["Exact", "ImplementationSpecific", "Prefix"];
        if (!type) errors.push(required(`${at}.pathType`, "pathType must be specified"));
        else if (!types.includes(type)) errors.push(unsupported(`${at}.pathType`, type, types));
        if (type !== "ImplementationSpecific" && type && !stringIn(path, "path").startsWith("/")) {
          errors.push(invalid(`${at}.path`, path["path"] ?? "", "must be an absolute path"));
        }
        const backend = objectAt(path, "backend", "service");
        if (backend && !stringIn(backend, "name")) errors.push(required(`${at}.backend.service.name`));
      });
    });
    return errors;
  },
};

/** networking.k8s.io/v1 IngressClass. */
export const ingressClass: KindStrategy = {
  prepare(object) {
    const parameters = objectAt(object, "spec", "parameters");
    if (parameters) fillText(parameters, "scope", "Cluster");
  },
};

/** networking.k8s.io/v1 NetworkPolicy. */
export const networkPolicy: KindStrategy = {
  prepare(object) {
    const spec = ensureObject(object, "spec");
    if (!spec) return;
    if (!Array.isArray(spec["policyTypes"]) || spec["policyTypes"].length === 0) {
      spec["policyTypes"] = objectsIn(spec, "egress").length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
    }
    for (const rule of [...objectsIn(spec, "ingress"), ...objectsIn(spec, "egress")]) {
      for (const port of objectsIn(rule, "ports")) fillText(port, "protocol", "TCP");
    }
  },
};

/** policy/v1 PodDisruptionBudget. */
export const podDisruptionBudget: KindStrategy = {
  validate(object) {
    const spec = objectAt(object, "spec");
    const set = (field: string) => (spec?.[field] ?? null) !== null;
    return set("minAvailable") && set("maxUnavailable")
      ? [invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set")]
      : [];
  },
};

/** autoscaling/v2 HorizontalPodAutoscaler. */
export const horizontalPodAutoscaler: KindStrategy = {
  prepare(object) {
    const spec = ensureObject(object, "spec");
    if (!spec) return;
    fill(spec, "minReplicas", 1);
    const status = asObject(object["status"]);
    if (status) fill(status, "currentMetrics", null);
    if (objectsIn(spec, "metrics").length === 0) {
      spec["metrics"] = [{
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } },
      }];
    }
    const behavior = asObject(spec["behavior"]);
    if (!behavior) return;
    const up = ensureObject(behavior, "scaleUp");
    if (up) {
      fill(up, "stabilizationWindowSeconds", 0);
      scalingRules(up, [
        { type: "Pods", value: 4, periodSeconds: 15 },
        { type: "Percent", value: 100, periodSeconds: 15 },
      ]);
    }
    const down = ensureObject(behavior, "scaleDown");
    if (down) scalingRules(down, [{ type: "Percent", value: 100, periodSeconds: 15 }]);
  },
  validate(object) {
    const spec = objectAt(object, "spec");
    const errors: FieldError[] = [];
    const max = numberIn(spec, "maxReplicas");
    if (max < 1) errors.push(required("spec.maxReplicas", "must be set and greater than 0"));
    if (max < numberIn(spec, "minReplicas", 1)) {
      errors.push(invalid("spec.maxReplicas", max, "must be greater than or equal to `minReplicas`"));
    }
    for (const field of ["kind", "name"]) {
      if (!stringIn(objectAt(spec, "scaleTargetRef"), field)) errors.push(required(`spec.scaleTargetRef.${field}`));
    }
    const apiVersion = stringIn(objectAt(spec, "scaleTargetRef"), "apiVersion");
    if (!apiVersion) {
      errors.push(invalid("spec.scaleTargetRef.apiVersion", apiVersion, "apiVersion must specify API group"));
    }
    return errors;
  },
};

function scalingRules(rules: JsonObject, policies: JsonValue[]): void {
  fillText(rules, "selectPolicy", "Max");
  if (!Array.isArray(rules["policies"])) rules["policies"] = policies;
}

/** scheduling.k8s.io/v1 PriorityClass. */
export const priorityClass: KindStrategy = {
  prepare: (object) => fillText(object, "preemptionPolicy", "PreemptLowerPriority"),
  validate: (object, old) =>
    old && object["value"] !== old["value"] ? [forbidden("value", "may not be changed in an update.")] : [],
};

function prepareWebhooks(object: JsonObject, mutating: boolean): void {
  for (const hook of objectsIn(object, "webhooks")) {
    fillText(hook, "failurePolicy", "Fail");
    fillText(hook, "matchPolicy", "Equivalent");
    fill(hook, "namespaceSelector", {});
    fill(hook, "objectSelector", {});
    fill(hook, "timeoutSeconds", 10);
    if (mutating) fillText(hook, "reinvocationPolicy", "Never");
    for (const rule of objectsIn(hook, "rules")) fillText(rule, "scope", "*");
    const reference = objectAt(hook, "clientConfig", "service");
    if (reference) fill(reference, "port", 443);
  }
}

function webhookErrors(object: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  objectsIn(object, "webhooks").forEach((hook, i) => {
    const at = `webhooks[${i}]`;
    if (!stringIn(hook, "name")) errors.push(required(`${at}.name`));
    const effects = stringIn(hook, "sideEffects");
    if (!effects) errors.push(required(`${at}.sideEffects`, "must specify one of None, NoneOnDryRun"));
    const versions = hook["admissionReviewVersions"];
    if (!Array.isArray(versions) || versions.length === 0) {
      errors.push(required(`${at}.admissionReviewVersions`, "must specify one of v1, v1beta1"));
    }
  });
  return errors;
}

/** admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration. */
export const validatingWebhooks: KindStrategy = {
  prepare: (object) => prepareWebhooks(object, false),
  validate: webhookErrors,
};

/** admissionregistration.k8s.io/v1 MutatingWebhookConfiguration. */
export const mutatingWebhooks: KindStrategy = {
  prepare: (object) => prepareWebhooks(object, true),
  validate: webhookErrors,
};

/** apiextensions.k8s.io/v1 CustomResourceDefinition: names and conversion. The server's core checks and serves it. */
export const customResourceDefinition: KindStrategy = {
  prepare(object) {
    const spec = ensureObject(object, "spec");
    const names = spec && ensureObject(spec, "names");
    if (names) {
      const kind = stringIn(names, "kind");
      if (kind) {
        fillText(names, "singular", kind.toLowerCase());
        fillText(names, "listKind", `${kind}List`);
      }
    }
    if (spec) fill(spec, "conversion", { strategy: "None" });
  },
};

/** apiregistration.k8s.io/v1 APIService. */
export const apiService: KindStrategy = {
  prepare(object) {
    const reference = objectAt(object, "spec", "service");
    if (reference) fill(reference, "port", 443);
  },
};

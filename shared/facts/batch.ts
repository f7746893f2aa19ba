/** Defaults and checks of Job and CronJob. @module */
import type { JsonObject } from "../json/mod.ts";
import type { FieldError, KindStrategy } from "../server/contract.ts";
import {
  asObject,
  ensureObject,
  fill,
  fillText,
  immutable,
  invalid,
  numberIn,
  objectAt,
  required,
  stringIn,
  unsupported,
} from "./fields.ts";
import { preparePodTemplate, templateErrors } from "./pods.ts";

const RESTART = ["OnFailure", "Never"];

/** batch/v1 Job. */
export const job: KindStrategy = {
  prepare(object) {
    const spec = ensureObject(object, "spec");
    if (!spec) return;
    if ((spec["completions"] ?? null) === null && (spec["parallelism"] ?? null) === null) spec["completions"] = 1;
    fill(spec, "parallelism", 1);
    fill(spec, "backoffLimit", (spec["backoffLimitPerIndex"] ?? null) === null ? 6 : 2147483647);
    fillText(spec, "completionMode", "NonIndexed");
    fill(spec, "suspend", false);
    fill(spec, "manualSelector", false);
    fillText(spec, "podReplacementPolicy", asObject(spec["podFailurePolicy"]) ? "Failed" : "TerminatingOrFailed");
    const labels = objectAt(spec, "template", "metadata", "labels");
    const metadata = ensureObject(object, "metadata");
    if (labels && metadata && Object.keys(asObject(metadata["labels"]) ?? {}).length === 0) {
      metadata["labels"] = { ...labels };
    }
    preparePodTemplate(asObject(spec["template"]));
  },
  allocate(object, old) {
    const spec = objectAt(object, "spec");
    if (!spec || spec["manualSelector"] === true) return;
    if (old) return keepSelector(spec, objectAt(old, "spec"));
    const uid = stringIn(objectAt(object, "metadata"), "uid");
    const name = stringIn(objectAt(object, "metadata"), "name");
    const template = asObject(spec["template"]);
    const metadata = template && ensureObject(template, "metadata");
    const labels = metadata && ensureObject(metadata, "labels");
    if (labels) {
      labels["controller-uid"] = uid;
      labels["job-name"] = name;
      labels["batch.kubernetes.io/controller-uid"] = uid;
      labels["batch.kubernetes.io/job-name"] = name;
    }
    const selector = ensureObject(spec, "selector");
    const match = selector && ensureObject(selector, "matchLabels");
    if (match) match["batch.kubernetes.io/controller-uid"] = uid;
  },
  validate(object, old) {
    const spec = objectAt(object, "spec");
    const errors: FieldError[] = [];
    for (const field of ["parallelism", "completions", "backoffLimit", "activeDeadlineSeconds"]) {
      if (numberIn(spec, field) < 0) {
        errors.push(invalid(`spec.${field}`, spec![field], "must be greater than or equal to 0"));
      }
    }
    errors.push(
      ...templateErrors(objectAt(spec, "template"), asObject(spec?.["selector"]), "spec.template", RESTART),
    );
    const was = objectAt(old, "spec");
    if (was) {
      errors.push(...immutable("spec.selector", spec?.["selector"], was["selector"]));
      if (was["suspend"] !== true) errors.push(...immutable("spec.template", spec?.["template"], was["template"]));
      errors.push(...immutable("spec.completionMode", spec?.["completionMode"], was["completionMode"]));
      if (spec?.["completionMode"] !== "Indexed") {
        errors.push(...immutable("spec.completions", spec?.["completions"], was["completions"]));
      }
    }
    return errors;
  },
};

/** A manifest applied again names neither selector nor generated labels: they stay as they were. */
function keepSelector(spec: JsonObject, was: JsonObject | undefined): void {
  if (!was) return;
  if (!asObject(spec["selector"]) && was["selector"]) spec["selector"] = structuredClone(was["selector"]);
  const labels = objectAt(spec, "template", "metadata", "labels");
  const wasLabels = objectAt(was, "template", "metadata", "labels") ?? {};
  const metadata = objectAt(spec, "template", "metadata");
  for (
    const key of ["controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"]
  ) {
    const value = wasLabels[key];
    if (value === undefined) continue;
    if (labels) fill(labels, key, value);
    else if (metadata) metadata["labels"] = { [key]: value };
  }
}

/** batch/v1 CronJob. */
export const cronJob: KindStrategy = {
  prepare(object) {
    const spec = ensureObject(object, "spec");
    if (!spec) return;
    fillText(spec, "concurrencyPolicy", "Allow");
    fill(spec, "suspend", false);
    fill(spec, "successfulJobsHistoryLimit", 3);
    fill(spec, "failedJobsHistoryLimit", 1);
    const template = ensureObject(spec, "jobTemplate");
    if (!template) return;
    fill(template, "metadata", {});
    preparePodTemplate(objectAt(template, "spec", "template"));
  },
  validate(object) {
    const spec = objectAt(object, "spec");
    const errors: FieldError[] = [];
    const schedule = stringIn(spec, "schedule");
    if (!schedule) errors.push(required("spec.schedule"));
    else errors.push(...scheduleErrors(schedule));
    const policy = stringIn(spec, "concurrencyPolicy");
    if (!["Allow", "Forbid", "Replace"].includes(policy)) {
      errors.push(unsupported("spec.concurrencyPolicy", policy, ["Allow", "Forbid", "Replace"]));
    }
    const path = "spec.jobTemplate.spec";
    errors.push(
      ...templateErrors(objectAt(spec, "jobTemplate", "spec", "template"), undefined, `${path}.template`, RESTART),
    );
    return errors;
  },
};

function scheduleErrors(schedule: string): FieldError[] {
  if (/^@(yearly|annually|monthly|weekly|daily|midnight|hourly|every \S+)$/.test(schedule)) return [];
  if (schedule.startsWith("@")) {
    return [invalid("spec.schedule", schedule, `unrecognized descriptor: ${schedule}`)];
  }
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== 5) {
    const found = `found ${fields.length}: [${fields.join(" ")}]`;
    return [invalid("spec.schedule", schedule, `expected exactly 5 fields, ${found}`)];
  }
  const wrong = fields.find((f) => !/^[\w*?,/-]+$/.test(f));
  return wrong === undefined ? [] : [invalid("spec.schedule", schedule, `failed to parse int from ${wrong}`)];
}

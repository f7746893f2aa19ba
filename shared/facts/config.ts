/** Defaults and checks of Secret, ConfigMap, Namespace, LimitRange, Node, Event. @module */
import type { JsonObject } from "../json/mod.ts";
import type { FieldError, KindStrategy } from "../server/contract.ts";
import {
  asObject,
  ensureObject,
  fill,
  fillText,
  forbidden,
  immutable,
  objectAt,
  objectsIn,
  required,
} from "./fields.ts";
import { sameJson, stringIn } from "./fields.ts";
import { dataKeyErrors } from "./names.ts";

/** Longest data of a Secret or ConfigMap, bytes. */
const MAX_DATA = 1024 * 1024;

/** v1 Secret. `stringData` is moved into `data`. Messages never hold a value. */
export const secret: KindStrategy = {
  prepare(object) {
    const plain = asObject(object["stringData"]);
    if (plain) {
      const data = ensureObject(object, "data");
      for (const [key, value] of Object.entries(plain)) {
        if (data && typeof value === "string") data[key] = base64(value);
      }
    }
    delete object["stringData"];
    fillText(object, "type", "Opaque");
  },
  validate(object, old) {
    const errors: FieldError[] = [];
    const data = asObject(object["data"]) ?? {};
    let size = 0;
    for (const [key, value] of Object.entries(data)) {
      errors.push(...dataKeyErrors(`data[${key}]`, key));
      if (typeof value !== "string") continue;
      size += value.length * 3 / 4;
      if (!isBase64(value)) {
        errors.push({
          field: `data[${key}]`,
          type: "FieldValueInvalid",
          message: "Invalid value: must be base64 (use stringData for plain text)",
        });
      }
    }
    if (size > MAX_DATA) errors.push(tooLong("data"));
    errors.push(...missingKeys(stringIn(object, "type"), data, objectAt(object, "metadata", "annotations")));
    if (old) {
      errors.push(...immutable("type", object["type"], old["type"]));
      errors.push(...immutableData(object, old, ["data"]));
    }
    return errors;
  },
};

function tooLong(field: string): FieldError {
  return { field, type: "FieldValueTooLong", message: `Too long: may not be more than ${MAX_DATA} bytes` };
}

function missingKeys(type: string, data: JsonObject, annotations: JsonObject | undefined): FieldError[] {
  const needs: Record<string, string[]> = {
    "kubernetes.io/dockercfg": [".dockercfg"],
    "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
    "kubernetes.io/ssh-auth": ["ssh-privatekey"],
    "kubernetes.io/tls": ["tls.crt", "tls.key"],
  };
  const missing = (needs[type] ?? []).filter((key) => !Object.hasOwn(data, key)).map((key) => required(`data[${key}]`));
  const account = "kubernetes.io/service-account.name";
  if (type === "kubernetes.io/service-account-token" && !stringIn(annotations, account)) {
    missing.push(required(`metadata.annotations[${account}]`));
  }
  return missing;
}

function immutableData(object: JsonObject, old: JsonObject, fields: string[]): FieldError[] {
  if (old["immutable"] !== true) return [];
  const detail = "field is immutable when `immutable` is set";
  const errors = object["immutable"] === true ? [] : [forbidden("immutable", detail)];
  for (const field of fields) {
    if (!sameJson(object[field] ?? null, old[field] ?? null)) errors.push(forbidden(field, detail));
  }
  return errors;
}

function isBase64(text: string): boolean {
  const clean = text.replace(/[\r\n]/g, "");
  return clean.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(clean);
}

function base64(text: string): string {
  return new TextEncoder().encode(text).toBase64();
}

/** v1 ConfigMap. */
export const configMap: KindStrategy = {
  validate(object, old) {
    const errors: FieldError[] = [];
    const data = asObject(object["data"]) ?? {};
    const binary = asObject(object["binaryData"]) ?? {};
    let size = 0;
    for (const [key, value] of Object.entries(data)) {
      errors.push(...dataKeyErrors(`data[${key}]`, key));
      if (Object.hasOwn(binary, key)) {
        errors.push({
          field: `data[${key}]`,
          type: "FieldValueInvalid",
          message: `Invalid value: "${key}": duplicate of key present in binaryData`,
        });
      }
      if (typeof value === "string") size += value.length;
    }
    for (const [key, value] of Object.entries(binary)) {
      errors.push(...dataKeyErrors(`binaryData[${key}]`, key));
      if (typeof value !== "string") continue;
      size += value.length * 3 / 4;
      if (!isBase64(value)) {
        errors.push({
          field: `binaryData[${key}]`,
          type: "FieldValueInvalid",
          message: "Invalid value: must be base64 (use data for plain text)",
        });
      }
    }
    if (size > MAX_DATA) errors.push(tooLong(""));
    if (old) errors.push(...immutableData(object, old, ["data", "binaryData"]));
    return errors;
  },
};

/** v1 Namespace. */
export const namespace: KindStrategy = {
  prepare(object) {
    const metadata = ensureObject(object, "metadata");
    const name = stringIn(metadata, "name");
    const labels = metadata && name ? ensureObject(metadata, "labels") : undefined;
    if (labels) labels["kubernetes.io/metadata.name"] = name;
    const status = ensureObject(object, "status");
    if (status) fillText(status, "phase", "Active");
  },
  allocate(object, old) {
    const spec = ensureObject(object, "spec");
    if (spec && !old) spec["finalizers"] = ["kubernetes"];
    else if (spec && old) fill(spec, "finalizers", objectAt(old, "spec")?.["finalizers"] ?? []);
  },
};

/** v1 LimitRange: limits of containers take defaults from each other. */
export const limitRange: KindStrategy = {
  prepare(object) {
    for (const item of objectsIn(objectAt(object, "spec"), "limits")) {
      if (stringIn(item, "type") !== "Container") continue;
      const limits = ensureObject(item, "default");
      const requests = ensureObject(item, "defaultRequest");
      if (!limits || !requests) continue;
      for (const [key, value] of Object.entries(asObject(item["max"]) ?? {})) fill(limits, key, value);
      for (const [key, value] of Object.entries(limits)) fill(requests, key, value);
      for (const [key, value] of Object.entries(asObject(item["min"]) ?? {})) fill(requests, key, value);
    }
  },
};

/** v1 Node. */
export const node: KindStrategy = {
  prepare(object) {
    const status = asObject(object["status"]);
    const capacity = asObject(status?.["capacity"]);
    if (status && capacity && !asObject(status["allocatable"])) status["allocatable"] = { ...capacity };
  },
};

/** v1 Event: times that are not set are written as null. */
export const event: KindStrategy = {
  allocate(object) {
    for (const field of ["firstTimestamp", "lastTimestamp", "eventTime"]) fill(object, field, null);
  },
};

/** events.k8s.io/v1 Event. */
export const regardingEvent: KindStrategy = {
  allocate(object) {
    for (const field of ["deprecatedFirstTimestamp", "deprecatedLastTimestamp"]) fill(object, field, null);
  },
};

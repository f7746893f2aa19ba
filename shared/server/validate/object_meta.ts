/** Validation of ObjectMeta on create and update, as k8s.io/apimachinery/pkg/api/validation does it. @module */
import { isObject, type JsonObject, type JsonValue } from "../../json/mod.ts";
import type { FieldError } from "../contract.ts";
import { byteLength, goQuote } from "../go_text.ts";
import { duplicate, forbiddenField, invalidValue, required, tooLongBytes } from "./field_error.ts";
import {
  labelErrors,
  labelValueErrors,
  nameErrors,
  type NameRule,
  pathSegmentErrors,
  qualifiedNameErrors,
} from "./names.ts";

const MAX_ANNOTATION_BYTES = 256 * 1024;
/** Limits of one managedFields entry (ssa.md rule 15). */
const MAX_MANAGER_BYTES = 128, MAX_SUBRESOURCE_BYTES = 256;

/** Errors of the metadata of an object to be created. */
export function validateMetaCreate(meta: JsonObject, namespaced: boolean, format: NameRule): FieldError[] {
  const errors: FieldError[] = [];
  const name = text(meta.name), generateName = text(meta.generateName), namespace = text(meta.namespace);
  if (generateName) {
    for (const e of nameErrors(format, generateName, true)) {
      errors.push(invalidValue("metadata.generateName", generateName, e));
    }
  }
  if (name === "") errors.push(required("metadata.name", "name or generateName is required"));
  else for (const e of nameErrors(format, name)) errors.push(invalidValue("metadata.name", name, e));
  if (namespaced) {
    if (namespace === "") errors.push(required("metadata.namespace"));
    else for (const e of labelErrors(namespace)) errors.push(invalidValue("metadata.namespace", namespace, e));
  } else if (namespace !== "") {
    errors.push(forbiddenField("metadata.namespace", "not allowed on this type"));
  }
  errors.push(...validateCommon(meta));
  return errors;
}

/** Errors of changes that no update may make. */
export function validateMetaUpdate(meta: JsonObject, old: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp !== undefined) {
    const before = new Set(list(old.finalizers));
    const added = list(meta.finalizers).filter((f) => !before.has(f)).sort();
    if (added.length) {
      const names = `[${added.map((f) => JSON.stringify(f)).join(",")}]`;
      errors.push(forbiddenField(
        "metadata.finalizers",
        `no new finalizers can be added if the object is being deleted, found new finalizers ${names}`,
      ));
    }
  }
  const generation = Number(meta.generation ?? 0);
  if (generation < 0) {
    errors.push(invalidValue("metadata.generation", generation, "must be greater than or equal to 0"));
  }
  if (generation < Number(old.generation ?? 0)) {
    errors.push(invalidValue("metadata.generation", generation, "must not be decremented"));
  }
  for (const key of ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp"]) {
    if ((meta[key] ?? "") !== (old[key] ?? "")) {
      errors.push(invalidValue(`metadata.${key}`, meta[key] as JsonValue, "field is immutable"));
    }
  }
  if ((meta.deletionGracePeriodSeconds ?? null) !== (old.deletionGracePeriodSeconds ?? null)) {
    const value = meta.deletionGracePeriodSeconds as JsonValue;
    errors.push(invalidValue("metadata.deletionGracePeriodSeconds", value, "field is immutable"));
  }
  errors.push(...validateCommon(meta));
  return errors;
}

/** What create and update check alike. */
function validateCommon(meta: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  if (isObject(meta.labels)) {
    for (const [key, value] of Object.entries(meta.labels)) {
      for (const e of qualifiedNameErrors(key)) errors.push(invalidValue("metadata.labels", key, e));
      for (const e of labelValueErrors(text(value))) errors.push(invalidValue("metadata.labels", text(value), e));
    }
  }
  if (isObject(meta.annotations)) {
    let size = 0;
    for (const [key, value] of Object.entries(meta.annotations)) {
      // The rule for annotation keys is case-insensitive, hence the lower case.
      for (const e of qualifiedNameErrors(key.toLowerCase())) {
        errors.push(invalidValue("metadata.annotations", key, e));
      }
      size += byteLength(key) + byteLength(text(value));
    }
    if (size > MAX_ANNOTATION_BYTES) errors.push(tooLongBytes("metadata.annotations", MAX_ANNOTATION_BYTES));
  }
  errors.push(...ownerErrors(meta.ownerReferences));
  for (const finalizer of list(meta.finalizers)) {
    for (const e of qualifiedNameErrors(finalizer)) errors.push(invalidValue("metadata.finalizers", finalizer, e));
  }
  return errors;
}

/** Errors of managedFields entries: names that are too long. */
export function validateManagedFields(meta: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  if (!Array.isArray(meta.managedFields)) return errors;
  meta.managedFields.forEach((entry, i) => {
    if (!isObject(entry)) return;
    const at = `metadata.managedFields[${i}]`;
    if (byteLength(text(entry.manager)) > MAX_MANAGER_BYTES) {
      errors.push(tooLongBytes(`${at}.manager`, MAX_MANAGER_BYTES));
    }
    if (byteLength(text(entry.subresource)) > MAX_SUBRESOURCE_BYTES) {
      errors.push(tooLongBytes(`${at}.subresource`, MAX_SUBRESOURCE_BYTES));
    }
  });
  return errors;
}

function ownerErrors(owners: JsonValue | undefined): FieldError[] {
  if (!Array.isArray(owners)) return [];
  const errors: FieldError[] = [];
  let controller: string | undefined;
  const uids = new Set<string>();
  owners.forEach((owner, i) => {
    if (!isObject(owner)) return;
    const at = `metadata.ownerReferences[${i}]`;
    if (text(owner.apiVersion) === "") errors.push(invalidValue(`${at}.apiVersion`, "", "version must not be empty"));
    if (text(owner.kind) === "") errors.push(invalidValue(`${at}.kind`, "", "must not be empty"));
    if (text(owner.name) === "") errors.push(invalidValue(`${at}.name`, "", "must not be empty"));
    if (text(owner.uid) === "") errors.push(invalidValue(`${at}.uid`, "", "must not be empty"));
    else if (uids.has(text(owner.uid))) errors.push(duplicate(`${at}.uid`, text(owner.uid)));
    uids.add(text(owner.uid));
    if (owner.controller === true) {
      if (controller !== undefined) {
        errors.push(invalidValue(
          "metadata.ownerReferences",
          owners,
          `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${
            text(owner.name)
          }`,
        ));
      } else controller = text(owner.name);
    }
  });
  return errors;
}

/** Whether `name` can be a path segment at all: checked for every kind. */
export function pathSegmentProblem(name: string): string | undefined {
  return pathSegmentErrors(name)[0];
}

/** Warnings for finalizers that may collide with those of others. */
export function finalizerWarnings(meta: JsonObject): string[] {
  return list(meta.finalizers).filter((f) => !f.includes("/") && f !== "orphan" && f !== "foregroundDeletion").map((
    f,
  ) =>
    `metadata.finalizers: ${
      goQuote(f)
    }: prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers`
  );
}

function text(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

function list(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((v): v is string => typeof v === "string") : [];
}

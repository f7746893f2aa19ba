/** Query parameters of writes and deletes: parsed and validated as kube-apiserver does (ssa.md rule 57). @module */
import type { FieldError } from "./contract.ts";
import { invalid } from "./errors.ts";
import { byteLength, isPrintable } from "./go_text.ts";
import { isTrue } from "./request_info.ts";
import { forbiddenField, invalidValue, notSupported, required, tooLongBytes } from "./validate/field_error.ts";

/** How unknown and duplicate fields are treated. */
export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** What a write was asked with. */
export interface WriteQuery {
  dryRun: boolean;
  fieldManager: string;
  fieldValidation: FieldValidation;
  force: boolean;
}

/** Longest fieldManager, bytes. */
const MAX_MANAGER = 128;

/** Which options object an error names. */
export type OptionsKind = "CreateOptions" | "UpdateOptions" | "PatchOptions" | "DeleteOptions";

/**
 * Reads the options of a write. The first of repeated parameters counts.
 * @param apply for patches: whether it is an apply patch
 * @throws StatusError 422
 */
export function writeQuery(query: URLSearchParams, kind: OptionsKind, apply = false): WriteQuery {
  const errors: FieldError[] = [];
  const manager = query.get("fieldManager") ?? "";
  if (kind === "PatchOptions") {
    if (apply && manager === "") errors.push(required("fieldManager", "is required for apply patch"));
    if (!apply && query.has("force")) {
      errors.push(forbiddenField("force", "may not be specified for non-apply patch"));
    }
  }
  errors.push(...managerErrors(manager), ...dryRunErrors(query.getAll("dryRun")));
  const validation = query.get("fieldValidation") ?? "";
  if (!["", "Ignore", "Strict", "Warn"].includes(validation)) {
    errors.push(notSupported("fieldValidation", validation, ["", "Ignore", "Strict", "Warn"]));
  }
  if (errors.length) throw invalid("meta.k8s.io", kind, "", errors);
  return {
    dryRun: query.has("dryRun"),
    fieldManager: manager,
    fieldValidation: (validation || "Warn") as FieldValidation,
    force: isTrue(query.get("force")),
  };
}

function managerErrors(manager: string): FieldError[] {
  const errors: FieldError[] = [];
  if (byteLength(manager) > MAX_MANAGER) errors.push(tooLongBytes("fieldManager", MAX_MANAGER));
  let at = 0;
  for (const ch of manager) {
    if (!isPrintable(ch)) {
      const code = ch.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
      errors.push(invalidValue("fieldManager", manager, `invalid character U+${code} (at position ${at})`));
    }
    at += byteLength(ch);
  }
  return errors;
}

/** Errors of the dryRun values given. */
export function dryRunErrors(values: string[]): FieldError[] {
  return values.some((v) => v !== "All") ? [notSupported("dryRun", values, ["All"])] : [];
}

/** PATCH: the four kinds of patch, each becoming the next state of the object. @module */
import { canonicalJson, cloneJson, type JsonObject } from "../json/mod.ts";
import { rfc3339 } from "../runtime/clock.ts";
import { applyPatch, ConflictError, type Obj, TypedError } from "../ssa/mod.ts";
import { type JsonPatchOp, mediaType, parseApplyBody, parseJsonPatchBody, parseMergeBody } from "./body.ts";
import { completeMerged, decodeObject, strictProblem } from "./decode.ts";
import { badRequest, conflict, failure, unsupportedMediaType } from "./errors.ts";
import { goQuote } from "./go_text.ts";
import { jsonPatch } from "./patch_json.ts";
import { mergePatch } from "./patch_merge.ts";
import { strategicMerge } from "./patch_strategic.ts";
import type { ServedKind } from "./registry.ts";
import { metaText } from "./stored.ts";
import {
  type Change,
  checkNameOf,
  checkNamespaceOf,
  createObject,
  track,
  updateObject,
  type WriteHost,
  type WriteRequest,
  type Written,
} from "./write.ts";

/** The kinds of patch. */
export type PatchType = "json" | "merge" | "strategic" | "apply";

const TYPES: Record<string, PatchType> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
};

/** The kind of a patch by its Content-Type. @throws StatusError 415 */
export function patchTypeOf(contentType: string | undefined, kind: ServedKind): PatchType {
  const type = TYPES[mediaType(contentType)];
  if (type && !(type === "strategic" && kind.custom)) return type;
  if (!kind.custom) throw failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
  throw unsupportedMediaType(Object.keys(TYPES).filter((t) => TYPES[t] !== "strategic"));
}

/** What a patch does to a copy of the live object, and the problems that strict decoding has with its text. */
export interface PatchFunction {
  run(object: JsonObject): JsonObject;
  duplicates: string[];
}

/** Reads a JSON, merge or strategic merge patch. @throws StatusError 400, 413 */
export function patchFunction(type: Exclude<PatchType, "apply">, text: string, kind: ServedKind): PatchFunction {
  if (type === "json") {
    const { ops, duplicates } = parseJsonPatchBody(text);
    return { run: (object) => patched(object, ops), duplicates };
  }
  const { patch, duplicates } = parseMergeBody(text);
  if (type === "merge") return { run: (object) => mergePatch(object, patch) as JsonObject, duplicates };
  const node = kind.storage.node;
  return { run: (object) => strategicMerge(object, cloneJson(patch), node), duplicates };
}

function patched(object: JsonObject, ops: JsonPatchOp[]): JsonObject {
  jsonPatch(object, ops);
  return object;
}

/** Performs a JSON, merge or strategic merge patch. */
export function patchObject(
  host: WriteHost,
  req: WriteRequest,
  type: Exclude<PatchType, "apply">,
  text: string,
): Promise<Written> {
  const patch = patchFunction(type, text, req.served.kind);
  return updateObject(host, req, {
    change(live, now): Change {
      const value = patch.run(cloneJson(live));
      const { def } = req.served.kind;
      if (value.kind !== def.kind || value.apiVersion !== req.served.version.apiVersion) {
        value.kind ??= def.kind;
        value.apiVersion ??= req.served.version.apiVersion;
        if (value.apiVersion !== req.served.version.apiVersion) {
          throw badRequest(
            `the API version in the data (${
              String(value.apiVersion)
            }) does not match the expected API version (${req.served.version.apiVersion})`,
          );
        }
      }
      const before = req.query.fieldValidation === "Strict" ? canonicalJson(value) : "";
      const decoded = decodeObject(req.served, value, live, (error) => strictFailure(before, error.message));
      const problems = [...patch.duplicates.map((d) => `duplicate field ${goQuote(d)}`), ...decoded.problems];
      // A retry must not tell its warnings twice.
      req.warnings.length = 0;
      const strict = strictProblem(problems, req.query.fieldValidation, req.warnings);
      if (strict) throw strictFailure(before, strict);
      checkNameOf(decoded.object, req.name);
      checkNamespaceOf(decoded.object, req.served, req.namespace);
      return { next: track(req, live, decoded.object, now), mayDropTracking: true };
    },
  });
}

/** 422 of a patch whose outcome cannot be decoded; it shows the outcome, as upstream does. */
function strictFailure(value: string, why: string) {
  const message = `Invalid value: ${goQuote(value)}: ${why}`;
  return failure(422, "Invalid", ` "" is invalid: patch: ${message}`, {
    causes: [{ reason: "FieldValueInvalid", message, field: "patch" }],
  });
}

/**
 * Performs a Server-Side Apply (ssa.md rule 26 has the order of checks).
 * @param mayCreate throws unless the user may create what is not there; undefined = it cannot be created (subresources)
 */
export function applyObject(
  host: WriteHost,
  req: WriteRequest,
  text: string,
  mayCreate: (() => Promise<void>) | undefined,
): Promise<Written> {
  const { served } = req;
  const { config, duplicates } = parseApplyBody(text);
  checkType(config, served.version.apiVersion, served.kind.def.kind);
  if (metaHas(config, "managedFields")) throw badRequest("metadata.managedFields must be nil");
  const merge = (live: JsonObject | undefined, now: string): JsonObject => {
    const object = merged(req, live, config, now);
    req.warnings.length = 0;
    if (duplicates.length && req.query.fieldValidation === "Strict") {
      const list = duplicates.map((d) => `\n  ${d}`).join("");
      throw badRequest(
        `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:${list}`,
      );
    }
    if (req.query.fieldValidation === "Warn") req.warnings.push(...duplicates);
    completeMerged(served, object, live);
    checkNameOf(config, req.name);
    checkNamespaceOf(object, served, req.namespace);
    return object;
  };
  return updateObject(host, req, {
    change: (live, now): Change => ({ next: merge(live, now), mayDropTracking: false }),
    ...(mayCreate
      ? {
        async create(): Promise<Written> {
          await mayCreate();
          const uid = metaText(config, "uid");
          const object = merge(undefined, rfc3339(host.clock.now()));
          if (uid) {
            throw conflict(
              served.kind.gr,
              req.name,
              `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
            );
          }
          return await createObject(host, req, object, true);
        },
      }
      : {}),
  });
}

function checkType(config: JsonObject, apiVersion: string, kind: string): void {
  const text = (key: string) => typeof config[key] === "string" ? config[key] : "";
  if (text("apiVersion") === apiVersion && text("kind") === kind) return;
  const given = text("apiVersion");
  const groupVersion = given === "" ? "/" : given.includes("/") ? given : `/${given}`;
  throw badRequest(`invalid object type: ${groupVersion}, Kind=${text("kind")}`);
}

function metaHas(config: JsonObject, key: string): boolean {
  const meta = config.metadata;
  return typeof meta === "object" && meta !== null && !Array.isArray(meta) && Object.hasOwn(meta, key) &&
    meta[key] !== null;
}

function merged(req: WriteRequest, live: JsonObject | undefined, config: JsonObject, now: string): JsonObject {
  try {
    return applyPatch({
      kind: req.served.kind.info,
      apiVersion: req.served.version.apiVersion,
      subresource: req.subresource,
      live: live as Obj | undefined,
      config: config as Obj,
      manager: req.query.fieldManager,
      force: req.query.force,
      now,
    }).object as JsonObject;
  } catch (error) {
    if (error instanceof TypedError) {
      throw badRequest(
        error.message,
        error.errors.map((e) => ({ reason: "FieldValueInvalid", message: e.message, field: e.field })),
      );
    }
    if (error instanceof ConflictError) {
      throw failure(409, "Conflict", error.message, {
        causes: error.causes.map((c) => ({ reason: "FieldManagerConflict", message: c.message, field: c.field })),
      });
    }
    throw error;
  }
}

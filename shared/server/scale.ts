/** The scale subresource: an autoscaling/v1 Scale in front of two fields of the object. @module */
import { cloneJson, isObject, type JsonObject, type JsonValue, setKey, stringifyJson } from "../json/mod.ts";
import { decodeObject } from "./decode.ts";
import { parseApplyBody, parseJsonBody } from "./body.ts";
import { badRequest, failure, internal } from "./errors.ts";
import { GoJsonError } from "./go_json.ts";
import { applyObject, patchFunction, type PatchType } from "./patch.ts";
import type { Served } from "./registry.ts";
import { metaOf, metaText } from "./stored.ts";
import {
  type Change,
  checkNameOf,
  track,
  updateObject,
  type WriteHost,
  type WriteRequest,
  type Written,
} from "./write.ts";

type Paths = NonNullable<Served["version"]["def"]["scale"]>;

function valueAt(object: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = object;
  for (const key of path.split(".").filter(Boolean)) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

function setAt(object: JsonObject, path: string, value: JsonValue): void {
  const keys = path.split(".").filter(Boolean);
  let at = object;
  for (const key of keys.slice(0, -1)) {
    const next = Object.hasOwn(at, key) ? at[key] : undefined;
    const inner = isObject(next) ? next : {};
    if (next !== inner) setKey(at, key, inner);
    at = inner;
  }
  setKey(at, keys.at(-1)!, value);
}

function scaleOf(paths: Paths, object: JsonObject): JsonObject {
  const meta = metaOf(object);
  const metadata: JsonObject = {};
  for (const key of ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"]) {
    if (meta[key] !== undefined) metadata[key] = meta[key];
  }
  const selector = paths.labelSelectorPath ? valueAt(object, paths.labelSelectorPath) : undefined;
  const replicas = Number(valueAt(object, paths.specReplicasPath) ?? 0);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata,
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: Number(valueAt(object, paths.statusReplicasPath) ?? 0),
      ...(selector === undefined ? {} : { selector: selectorText(selector) }),
    },
  };
}

function selectorText(selector: JsonValue): string {
  if (typeof selector === "string") return selector;
  if (!isObject(selector)) return "";
  const labels = isObject(selector.matchLabels) ? selector.matchLabels : {};
  return Object.keys(labels).sort().map((k) => `${k}=${String(labels[k])}`).join(",");
}

/** The Scale of an object. @throws StatusError 500 when the object has no replicas (as upstream) */
export function getScale(served: Served, object: JsonObject): JsonObject {
  const paths = served.version.def.scale!;
  if (valueAt(object, paths.specReplicasPath) === undefined) {
    throw internal(`the spec replicas field ${JSON.stringify(paths.specReplicasPath)} does not exist`);
  }
  return scaleOf(paths, object);
}

/** Writes through the Scale. `type` is undefined for a PUT. */
export async function writeScale(
  host: WriteHost,
  req: WriteRequest,
  type: PatchType | undefined,
  text: string,
): Promise<JsonObject> {
  const { served } = req;
  const paths = served.version.def.scale!;
  if (type === "apply") return scaleOf(paths, (await applyScale(host, req, paths, text)).object);
  const patch = type ? patchFunction(type, text, served.kind) : undefined;
  const put = patch ? undefined : parseScale(text);
  const written = await updateObject(host, req, {
    change(live, now): Change {
      const scale = patch ? patch.run(scaleOf(paths, live)) : put!;
      checkNameOf(scale, req.name);
      const replicas = isObject(scale.spec) ? scale.spec.replicas ?? 0 : 0;
      if (!Number.isSafeInteger(replicas)) {
        throw badRequest("json: cannot unmarshal value into Go struct field ScaleSpec.spec.replicas of type int32");
      }
      const next = cloneJson(live);
      setAt(next, paths.specReplicasPath, replicas);
      const version = metaText(scale, "resourceVersion");
      if (version !== "") metaOf(next).resourceVersion = version;
      const decoded = decodeObject(served, next, live, (error) => badRequest(error.message));
      // Upstream leaves no time on entries of the scale subresource, and does not track replicas that nobody owned.
      const tracked = isOwned(live, paths.specReplicasPath)
        ? withoutTime(track(req, live, decoded.object, now), req.manager)
        : decoded.object;
      return { next: tracked, mayDropTracking: true };
    },
  });
  return scaleOf(paths, written.object);
}

/** Whether an entry of managedFields has the path. */
function isOwned(object: JsonObject, path: string): boolean {
  const inFields = path.split(".").filter(Boolean).map((key) => `f:${key}`);
  const entries = metaOf(object).managedFields;
  return (Array.isArray(entries) ? entries : []).some((entry) => {
    let at: JsonValue | undefined = isObject(entry) ? entry.fieldsV1 : undefined;
    for (const key of inFields) at = isObject(at) ? at[key] : undefined;
    return at !== undefined;
  });
}

function withoutTime(object: JsonObject, manager: string): JsonObject {
  const entries = metaOf(object).managedFields;
  for (const entry of Array.isArray(entries) ? entries : []) {
    if (isObject(entry) && entry.subresource === "scale" && entry.manager === manager) delete entry.time;
  }
  return object;
}

function parseScale(text: string): JsonObject {
  try {
    const { value } = parseJsonBody(text);
    if (isObject(value) && value.kind === "Scale") return value;
  } catch (error) {
    if (!(error instanceof GoJsonError)) throw error;
    throw badRequest(`couldn't get version/kind; json parse error: ${error.message}`);
  }
  throw badRequest("the body of a scale request must be a Scale of autoscaling/v1");
}

/** Apply of a Scale: the replicas are owned with subresource "scale". Upstream cannot do it on custom kinds. */
function applyScale(host: WriteHost, req: WriteRequest, paths: Paths, text: string): Promise<Written> {
  const { served, name } = req;
  const { config } = parseApplyBody(text);
  if (config.apiVersion !== "autoscaling/v1" || config.kind !== "Scale") {
    throw badRequest("invalid object type: the body must be a Scale of autoscaling/v1");
  }
  if (served.kind.custom) {
    throw failure(
      500,
      "",
      `failed to convert new object (/${name}; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid group/version: autoscaling/v1`,
    );
  }
  const replicas = isObject(config.spec) ? config.spec.replicas : undefined;
  const body: JsonObject = { apiVersion: served.version.apiVersion, kind: served.kind.def.kind, metadata: { name } };
  if (replicas !== undefined) setAt(body, paths.specReplicasPath, replicas);
  return applyObject(host, req, stringifyJson(body), undefined);
}

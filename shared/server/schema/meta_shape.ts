/** ObjectMeta on its way in: unknown fields dropped, wrong types refused, empty values gone, times in UTC. @module */
import { isObject, type JsonObject, type JsonValue, setKey } from "../../json/mod.ts";
import { rfc3339 } from "../../runtime/clock.ts";
import { DecodeError, goValueName } from "./go_shape.ts";

type Shape = "string" | "int" | "time" | "strings" | "stringMap" | "owners" | "entries";

const FIELDS: Record<string, Shape> = {
  name: "string",
  generateName: "string",
  namespace: "string",
  selfLink: "string",
  uid: "string",
  resourceVersion: "string",
  generation: "int",
  creationTimestamp: "time",
  deletionTimestamp: "time",
  deletionGracePeriodSeconds: "int",
  labels: "stringMap",
  annotations: "stringMap",
  ownerReferences: "owners",
  finalizers: "strings",
  managedFields: "entries",
};

const OWNER: Record<string, "string" | "boolean"> = {
  apiVersion: "string",
  kind: "string",
  name: "string",
  uid: "string",
  controller: "boolean",
  blockOwnerDeletion: "boolean",
};

/**
 * Shapes `object.metadata` in place. Unknown fields go to `unknown` (as `metadata.x`).
 * @throws DecodeError in Go's words
 */
export function shapeMeta(object: JsonObject, unknown: string[]): void {
  const meta = object.metadata;
  if (meta === undefined || meta === null) {
    object.metadata = {};
    return;
  }
  if (!isObject(meta)) throw wrong(meta, "metadata", "v1.ObjectMeta", "");
  for (const key of Object.keys(meta)) {
    const shape = Object.hasOwn(FIELDS, key) ? FIELDS[key]! : undefined;
    const value = meta[key]!;
    if (!shape) {
      unknown.push(`metadata.${key}`);
      delete meta[key];
    } else if (value === null) {
      delete meta[key];
    } else {
      const shaped = shapeField(shape, key, value, unknown);
      if (shaped === undefined) delete meta[key];
      else meta[key] = shaped;
    }
  }
}

function wrong(value: JsonValue, path: string, type: string, owner = "ObjectMeta."): DecodeError {
  return new DecodeError(
    `json: cannot unmarshal ${goValueName(value)} into Go struct field ${owner}${path} of type ${type}`,
  );
}

function shapeField(shape: Shape, key: string, value: JsonValue, unknown: string[]): JsonValue | undefined {
  const path = `metadata.${key}`;
  switch (shape) {
    case "string":
      if (typeof value !== "string") throw wrong(value, path, "string");
      // An empty resourceVersion in a body is no version: the caller sees it before this.
      return value === "" ? undefined : value;
    case "int":
      if (!Number.isSafeInteger(value)) throw wrong(value, path, "int64");
      return value === 0 && key === "generation" ? undefined : value;
    case "time":
      return shapeTime(value, path);
    case "strings":
      if (!Array.isArray(value)) throw wrong(value, path, "[]string");
      return value.length === 0 ? undefined : value.map((v) => {
        if (v !== null && typeof v !== "string") throw wrong(v, path, "string");
        return v ?? "";
      });
    case "stringMap":
      return shapeStringMap(value, path);
    case "owners":
      return shapeOwners(value, path, unknown);
    case "entries":
      return shapeEntries(value, path);
  }
}

function shapeTime(value: JsonValue, path: string): JsonValue {
  if (typeof value !== "string") throw wrong(value, path, "string");
  const at = /^\d{4}-\d{2}-\d{2}T/.test(value) ? Date.parse(value) : NaN;
  if (Number.isNaN(at)) {
    throw new DecodeError(
      `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse ${
        JSON.stringify(value)
      } as "2006"`,
    );
  }
  return rfc3339(at);
}

function shapeStringMap(value: JsonValue, path: string): JsonValue | undefined {
  if (!isObject(value)) throw wrong(value, path, "map[string]string");
  const keys = Object.keys(value);
  for (const key of keys) {
    const v = value[key]!;
    if (v === null) setKey(value, key, "");
    else if (typeof v !== "string") throw wrong(v, path, "string");
  }
  return keys.length === 0 ? undefined : value;
}

function shapeOwners(value: JsonValue, path: string, unknown: string[]): JsonValue | undefined {
  if (!Array.isArray(value)) throw wrong(value, path, "[]v1.OwnerReference");
  value.forEach((owner, i) => {
    if (!isObject(owner)) throw wrong(owner, path, "v1.OwnerReference");
    for (const key of Object.keys(owner)) {
      const type = Object.hasOwn(OWNER, key) ? OWNER[key] : undefined;
      const v = owner[key]!;
      if (!type) {
        unknown.push(`${path}[${i}].${key}`);
        delete owner[key];
      } else if (v === null) delete owner[key];
      else if ((typeof v as string) !== type) {
        throw wrong(v, `${path}.${key}`, type === "boolean" ? "bool" : type, "OwnerReference.");
      }
    }
    for (const key of ["apiVersion", "kind", "name", "uid"]) owner[key] ??= "";
  });
  return value.length === 0 ? undefined : value;
}

/** Entries keep what they hold: the Server-Side Apply library judges them. */
function shapeEntries(value: JsonValue, path: string): JsonValue {
  if (!Array.isArray(value)) throw wrong(value, path, "[]v1.ManagedFieldsEntry");
  for (const entry of value) {
    if (!isObject(entry)) {
      if (entry === null) continue;
      throw wrong(entry, path, "v1.ManagedFieldsEntry");
    }
    for (const key of Object.keys(entry)) {
      const v = entry[key]!;
      if (key === "fieldsV1") continue;
      if (v === null) delete entry[key];
      else if (typeof v !== "string") throw wrong(v, `${path}.${key}`, "string", "ManagedFieldsEntry.");
    }
  }
  return value;
}

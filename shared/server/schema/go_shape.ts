/**
 * What a built-in kind's Go types do to a value on its way through the real server: unknown fields are dropped, null
 * counts as absent, empty values of optional fields vanish, quantities take their canonical form, and a value of a wrong
 * type is a decoding error in the words of Go's decoder.
 *
 * @module
 */
import { cloneJson, isObject, type JsonObject, type JsonValue, setKey } from "../../json/mod.ts";
import type { OpenApiSchema, SchemaNode } from "../../ssa/contract.ts";
import { child } from "./path.ts";
import { canonicalQuantity } from "./quantity.ts";

/** A body cannot be decoded; the message is Go's. */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
}

/** Optional numbers and booleans that are no pointers in Go: their zero is the same as absent. */
const ZERO_IS_ABSENT = new Set([
  "minReadySeconds",
  "paused",
  "hostNetwork",
  "hostPID",
  "hostIPC",
  "stdin",
  "stdinOnce",
  "tty",
  "readOnly",
  "hostPort",
  "nodePort",
  "publishNotReadyAddresses",
  "initialDelaySeconds",
  "healthCheckNodePort",
]);

interface Walk {
  /** Paths of unknown fields. */
  unknown: string[];
  /** Inside `status`, numbers and booleans are never pointers. */
  status: boolean;
}

/** Shapes a whole object in place. Paths of unknown fields are appended to `unknown`. @throws DecodeError */
export function goShape(node: SchemaNode, object: JsonObject, unknown: string[], typeName: string): void {
  for (const key of Object.keys(object)) {
    const field = node.fields?.get(key);
    if (!field) {
      delete object[key];
      unknown.push(key);
      continue;
    }
    if (key === "metadata" || key === "apiVersion" || key === "kind") continue;
    const walk: Walk = { unknown, status: key === "status" };
    const value = shape(
      field,
      object[key]!,
      { path: key, goPath: key, owner: typeName, schema: propOf(node, key) },
      walk,
    );
    if (value === undefined || vanishes(node, field, key, value, walk)) delete object[key];
    else object[key] = value;
  }
}

/** Where the walk is, for messages. */
interface Place {
  /** With list indexes: of warnings about unknown fields. */
  path: string;
  /** Without them: of Go's type errors. */
  goPath: string;
  /** Go type that holds the field. */
  owner: string;
  schema: OpenApiSchema | undefined;
}

function propOf(node: SchemaNode, key: string): OpenApiSchema | undefined {
  const props = node.source.properties;
  return props && Object.hasOwn(props, key) ? props[key] : undefined;
}

/** Last part of a `$ref`'s name: the Go type. */
function goTypeName(schema: OpenApiSchema | undefined): string | undefined {
  const ref = schema?.$ref ?? schema?.allOf?.[0]?.$ref;
  return ref?.slice(ref.lastIndexOf(".") + 1);
}

function shape(node: SchemaNode, value: JsonValue, at: Place, walk: Walk): JsonValue | undefined {
  if (value === null) return undefined;
  switch (node.kind) {
    case "struct":
      return shapeStruct(node, value, at, walk);
    case "map":
      return shapeMap(node, value, at, walk);
    case "list":
      return shapeList(node, value, at, walk);
    case "scalar":
      return shapeScalar(node, value, at);
    default:
      return value;
  }
}

function shapeStruct(node: SchemaNode, value: JsonValue, at: Place, walk: Walk): JsonValue {
  if (!isObject(value)) throw wrongType(value, at, goType(node, at.schema));
  const owner = goTypeName(at.schema) ?? at.owner;
  for (const key of Object.keys(value)) {
    const field = node.fields?.get(key);
    if (!field) {
      if (node.preserveUnknown) continue;
      if (node.element) continue;
      delete value[key];
      walk.unknown.push(child(at.path, key));
      continue;
    }
    const place = { path: child(at.path, key), goPath: child(at.goPath, key), owner, schema: propOf(node, key) };
    const shaped = shape(field, value[key]!, place, walk);
    if (shaped === undefined || vanishes(node, field, key, shaped, walk)) delete value[key];
    else value[key] = shaped;
  }
  return value;
}

/** Go's omitempty. */
function vanishes(parent: SchemaNode, field: SchemaNode, key: string, value: JsonValue, walk: Walk): boolean {
  if (parent.required?.includes(key)) return false;
  if (Array.isArray(value)) return value.length === 0;
  if (isObject(value)) return field.kind === "map" && Object.keys(value).length === 0;
  if (value === "") return true;
  return (value === 0 || value === false) && (walk.status || ZERO_IS_ABSENT.has(key));
}

function shapeMap(node: SchemaNode, value: JsonValue, at: Place, walk: Walk): JsonValue {
  if (!isObject(value)) throw wrongType(value, at, goType(node, at.schema));
  const item = node.element;
  if (!item || node.closed) return value;
  const schema = at.schema?.additionalProperties;
  const place = { ...at, schema: typeof schema === "object" ? schema : undefined };
  for (const key of Object.keys(value)) {
    const shaped = shape(item, value[key]!, { ...place, path: child(at.path, key) }, walk);
    setKey(value, key, shaped === undefined ? zeroOf(item) : shaped);
  }
  return value;
}

function shapeList(node: SchemaNode, value: JsonValue, at: Place, walk: Walk): JsonValue {
  if (!Array.isArray(value)) throw wrongType(value, at, goType(node, at.schema));
  const item = node.element;
  if (!item) return value;
  return value.map((v, i) => {
    const place = { ...at, path: `${at.path}[${i}]`, schema: at.schema?.items ?? node.source.items };
    return shape(item, v, place, walk) ?? zeroOf(item);
  });
}

function zeroOf(node: SchemaNode): JsonValue {
  if (node.default !== undefined) return cloneJson(node.default) as JsonValue;
  switch (node.kind) {
    case "list":
      return [];
    case "struct":
    case "map":
      return {};
    default:
      return node.scalar === "boolean" ? false : node.scalar === "integer" || node.scalar === "number" ? 0 : "";
  }
}

function shapeScalar(node: SchemaNode, value: JsonValue, at: Place): JsonValue {
  switch (node.scalar) {
    case "quantity": {
      const text = typeof value === "number" || typeof value === "bigint" ? String(value) : value;
      if (typeof text !== "string") throw wrongType(value, at, "resource.Quantity");
      const canonical = canonicalQuantity(text);
      if (canonical === undefined) {
        throw new DecodeError(
          "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        );
      }
      return canonical;
    }
    case "integer":
      if (typeof value === "bigint" || Number.isSafeInteger(value)) return value;
      throw wrongType(value, at, goType(node, at.schema));
    case "number":
      if (typeof value === "number" || typeof value === "bigint") return value;
      throw wrongType(value, at, "float64");
    case "boolean":
      if (typeof value === "boolean") return value;
      throw wrongType(value, at, "bool");
    case "string":
      if (typeof value === "string") return value;
      throw wrongType(value, at, "string");
    case "int-or-string":
      if (typeof value === "string" || Number.isSafeInteger(value)) return value;
      throw wrongType(value, at, "intstr.IntOrString");
    default:
      return value;
  }
}

function goType(node: SchemaNode, schema: OpenApiSchema | undefined): string {
  switch (node.kind) {
    case "list":
      return `[]${node.element ? goType(node.element, node.source.items) : "interface {}"}`;
    case "map":
      return `map[string]${node.element ? goType(node.element, undefined) : "interface {}"}`;
    case "struct":
      return `v1.${goTypeName(schema) ?? "Object"}`;
    default:
      if (node.scalar === "integer") return node.source.format === "int32" ? "int32" : "int64";
      if (node.scalar === "boolean") return "bool";
      return node.scalar === "number" ? "float64" : "string";
  }
}

/** Go's name of a JSON value in a decoding error. */
export function goValueName(value: JsonValue): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint") return "number";
  if (typeof value === "number") return Number.isSafeInteger(value) ? "number" : `number ${value}`;
  return typeof value;
}

function wrongType(value: JsonValue, at: Place, type: string): DecodeError {
  return new DecodeError(
    `json: cannot unmarshal ${goValueName(value)} into Go struct field ${at.owner}.${at.goPath} of type ${type}`,
  );
}

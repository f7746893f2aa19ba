/** Answers in the form that kubectl prints: meta.k8s.io Table, and PartialObjectMetadata. @module */
import { humanDuration } from "../facts/mod.ts";
import { isObject, type JsonObject, type JsonValue, stringifyJson } from "../json/mod.ts";
import type { PrinterColumn } from "./contract.ts";
import { badRequest } from "./errors.ts";
import { jsonPath } from "./jsonpath.ts";
import type { ServedVersion } from "./registry.ts";

/** What each row carries. */
export type IncludeObject = "None" | "Metadata" | "Object";

const NAME_DESCRIPTION =
  "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically.";

const AGE: PrinterColumn = {
  name: "Age",
  type: "date",
  description: "CreationTimestamp is a timestamp representing the server time when this object was created.",
  jsonPath: ".metadata.creationTimestamp",
};

/** Reads `includeObject`. @throws StatusError 400 */
export function includeObjectOf(query: URLSearchParams): IncludeObject {
  const value = query.get("includeObject") ?? "";
  if (value === "") return "Metadata";
  if (value === "None" || value === "Metadata" || value === "Object") return value;
  throw badRequest(`unrecognized includeObject value: ${JSON.stringify(value)}`);
}

function columnsOf(version: ServedVersion): PrinterColumn[] {
  return version.def.columns?.length ? version.def.columns : [AGE];
}

/** `columnDefinitions`; Name comes first unless the kind gives a column of that name itself. */
export function columnDefinitions(version: ServedVersion): JsonObject[] {
  const columns = columnsOf(version).map((c): JsonObject => ({
    name: c.name,
    type: c.type,
    format: c.format ?? "",
    description: c.description ?? `Custom resource definition column (in JSONPath format): ${c.jsonPath}`,
    priority: c.priority ?? 0,
  }));
  if (hasNameColumn(version)) return columns;
  return [
    { name: "Name", type: "string", format: "name", description: NAME_DESCRIPTION, priority: 0 },
    ...columns,
  ];
}

function hasNameColumn(version: ServedVersion): boolean {
  return columnsOf(version)[0]?.name === "Name";
}

/** One row. `text` is the object's JSON (for includeObject=Object). */
export function tableRow(
  version: ServedVersion,
  object: JsonObject,
  text: () => string,
  include: IncludeObject,
  now: number,
): string {
  const meta = isObject(object.metadata) ? object.metadata : {};
  const cells: JsonValue[] = hasNameColumn(version) ? [] : [meta.name ?? ""];
  for (const column of columnsOf(version)) cells.push(cell(column, object, now));
  const carried = include === "Object"
    ? `,"object":${text()}`
    : include === "Metadata"
    ? `,"object":${stringifyJson(partialMetadata(object))}`
    : "";
  return `{"cells":${stringifyJson(cells)}${carried || ',"object":null'}}`;
}

/** A whole table around rows. `metadata` is that of the list. */
export function tableText(
  version: ServedVersion,
  rows: string[],
  metadata: JsonObject,
  metaVersion: string,
  withColumns = true,
): string {
  const columns = withColumns ? stringifyJson(columnDefinitions(version)) : "[]";
  return `{"kind":"Table","apiVersion":"meta.k8s.io/${metaVersion}","metadata":${
    stringifyJson(metadata)
  },"columnDefinitions":${columns},"rows":[${rows.join(",")}]}`;
}

/** PartialObjectMetadata of an object. */
export function partialMetadata(object: JsonObject, metaVersion = "v1"): JsonObject {
  return {
    kind: "PartialObjectMetadata",
    apiVersion: `meta.k8s.io/${metaVersion}`,
    metadata: object.metadata ?? {},
  };
}

function cell(column: PrinterColumn, object: JsonObject, now: number): JsonValue {
  if (column.cell) return column.cell(object, now);
  const value = jsonPath(column.jsonPath, object)[0];
  if (value === undefined || value === null) return null;
  switch (column.type) {
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : typeof value === "bigint" ? value : null;
    case "number":
      return typeof value === "number" || typeof value === "bigint" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? age(value, now) : null;
    default:
      return typeof value === "string" ? value : stringifyJson(value);
  }
}

function age(time: string, now: number): string {
  const at = Date.parse(time);
  return Number.isNaN(at) ? "<invalid>" : humanDuration(now - at);
}

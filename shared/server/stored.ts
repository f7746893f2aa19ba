/** Between stored text and answers: texts are spliced, not parsed, wherever that is enough. @module */
import { isObject, type JsonObject, parseJson, stringifyJson } from "../json/mod.ts";
import type { ServedKind, ServedVersion } from "./registry.ts";
import { applyDefaults } from "./schema/default.ts";
import { prune } from "./schema/prune.ts";

/** Where the resourceVersion is put: stored texts are written by {@link toStored}, so it is always there. */
const META = '"metadata":{';

/** The text to store: apiVersion, kind and metadata first, without resourceVersion. */
export function toStored(object: JsonObject): string {
  const { apiVersion, kind, metadata, ...rest } = object;
  const meta = isObject(metadata) ? metadata : {};
  const { resourceVersion: _, selfLink: __, ...storedMeta } = meta;
  return stringifyJson({ apiVersion, kind, metadata: storedMeta, ...rest });
}

/** The JSON text of a stored object at `version`, with its resourceVersion. */
export function spliced(kind: ServedKind, version: ServedVersion, text: string, revision: number): string {
  if (kind.changed) return stringifyJson(parsed(kind, version, text, revision));
  const at = text.indexOf(META) + META.length;
  const comma = text[at] === "}" ? "" : ",";
  let head = text.slice(0, at);
  if (kind.versions.size > 1) {
    head = `{"apiVersion":${JSON.stringify(version.apiVersion)},"kind":${JSON.stringify(kind.def.kind)},${META}`;
  }
  return `${head}"resourceVersion":"${revision}"${comma}${text.slice(at)}`;
}

/** The parsed object at `version`, with its resourceVersion; the caller's own. */
export function parsed(kind: ServedKind, version: ServedVersion, text: string, revision: number): JsonObject {
  const object = parseJson(text) as JsonObject;
  object.apiVersion = version.apiVersion;
  const meta = object.metadata as JsonObject;
  meta.resourceVersion = String(revision);
  if (kind.changed) {
    prune(version.node, object, []);
    applyDefaults(version.node, object);
  }
  return object;
}

/** metadata of an object; made when absent. */
export function metaOf(object: JsonObject): JsonObject {
  if (!isObject(object.metadata)) object.metadata = {};
  return object.metadata;
}

/** A string field of metadata, "" when absent. */
export function metaText(object: JsonObject, key: string): string {
  const meta = object.metadata;
  const value = isObject(meta) ? meta[key] : undefined;
  return typeof value === "string" ? value : "";
}

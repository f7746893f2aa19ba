/** Files to objects, each with the place it came from. @module */
import { isObject, type JsonObject, type JsonValue } from "../json/mod.ts";
import type { Unstructured } from "../kube/mod.ts";
import { parseDocuments, YamlError } from "../yaml/mod.ts";
import type { RenderProblem } from "./error.ts";

/** A file as {@link ../artifact/contract.ts ArtifactFile} gives it. */
export interface ManifestFile {
  path: string;
  read(): Promise<Uint8Array>;
}

/** An object and its place. `item` is its number in a List, from 1. */
export interface Placed {
  object: Unstructured;
  file: string;
  line: number;
  item?: number;
}

/** Bytes of all manifests of one Release. */
const MAX_BYTES = 64 * 2 ** 20;

/** Whether a file may hold manifests. */
export function isManifest(path: string): boolean {
  return /\.(ya?ml|json)$/i.test(path);
}

/** Reads all objects in file order; what is wrong goes to `problems`, file by file. */
export async function readObjects(files: readonly ManifestFile[], problems: RenderProblem[]): Promise<Placed[]> {
  const out: Placed[] = [];
  let bytes = 0;
  for (const file of files) {
    if (!isManifest(file.path)) continue;
    const data = await file.read();
    bytes += data.length;
    if (bytes > MAX_BYTES) {
      problems.push(at(file.path, 0, `the manifests have more than ${MAX_BYTES} bytes; split the Release`));
      break;
    }
    readFile(file.path, data, out, problems);
  }
  return out;
}

function readFile(file: string, data: Uint8Array, out: Placed[], problems: RenderProblem[]): void {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    problems.push(at(file, 0, "the file is not UTF-8 text; save it as UTF-8"));
    return;
  }
  try {
    for (const { value, line } of parseDocuments(text, { file })) {
      if (value !== null) addDocument(value, { file, line }, out, problems, 0);
    }
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    problems.push({ file, line: error.line, column: error.column, message: error.problem });
  }
}

type Place = Pick<Placed, "file" | "line" | "item">;

function addDocument(value: JsonValue, place: Place, out: Placed[], problems: RenderProblem[], depth: number): void {
  if (!isObject(value)) {
    problems.push(at(place.file, place.line, `${named(place)} is no object: a map with apiVersion and kind is needed`));
    return;
  }
  const { kind, items } = value;
  if (typeof kind === "string" && kind.endsWith("List") && Array.isArray(items) && depth < 8) {
    items.forEach((item, i) => {
      const whole = isObject(item) && kind !== "List" ? withListKind(item, value, kind) : item;
      addDocument(whole, { ...place, item: i + 1 }, out, problems, depth + 1);
    });
    return;
  }
  const wrong = whatIsWrong(value);
  if (wrong) problems.push(at(place.file, place.line, `${named(place)} ${wrong}`));
  else out.push({ object: value as unknown as Unstructured, ...place });
}

/** Items of a typed list (`ConfigMapList`) need not say what they are. */
function withListKind(item: JsonObject, list: JsonObject, kind: string): JsonObject {
  return { apiVersion: list.apiVersion ?? null, kind: kind.slice(0, -"List".length), ...item };
}

function whatIsWrong(object: JsonObject): string | undefined {
  const { apiVersion, kind, metadata } = object;
  if (typeof apiVersion !== "string" || apiVersion === "") return missing("apiVersion", apiVersion);
  if (typeof kind !== "string" || kind === "") return missing("kind", kind);
  if (!/^([^/]+\/)?[^/]+$/.test(apiVersion)) {
    return `(${kind}) has the apiVersion "${apiVersion}", which is not group/version`;
  }
  if (!isObject(metadata)) return `(${kind}) has no metadata.name; add one`;
  if (metadata.name === undefined || metadata.name === null || metadata.name === "") {
    return metadata.generateName
      ? `(${kind}) has metadata.generateName, with which each apply would make a new object; give it a metadata.name`
      : `(${kind}) has no metadata.name; add one`;
  }
  if (typeof metadata.name !== "string") return `(${kind}) has a metadata.name that is no string; put quotes around it`;
  const { namespace, labels, annotations } = metadata;
  const called = `(${kind} "${metadata.name}")`;
  if (namespace !== undefined && namespace !== null && typeof namespace !== "string") {
    return `${called} has a metadata.namespace that is no string; put quotes around it`;
  }
  for (const [field, map] of Object.entries({ labels, annotations })) {
    if (map === undefined || map === null) continue;
    if (!isObject(map)) return `${called} has metadata.${field} that are no map`;
    const bad = Object.keys(map).find((key) => typeof map[key] !== "string");
    if (bad !== undefined) {
      return `${called} has in metadata.${field} a "${bad}" that is no string; put quotes around it`;
    }
  }
  return undefined;
}

function missing(field: string, value: JsonValue | undefined): string {
  return value === undefined || value === null || value === ""
    ? `has no ${field}; add it, or take the file out of the path`
    : `has a value of ${field} that is no string`;
}

function named(place: Place): string {
  return place.item === undefined ? "the document" : `item ${place.item} of the list`;
}

function at(file: string, line: number, message: string): RenderProblem {
  return { file, line, column: 0, message };
}

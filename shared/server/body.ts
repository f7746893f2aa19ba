/** Request bodies: size, media type, and from text to values. @module */
import { isObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from "../json/mod.ts";
import { parseYaml, YamlError } from "../yaml/mod.ts";
import { badRequest, tooLarge, unsupportedMediaType } from "./errors.ts";
import { duplicateFields, GoJsonError, goJsonError } from "./go_json.ts";
import { byteLength } from "./go_text.ts";
import { goYamlMessage } from "./go_yaml.ts";
import { goValueName } from "./schema/go_shape.ts";

/** The default of {@link ./contract.ts ApiServerOptions.maxBodyBytes}. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;
/** JSON patch operations in one request (ssa.md rule 61). */
export const MAX_JSON_PATCH_OPS = 10_000;

/** The body as text. @throws StatusError 413 */
export function bodyText(body: Uint8Array | string | undefined, max: number): string {
  if (body === undefined) return "";
  const size = typeof body === "string" ? byteLength(body) : body.byteLength;
  if (size > max) throw tooLarge(`limit is ${max}`);
  return typeof body === "string" ? body : new TextDecoder().decode(body);
}

/** The media type without parameters, lower case. */
export function mediaType(contentType: string | undefined): string {
  return (contentType ?? "").split(";")[0]!.trim().toLowerCase();
}

/** How the body of a POST or PUT is written. @throws StatusError 415 */
export function bodyFormat(contentType: string | undefined, custom: boolean): "json" | "yaml" {
  const type = mediaType(contentType);
  if (type === "" || type === "application/json" || type === "*/*") return "json";
  if (type === "application/yaml") return "yaml";
  const accepted = ["application/json", "application/yaml"];
  throw unsupportedMediaType(custom ? accepted : [...accepted, "application/vnd.kubernetes.protobuf"]);
}

/** A value with the fields that occur twice in its text. */
export interface ParsedBody {
  value: JsonValue;
  /** Paths (JSON) of duplicate fields. */
  duplicates: string[];
}

/** Parses JSON. @throws GoJsonError in Go's words */
export function parseJsonBody(text: string): ParsedBody {
  // The scan also bounds the depth, so that nothing that walks the value can run out of stack.
  const duplicates = duplicateFields(text).map((d) => d.path);
  try {
    return { value: parseJson(text), duplicates };
  } catch (error) {
    throw new GoJsonError(goJsonError(text) ?? String(error));
  }
}

/** Parses the YAML body of a POST or PUT. @throws GoJsonError */
export function parseYamlBody(text: string): ParsedBody {
  try {
    const { value, duplicates } = parseYaml(text, { duplicates: "report" });
    return { value, duplicates };
  } catch (error) {
    if (error instanceof YamlError) throw new GoJsonError(goYamlMessage(text, error));
    throw error;
  }
}

/** An apply body: YAML (JSON is YAML). `duplicates` are texts such as `line 4: key "str" already set in map`. */
export function parseApplyBody(text: string): { config: JsonObject; duplicates: string[] } {
  let value: JsonValue, duplicates: string[];
  try {
    ({ value, duplicates } = parseYaml(text, { duplicates: "report" }));
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw badRequest(`error decoding YAML: ${goYamlMessage(text, error)}`);
  }
  if (value === null) value = {};
  if (!isObject(value)) {
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${
        goValueName(value)
      } into Go value of type map[string]interface {}`,
    );
  }
  return { config: value, duplicates };
}

/** A merge or strategic merge patch. @throws StatusError 400 */
export function parseMergeBody(text: string): { patch: JsonObject; duplicates: string[] } {
  const { value, duplicates } = decoded(text);
  if (!isObject(value)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${
        goValueName(value)
      } into Go value of type map[string]interface {}`,
    );
  }
  return { patch: value, duplicates };
}

/** One operation of a JSON patch, not yet judged. */
export type JsonPatchOp = { [key: string]: JsonValue };

/** A JSON patch. @throws StatusError 400, 413 */
export function parseJsonPatchBody(text: string): { ops: JsonPatchOp[]; duplicates: string[] } {
  const { value, duplicates } = decoded(text);
  if (!Array.isArray(value)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goValueName(value)} into Go value of type []handlers.jsonPatchOp`,
    );
  }
  if (value.length > MAX_JSON_PATCH_OPS) {
    throw tooLarge(
      `The allowed maximum operations in a JSON patch is ${MAX_JSON_PATCH_OPS}, got ${value.length}`,
    );
  }
  const ops = value.map((op) => {
    if (isObject(op)) return op;
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goValueName(op)} into Go value of type handlers.jsonPatchOp`,
    );
  });
  return { ops, duplicates };
}

function decoded(text: string): ParsedBody {
  try {
    return parseJsonBody(text);
  } catch (error) {
    if (error instanceof GoJsonError) throw badRequest(`error decoding patch: ${error.message}`);
    throw error;
  }
}

/** The start of a body for an error message; bodies that are no JSON object are shown as hex. */
export function summary(text: string): string {
  if (text === "") return "<empty>";
  const bytes = new TextEncoder().encode(text.slice(0, 64));
  const cut = bytes.length > 30 ? " ..." : "";
  if (text.startsWith("{")) return new TextDecoder().decode(bytes.slice(0, 30)) + cut;
  return [...bytes.slice(0, 30)].map((b) => b.toString(16).padStart(2, "0")).join("") + cut;
}

/** For `Object 'Kind' is missing in '…'`. */
export function shortText(value: JsonValue): string {
  const text = stringifyJson(value);
  return text.length > 200 ? text.slice(0, 200) + "…" : text;
}

/** From a body to an object of a kind: shape, pruning, defaults; and what strict decoding would complain of. @module */
import { isObject, type JsonObject, type JsonValue } from "../json/mod.ts";
import { parseJsonBody, parseYamlBody, shortText, summary } from "./body.ts";
import { badRequest } from "./errors.ts";
import { GoJsonError } from "./go_json.ts";
import { goQuote } from "./go_text.ts";
import type { FieldValidation } from "./query_options.ts";
import type { Served } from "./registry.ts";
import { applyDefaults } from "./schema/default.ts";
import { DecodeError, goShape, goValueName } from "./schema/go_shape.ts";
import { shapeMeta } from "./schema/meta_shape.ts";
import { prune, pruneNulls } from "./schema/prune.ts";

/** An object ready for tracking, and the strict problems (`unknown field "spec.nope"`). */
export interface Decoded {
  object: JsonObject;
  problems: string[];
}

/** Decodes the body of a POST or PUT. @throws StatusError 400 */
export function decodeBody(served: Served, text: string, format: "json" | "yaml", old?: JsonObject): Decoded {
  const { kind, version } = served;
  let value: JsonValue, duplicates: string[];
  try {
    const body = format === "json" ? parseJsonBody(text) : parseYamlBody(text);
    value = body.value;
    duplicates = format === "json" ? body.duplicates.map((d) => `duplicate field ${goQuote(d)}`) : body.duplicates;
    if (!isObject(value)) {
      throw new GoJsonError(
        `json: cannot unmarshal ${
          goValueName(value)
        } into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
      );
    }
  } catch (error) {
    if (!(error instanceof GoJsonError)) throw error;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind.def.kind}): couldn't get version/kind; json parse error: ${error.message} (${
        summary(text)
      })`,
    );
  }
  checkTypeMeta(served, value, text);
  const decoded = decodeObject(served, value, old, (error) => {
    const kindName = typeof value.kind === "string" ? value.kind : kind.def.kind;
    return badRequest(
      `${kindName} in version ${goQuote(version.def.name)} cannot be handled as a ${kind.def.kind}: ${error.message}`,
    );
  });
  return { object: decoded.object, problems: [...duplicates, ...decoded.problems] };
}

/** Compares apiVersion and kind of a body with the endpoint. @throws StatusError 400 */
function checkTypeMeta(served: Served, value: JsonObject, text: string): void {
  const { kind, version } = served;
  const bodyKind = typeof value.kind === "string" ? value.kind : "";
  const bodyVersion = typeof value.apiVersion === "string" ? value.apiVersion : "";
  if (!kind.custom) {
    value.kind = bodyKind || kind.def.kind;
    value.apiVersion = bodyVersion || version.apiVersion;
    if (bodyKind !== "" && bodyKind !== kind.def.kind) {
      const v = version.def.name;
      throw badRequest(
        `${bodyKind} in version ${
          goQuote(v)
        } cannot be handled as a ${kind.def.kind}: converting (${v}.${bodyKind}) to (${
          kind.def.group.split(".")[0] || "core"
        }.${kind.def.kind}): unknown conversion`,
      );
    }
  } else if (bodyKind === "") {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind.def.kind}): Object 'Kind' is missing in '${
        shortText(value)
      }' (${summary(text)})`,
    );
  }
  if (value.apiVersion !== version.apiVersion) {
    throw badRequest(
      `the API version in the data (${bodyVersion}) does not match the expected API version (${version.apiVersion})`,
    );
  }
}

/**
 * Shapes, prunes and defaults a value in place.
 * @param refuse makes the error to throw of a value that cannot be decoded
 */
export function decodeObject(
  served: Served,
  value: JsonObject,
  old: JsonObject | undefined,
  refuse: (error: DecodeError) => Error,
): Decoded {
  const { kind, version } = served;
  const unknown: string[] = [];
  try {
    shapeMeta(value, unknown);
    if (kind.custom) {
      pruneCustom(served, value, unknown);
      pruneNulls(version.node, value);
    } else goShape(version.node, value, unknown, kind.def.kind);
  } catch (error) {
    if (error instanceof DecodeError) throw refuse(error);
    throw error;
  }
  complete(served, value, old);
  return { object: value, problems: unknown.map((path) => `unknown field ${goQuote(path)}`) };
}

function pruneCustom(served: Served, value: JsonObject, unknown: string[]): void {
  // ObjectMeta was shaped already.
  const { metadata, ...rest } = value;
  prune(served.version.node, rest, unknown);
  for (const key of Object.keys(value)) if (key !== "metadata" && !Object.hasOwn(rest, key)) delete value[key];
  if (metadata !== undefined) value.metadata = metadata;
}

/** The end of an apply's merge: what decoding does, but nulls of custom kinds stay (ssa.md rule 30). */
export function completeMerged(served: Served, value: JsonObject, old: JsonObject | undefined): void {
  try {
    shapeMeta(value, []);
    if (!served.kind.custom) goShape(served.version.node, value, [], served.kind.def.kind);
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(error.message);
    throw error;
  }
  complete(served, value, old);
}

function complete(served: Served, value: JsonObject, old: JsonObject | undefined): void {
  const { metadata, ...rest } = value;
  applyDefaults(served.version.node, rest);
  Object.assign(value, rest);
  if (metadata !== undefined) value.metadata = metadata;
  served.kind.def.strategy?.prepare?.(value, old);
}

/** Applies a fieldValidation directive: warns, or gives the text of what Strict refuses. */
export function strictProblem(problems: string[], directive: FieldValidation, warnings: string[]): string | undefined {
  if (problems.length === 0 || directive === "Ignore") return undefined;
  if (directive === "Warn") {
    warnings.push(...problems);
    return undefined;
  }
  return `strict decoding error: ${problems.join(", ")}`;
}

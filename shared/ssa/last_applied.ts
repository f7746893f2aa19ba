/** What `kubectl apply --server-side` may do over its own client-side apply (rules 65 and 66). @module */
import type { Obj, SchemaNode } from "./contract.ts";
import { compareObjects } from "./compare.ts";
import { ConflictError } from "./errors.ts";
import { ItemError } from "./list_items.ts";
import { encodeJson, exactJson, pathText } from "./path_element.ts";
import { toFieldSet } from "./to_field_set.ts";
import { typingErrors } from "./typing.ts";
import { getKey, isObj } from "./value.ts";

/** The only manager that this is for. */
export const LAST_APPLIED_MANAGER = "kubectl";
const ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";
/** Bytes that all annotations of an object may have together. */
const ANNOTATIONS_MAX = 256 * 1024;

function annotationsOf(object: Obj): Obj | undefined {
  const metadata = getKey(object, "metadata");
  const annotations = isObj(metadata) ? getKey(metadata, "annotations") : undefined;
  return isObj(annotations) ? annotations : undefined;
}

/**
 * Whether the conflicts are all about fields that client-side apply set and nobody changed since.
 *
 * @returns undefined when the apply may be forced; otherwise the conflicts that are left
 */
export function lastAppliedAllows(
  node: SchemaNode,
  live: Obj,
  apiVersion: string,
  conflict: ConflictError,
): ConflictError | undefined {
  const allowed = allowedPaths(node, live, apiVersion);
  if (!allowed) return conflict;
  const left = conflict.causes.filter((cause) => !allowed.has(cause.field));
  return left.length === 0 ? undefined : left.length === conflict.causes.length ? conflict : conflictOf(left);
}

function allowedPaths(node: SchemaNode, live: Obj, apiVersion: string): Set<string> | undefined {
  const text = getKey(annotationsOf(live) ?? {}, ANNOTATION);
  if (typeof text !== "string" || text === "") return undefined;
  try {
    const applied = exactJson(text);
    if (!isObj(applied) || applied.apiVersion !== apiVersion || typingErrors(node, applied).length > 0) {
      return undefined;
    }
    const { added, modified, removed } = compareObjects(node, applied, live);
    const set = toFieldSet(node, applied).difference(modified).difference(added).difference(removed);
    return new Set(set.paths().map(pathText));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof ItemError) return undefined;
    throw error;
  }
}

/** A conflict error of some causes of another; they are already sorted by manager. */
function conflictOf(causes: ConflictError["causes"]): ConflictError {
  const first = causes[0]!;
  if (causes.length === 1) {
    return new ConflictError(`Apply failed with 1 conflict: ${first.message}: ${first.field}`, causes);
  }
  const lines: string[] = [];
  let last = "";
  for (const { field, message } of causes) {
    if (message !== last) lines.push(`${message.replace(/^conflict /, "conflicts ")}:`);
    last = message;
    lines.push(`- ${field}`);
  }
  return new ConflictError(`Apply failed with ${causes.length} conflicts: ${lines.join("\n")}`, causes);
}

/** The object with the annotation rewritten from the apply body, if it has the annotation at all. Nobody owns that. */
export function withLastApplied(object: Obj, config: Obj): Obj {
  const annotations = annotationsOf(object);
  if (!annotations || !Object.hasOwn(annotations, ANNOTATION)) return object;
  const metadata = object.metadata as Obj;
  const { [ANNOTATION]: _old, ...rest } = annotations;
  const text = encodeJson(withoutAnnotation(config)) + "\n";
  const next: Obj = { ...rest, [ANNOTATION]: text };
  const bytes = Object.keys(next).reduce((n, k) => n + utf8(k) + utf8(String(next[k])), 0);
  return { ...object, metadata: { ...metadata, annotations: bytes > ANNOTATIONS_MAX ? rest : next } };
}

function utf8(text: string): number {
  return new TextEncoder().encode(text).length;
}

function withoutAnnotation(config: Obj): Obj {
  const annotations = annotationsOf(config);
  const metadata = config.metadata;
  if (!isObj(metadata)) return config;
  const { annotations: _all, ...bare } = metadata;
  const { [ANNOTATION]: _old, ...rest } = annotations ?? {};
  return { ...config, metadata: Object.keys(rest).length > 0 ? { ...bare, annotations: rest } : bare };
}

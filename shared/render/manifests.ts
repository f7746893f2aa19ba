/** Plain manifests: the files of a folder to the objects of a Release. @module */
import { OWNER_ANNOTATION, OWNER_LABEL } from "../apply/mod.ts";
import { isObject, type JsonObject, type JsonValue } from "../json/mod.ts";
import { type ObjectMeta, parseApiVersion, type Unstructured } from "../kube/mod.ts";
import { type ManifestFile, type Placed, readObjects } from "./documents.ts";
import { RenderError, type RenderProblem } from "./error.ts";
import { knownScopes, type Scope, type ScopeOf } from "./scope.ts";

/** What a Release adds to its manifests. */
export interface ManifestOptions {
  /** Namespace of objects that name none. */
  targetNamespace?: string;
  /** The same when there is no targetNamespace. @default "default" */
  defaultNamespace?: string;
  /** Added to metadata.labels; they win over what is there. Selectors stay. */
  commonLabels?: Record<string, string>;
  /** Added to metadata.annotations; they win over what is there. */
  commonAnnotations?: Record<string, string>;
  /** Asked for kinds that are neither built in nor defined by a CustomResourceDefinition among the objects. */
  scopeOf?: ScopeOf;
}

/** Result of a render. `problems` are notes on what was left out; nothing in them is an error. */
export interface RenderResult {
  objects: Unstructured[];
  problems: RenderProblem[];
}

/** metadata that only a server sets: left in a manifest, an apply of it would be refused or would conflict. */
const SERVER_FIELDS = [
  "managedFields",
  "resourceVersion",
  "uid",
  "generation",
  "creationTimestamp",
  "selfLink",
] as const;

/**
 * Reads plain manifests: `.yaml`, `.yml` and `.json` files in the order given, documents in order, lists expanded.
 * @throws RenderError with every problem's file, line and column; nothing is rendered then
 */
export async function renderManifests(
  files: readonly ManifestFile[],
  options: ManifestOptions = {},
): Promise<RenderResult> {
  const errors: RenderProblem[] = [];
  const notes: RenderProblem[] = [];
  const placed = await readObjects(files, errors);
  const known = knownScopes(placed.map((p) => p.object));
  const asked = new Map<string, Scope | undefined>();
  const seen = new Map<string, Placed>();
  const objects: Unstructured[] = [];
  for (const one of placed) {
    const { group } = parseApiVersion(one.object.apiVersion);
    const { kind } = one.object;
    const key = `${group}/${kind}`;
    let scope = known(group, kind) ?? asked.get(key);
    if (scope === undefined && !asked.has(key)) asked.set(key, scope = await options.scopeOf?.(group, kind));
    const object = finish(one, scope, options, notes);
    const identity = `${key}/${object.metadata.namespace ?? ""}/${object.metadata.name}`;
    const other = seen.get(identity);
    if (other) errors.push(twice(one, other, object));
    seen.set(identity, one);
    objects.push(object);
  }
  if (errors.length > 0) throw new RenderError(errors);
  return { objects, problems: notes };
}

function twice(one: Placed, other: Placed, object: Unstructured): RenderProblem {
  const { namespace, name } = object.metadata;
  const what = `${object.kind} ${namespace ? `${namespace}/` : ""}${name}`;
  return {
    file: one.file,
    line: one.line,
    column: 0,
    message: `${what} is there twice: also at ${other.file}:${other.line}; take one of them out`,
  };
}

function finish(one: Placed, scope: Scope | undefined, options: ManifestOptions, notes: RenderProblem[]): Unstructured {
  const object: Unstructured = { ...one.object, metadata: { ...one.object.metadata } };
  const metadata = object.metadata;
  const note = (message: string) => notes.push({ file: one.file, line: one.line, column: 0, message });
  for (const field of SERVER_FIELDS) {
    if (metadata[field as keyof ObjectMeta] === undefined && !(field in metadata)) continue;
    if ((metadata as unknown as JsonObject)[field] !== null) {
      note(`metadata.${field} of ${object.kind} "${metadata.name}" was left out`);
    }
    delete (metadata as unknown as Record<string, unknown>)[field];
  }
  setNamespace(
    metadata,
    scope,
    options,
    () => note(`${object.kind} "${metadata.name}" has no namespace; its own was left out`),
  );
  setMap(metadata, "labels", OWNER_LABEL, options.commonLabels);
  setMap(metadata, "annotations", OWNER_ANNOTATION, options.commonAnnotations);
  return object;
}

function setNamespace(
  metadata: ObjectMeta,
  scope: Scope | undefined,
  options: ManifestOptions,
  dropped: () => void,
): void {
  if (scope === "Cluster") {
    if (metadata.namespace) dropped();
    delete metadata.namespace;
  } else if (!metadata.namespace) {
    // Of a kind that nobody knows, nothing is made up: the apply tells that the kind is missing.
    if (scope === "Namespaced") metadata.namespace = options.targetNamespace ?? options.defaultNamespace ?? "default";
    else delete metadata.namespace;
  }
}

function setMap(
  metadata: ObjectMeta,
  field: "labels" | "annotations",
  mark: string,
  common?: Record<string, string>,
): void {
  const present: JsonValue | undefined = metadata[field] as JsonValue | undefined;
  const own = isObject(present) ? present as Record<string, string> : undefined;
  const marked = own !== undefined && Object.hasOwn(own, mark);
  if (!marked && (!common || Object.keys(common).length === 0)) return;
  const next: Record<string, string> = { ...own, ...common };
  delete next[mark];
  metadata[field] = next;
}

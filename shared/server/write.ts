/** The write path shared by create, update and all patches: tracking, admission, validation, compare-and-swap. @module */
import { cloneJson, equalJson, isObject, type JsonObject, parseJson } from "../json/mod.ts";
import { type Clock, rfc3339 } from "../runtime/clock.ts";
import { finishWrite, type Obj, resetFields, updateManagedFields } from "../ssa/mod.ts";
import type { AdmissionRequest, ApiServerOptions, FieldError, UserInfo } from "./contract.ts";
import { alreadyExists, badRequest, conflict, failure, invalid, notFound, OBJECT_MODIFIED } from "./errors.ts";
import { byteLength } from "./go_text.ts";
import type { WriteQuery } from "./query_options.ts";
import { keyOf, type Served } from "./registry.ts";
import { type Storage, StorageConflict, type StoredValue } from "./storage/contract.ts";
import { metaOf, metaText, parsed, toStored } from "./stored.ts";
import { invalidValue } from "./validate/field_error.ts";
import {
  finalizerWarnings,
  validateManagedFields,
  validateMetaCreate,
  validateMetaUpdate,
} from "./validate/object_meta.ts";
import { validateObject } from "./validate/object.ts";
import { objectWarnings } from "./validate/warnings.ts";

/** What the write path needs of the server. */
export interface WriteHost {
  storage: Storage;
  clock: Clock;
  admit: ApiServerOptions["admit"];
  maxObjectBytes: number;
  /** Whether the objects of a deleted CustomResourceDefinition are removed here before it goes. */
  cleansCrds: boolean;
  /** Throws when nothing may be created in a namespace. */
  checkNamespace(served: Served, namespace: string): Promise<void>;
}

/** One write. */
export interface WriteRequest {
  served: Served;
  namespace: string;
  name: string;
  subresource: string;
  user: UserInfo;
  query: WriteQuery;
  /** Field manager of an Update. */
  manager: string;
  warnings: string[];
}

/** What a write left behind. A dry run has no revision of its own. */
export interface Written {
  object: JsonObject;
  created: boolean;
  /** Undefined for a dry create. */
  revision: number | undefined;
}

/** How often a write that may be repeated is tried. */
const MAX_TRIES = 50;
/** How many random names are tried. */
const NAME_TRIES = 8;

/** Sets or checks the namespace of a body. @throws StatusError 400 */
export function checkNamespaceOf(object: JsonObject, served: Served, namespace: string): void {
  const meta = metaOf(object);
  if (!served.kind.def.namespaced) {
    delete meta.namespace;
    return;
  }
  const given = metaText(object, "namespace");
  if (given === "") meta.namespace = namespace;
  else if (given !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
}

/** Compares the name of a body with the URL. @throws StatusError 400 */
export function checkNameOf(object: JsonObject, name: string): void {
  const given = metaText(object, "name");
  if (given === "") {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (given !== name) {
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
  }
}

function admission(req: WriteRequest, operation: "CREATE" | "UPDATE"): AdmissionRequest {
  const { kind, version } = req.served;
  return {
    operation,
    group: kind.def.group,
    version: version.def.name,
    kind: kind.def.kind,
    resource: kind.def.plural,
    subresource: req.subresource,
    user: req.user,
    dryRun: req.query.dryRun,
  };
}

/** Tracks a create or update that is no apply. */
export function track(req: WriteRequest, live: JsonObject | undefined, next: JsonObject, now: string): JsonObject {
  const { kind, version } = req.served;
  const result = updateManagedFields({
    kind: kind.info,
    apiVersion: version.apiVersion,
    subresource: req.subresource,
    live: live as Obj | undefined,
    next: next as Obj,
    manager: req.manager,
    now,
  });
  // On a create there was nothing to keep.
  if (result.warning && live) req.warnings.push(result.warning);
  return result.object as JsonObject;
}

/**
 * Stores a new object. `object` is decoded; `tracked` tells that it has its managedFields already (apply).
 * @throws StatusError
 */
export async function createObject(
  host: WriteHost,
  req: WriteRequest,
  object: JsonObject,
  tracked: boolean,
): Promise<Written> {
  const { served } = req;
  const now = rfc3339(host.clock.now());
  const postedVersion = metaText(object, "resourceVersion");
  await host.checkNamespace(served, req.namespace);
  let next = tracked ? object : track(req, undefined, object, now);
  await host.admit?.(next, undefined, admission(req, "CREATE"));
  const meta = metaOf(next);
  meta.uid = crypto.randomUUID();
  meta.creationTimestamp = now;
  for (const key of ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion", "generation"]) {
    delete meta[key];
  }
  if (!served.kind.def.noGeneration) meta.generation = 1;
  const generate = metaText(next, "name") === "" ? metaText(next, "generateName") : "";
  if (generate) meta.name = randomName(generate);
  next = resetFields(served.kind.info, "", undefined, next as Obj) as JsonObject;
  if (!served.kind.custom && served.version.node.fields?.get("status")?.default !== undefined) next.status ??= {};
  served.kind.def.strategy?.prepare?.(next, undefined);
  served.kind.def.strategy?.allocate?.(next, undefined);
  const wrongKind = served.kind.custom && next.kind !== served.kind.def.kind;
  refuseInvalid(
    req,
    next,
    wrongKind ? validateObject(served, next, undefined) : [
      ...validateMetaCreate(metaOf(next), served.kind.def.namespaced, served.kind.def.nameRule ?? "dns1123Subdomain"),
      ...validateManagedFields(metaOf(next)),
      ...validateObject(served, next, undefined),
    ],
  );
  if (served.kind.custom) req.warnings.push(...finalizerWarnings(metaOf(next)));
  req.warnings.push(...objectWarnings(served, next, undefined));
  if (postedVersion !== "" && !tracked) {
    throw badRequest("resourceVersion should not be set on objects to be created");
  }
  for (let attempt = 1;; attempt++) {
    const name = metaText(next, "name");
    const key = keyOf(served.kind, req.namespace, name);
    const text = fitting(host, next, tracked);
    if (req.query.dryRun) {
      if (!await host.storage.get(key)) return { object: next, created: true, revision: undefined };
      throw alreadyExists(served.kind.gr, name);
    }
    try {
      const stored = await host.storage.create(key, text);
      return {
        object: withRevision(parseJson(text) as JsonObject, stored.revision),
        created: true,
        revision: stored.revision,
      };
    } catch (error) {
      if (!(error instanceof StorageConflict)) throw error;
      if (!generate || attempt >= NAME_TRIES) throw alreadyExists(served.kind.gr, name);
      metaOf(next).name = randomName(generate);
    }
  }
}

const NAME_LETTERS = "bcdfghjklmnpqrstvwxz2456789";

/** A generated name: the prefix, cut so that it fits, and five letters that make no words. */
function randomName(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(5));
  return prefix.slice(0, 58) + [...bytes].map((b) => NAME_LETTERS[b % NAME_LETTERS.length]).join("");
}

function withRevision(object: JsonObject, revision: number): JsonObject {
  metaOf(object).resourceVersion = String(revision);
  return object;
}

/** What a change makes of the live object. */
export interface Change {
  /** Decoded and with its managedFields; the update path may alter it. */
  next: JsonObject;
  /** Whether managedFields may be dropped when the object is too big to be stored (not for apply). */
  mayDropTracking: boolean;
}

/** Options of {@link updateObject}. */
export interface UpdateHow {
  /** Makes the next state. Called again, with newer state, when another write came between. */
  change(live: JsonObject, now: string): Change | Promise<Change>;
  /** Called when there is no object. Default: 404. */
  create?(): Promise<Written>;
  /** A uid that the stored object must have. */
  uid?: string;
}

/** Changes a stored object: compare-and-swap, repeated when the request does not insist on a version. */
export async function updateObject(host: WriteHost, req: WriteRequest, how: UpdateHow): Promise<Written> {
  const { served } = req;
  const key = keyOf(served.kind, req.namespace, req.name);
  for (let attempt = 1;; attempt++) {
    const stored = await host.storage.get(key);
    if (!stored) {
      if (how.create) return await how.create();
      throw notFound(served.kind.gr, req.name);
    }
    const live = parsed(served.kind, served.version, stored.value, stored.revision);
    if (how.uid && how.uid !== metaText(live, "uid")) {
      throw conflict(
        served.kind.gr,
        req.name,
        `Precondition failed: UID in precondition: ${how.uid}, UID in object meta: ${metaText(live, "uid")}`,
      );
    }
    const now = rfc3339(host.clock.now());
    const change = await how.change(live, now);
    try {
      return await commit(host, req, stored, live, change);
    } catch (error) {
      if (!(error instanceof StorageConflict)) throw error;
      if (attempt >= MAX_TRIES) throw conflict(served.kind.gr, req.name, OBJECT_MODIFIED);
    }
  }
}

/** Validates and stores the next state. @throws StorageConflict when another write came between */
async function commit(
  host: WriteHost,
  req: WriteRequest,
  stored: StoredValue,
  live: JsonObject,
  { next: tracked, mayDropTracking }: Change,
): Promise<Written> {
  const { served } = req;
  const { kind } = served;
  await host.admit?.(tracked, live, admission(req, "UPDATE"));
  checkVersion(req, tracked, stored.revision);
  keepServerFields(tracked, live);
  let next = resetFields(kind.info, req.subresource, live as Obj, tracked as Obj) as JsonObject;
  if (!kind.custom) {
    if (req.subresource === "status" && next.status === undefined && live.status !== undefined) next.status = {};
    kind.def.strategy?.prepare?.(next, live);
  }
  // finalize is the one request that may leave the finalizers of a namespace empty.
  if (req.subresource !== "finalize") kind.def.strategy?.allocate?.(next, live);
  moveGeneration(served, req.subresource, next, live);
  const metaErrors = validateMetaUpdate(metaOf(next), metaOf(live));
  const fieldErrors = validateManagedFields(metaOf(next));
  refuseInvalid(req, next, [
    // As upstream, which checks metadata once in general and once in the kind's own strategy.
    ...metaErrors,
    ...metaErrors,
    ...fieldErrors,
    ...fieldErrors,
    ...(kind.custom ? fieldErrors : []),
    ...validateObject(served, next, live),
  ]);
  if (kind.custom && !equalJson(metaOf(next).finalizers, metaOf(live).finalizers)) {
    req.warnings.push(...finalizerWarnings(metaOf(next)));
  }
  req.warnings.push(...objectWarnings(served, next, live));
  const finished = finishWrite(live as Obj, next as Obj);
  if (finished.noop) return { object: finished.object as JsonObject, created: false, revision: stored.revision };
  next = finished.object as JsonObject;
  if (isGone(next)) {
    // The last finalizer went: the deletion that waited for it is completed.
    if (req.query.dryRun) return { object: next, created: false, revision: stored.revision };
    const revision = await host.storage.delete(stored.key, stored.revision);
    return { object: withRevision(next, revision), created: false, revision };
  }
  const text = fitting(host, next, !mayDropTracking, kind.storage.apiVersion);
  if (req.query.dryRun || text === stored.value) {
    return { object: withRevision(next, stored.revision), created: false, revision: stored.revision };
  }
  const written = await host.storage.update(stored.key, text, stored.revision);
  return { object: withRevision(next, written.revision), created: false, revision: written.revision };
}

/** resourceVersion of a write against the stored one. @throws StatusError 400, 409, 422 */
function checkVersion(req: WriteRequest, next: JsonObject, revision: number): void {
  const { served, name } = req;
  const { def, gr } = served.kind;
  const text = metaText(next, "resourceVersion");
  if (text !== "" && !/^\d{1,20}$/.test(text)) {
    throw badRequest(`strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  if (text === "" || Number(text) === 0) {
    if (def.allowUnconditionalUpdate ?? def.flavour === "builtin") return;
    throw invalid(gr.group, gr.resource, name, [
      invalidValue("metadata.resourceVersion", 0, "must be specified for an update"),
    ]);
  }
  if (text !== String(revision)) throw conflict(gr, name, OBJECT_MODIFIED);
}

/** Metadata that clients may leave out or cannot change. */
function keepServerFields(next: JsonObject, live: JsonObject): void {
  const meta = metaOf(next), old = metaOf(live);
  meta.resourceVersion = old.resourceVersion!;
  for (const key of ["uid", "namespace", "deletionGracePeriodSeconds"]) {
    if (meta[key] === undefined && old[key] !== undefined) meta[key] = old[key];
  }
  for (const key of ["creationTimestamp", "generation"]) {
    if (old[key] === undefined) delete meta[key];
    else meta[key] = old[key];
  }
  if (old.deletionTimestamp !== undefined) meta.deletionTimestamp = old.deletionTimestamp;
  delete meta.selfLink;
}

/** ssa.md rule 51. */
function moveGeneration(served: Served, subresource: string, next: JsonObject, live: JsonObject): void {
  const { def } = served.kind;
  if (def.noGeneration || subresource === "status") return;
  const bare = (object: JsonObject) => {
    const { apiVersion: _a, kind: _k, metadata: _m, status, ...rest } = object;
    return served.version.def.statusSubresource ? rest : { ...rest, status: status! };
  };
  const annotations = (object: JsonObject) => metaOf(object).annotations ?? {};
  const moved = !equalJson(bare(next), bare(live)) ||
    (def.generationOnAnnotations === true && !equalJson(annotations(next), annotations(live)));
  if (moved) metaOf(next).generation = Number(metaOf(live).generation ?? 0) + 1;
}

function refuseInvalid(req: WriteRequest, object: JsonObject, errors: FieldError[]): void {
  if (errors.length === 0) return;
  const { group, kind } = req.served.kind.def;
  // As upstream, which names the kind that a custom object says it is.
  const said = req.served.kind.custom && typeof object.kind === "string" ? object.kind : kind;
  throw invalid(group, said, metaText(object, "name"), errors);
}

/** Whether a deletion waits for nothing more. */
export function isGone(object: JsonObject): boolean {
  const meta = metaOf(object);
  const finalizers = Array.isArray(meta.finalizers) ? meta.finalizers.length : 0;
  const spec = isObject(object.spec) ? object.spec : {};
  const holds = object.kind === "Namespace" && object.apiVersion === "v1" && Array.isArray(spec.finalizers)
    ? spec.finalizers.length
    : 0;
  return meta.deletionTimestamp !== undefined && finalizers === 0 && holds === 0;
}

/** The text to store. An object that is too big loses its managedFields, or is refused (ssa.md rule 44). */
function fitting(host: WriteHost, object: JsonObject, keepTracking: boolean, apiVersion?: string): string {
  let text = toStored(apiVersion ? { ...object, apiVersion } : object);
  if (byteLength(text) <= host.maxObjectBytes) return text;
  if (!keepTracking) {
    const bare = cloneJson(object);
    delete metaOf(bare).managedFields;
    text = toStored(apiVersion ? { ...bare, apiVersion } : bare);
    if (byteLength(text) <= host.maxObjectBytes) {
      delete metaOf(object).managedFields;
      return text;
    }
  }
  throw failure(500, "", "etcdserver: request is too large");
}

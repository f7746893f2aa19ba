/** delete and deletecollection. @module */
import { cloneJson, isObject, type JsonObject } from "../json/mod.ts";
import { rfc3339 } from "../runtime/clock.ts";
import { parseJsonBody, parseYamlBody } from "./body.ts";
import type { FieldError } from "./contract.ts";
import { badRequest, conflict, invalid, notFound } from "./errors.ts";
import { GoJsonError } from "./go_json.ts";
import { dryRunErrors } from "./query_options.ts";
import { keyOf, type Served } from "./registry.ts";
import { isTrue } from "./request_info.ts";
import { StorageConflict } from "./storage/contract.ts";
import { metaOf, metaText, parsed, toStored } from "./stored.ts";
import { forbiddenField, invalidValue, notSupported } from "./validate/field_error.ts";
import type { WriteHost } from "./write.ts";

/** Finalizers that the server itself sets and works off. */
export const FOREGROUND = "foregroundDeletion", ORPHAN = "orphan";

const POLICIES = ["Background", "Foreground", "Orphan"];

/** What a delete was asked with. */
export interface DeleteHow {
  dryRun: boolean;
  propagationPolicy?: string;
  gracePeriodSeconds?: number;
  uid?: string;
  resourceVersion?: string;
}

/** Reads DeleteOptions from query and body. @throws StatusError 400, 422 */
export function deleteHow(query: URLSearchParams, text: string, yaml: boolean): DeleteHow {
  let body: JsonObject = {};
  if (text !== "") {
    try {
      const { value } = yaml ? parseYamlBody(text) : parseJsonBody(text);
      if (!isObject(value)) throw new GoJsonError("json: DeleteOptions must be an object");
      body = value;
    } catch (error) {
      if (error instanceof GoJsonError) {
        throw badRequest(`couldn't get version/kind; json parse error: ${error.message}`);
      }
      throw error;
    }
  }
  const how: DeleteHow = { dryRun: query.has("dryRun") || body.dryRun !== undefined && body.dryRun !== null };
  const errors: FieldError[] = [
    ...dryRunErrors([
      ...query.getAll("dryRun"),
      ...(Array.isArray(body.dryRun) ? body.dryRun.map(String) : []),
    ]),
  ];
  if (Array.isArray(body.dryRun) && body.dryRun.length === 0) how.dryRun = query.has("dryRun");
  const policy = query.get("propagationPolicy") ?? body.propagationPolicy ?? undefined;
  if (policy !== undefined && policy !== null) {
    if (typeof policy !== "string" || !POLICIES.includes(policy)) {
      errors.push(notSupported("propagationPolicy", policy, [...POLICIES, "nil"]));
    } else how.propagationPolicy = policy;
  }
  const orphan = query.has("orphanDependents") ? isTrue(query.get("orphanDependents")) : body.orphanDependents;
  if (typeof orphan === "boolean") {
    if (how.propagationPolicy) {
      errors.push(
        invalidValue(
          "propagationPolicy",
          how.propagationPolicy,
          "orphanDependents and deletionPropagation cannot be both set",
        ),
      );
    } else how.propagationPolicy = orphan ? "Orphan" : "Background";
  }
  const grace = query.get("gracePeriodSeconds") ?? body.gracePeriodSeconds ?? undefined;
  if (grace !== undefined && grace !== null) {
    if (!/^-?\d{1,15}$/.test(String(grace))) {
      throw badRequest(`gracePeriodSeconds must be a number, not ${String(grace)}`);
    }
    how.gracePeriodSeconds = Number(grace);
  }
  if (isObject(body.preconditions)) {
    const { uid, resourceVersion } = body.preconditions;
    if (typeof uid === "string") how.uid = uid;
    if (typeof resourceVersion === "string") how.resourceVersion = resourceVersion;
  }
  if (isObject(body.preconditions) === false && body.preconditions !== undefined && body.preconditions !== null) {
    errors.push(forbiddenField("preconditions", "must be an object"));
  }
  if (errors.length) throw invalid("meta.k8s.io", "DeleteOptions", "", errors);
  return how;
}

/** What a delete did: the object as it was last, and whether it is gone already. */
export interface Deleted {
  object: JsonObject;
  gone: boolean;
}

/** Deletes one object, or marks it while finalizers hold it. @throws StatusError 404, 409 */
export async function deleteObject(
  host: WriteHost,
  served: Served,
  namespace: string,
  name: string,
  how: DeleteHow,
): Promise<Deleted> {
  const { kind, version } = served;
  const key = keyOf(kind, namespace, name);
  for (;;) {
    const stored = await host.storage.get(key);
    if (!stored) throw notFound(kind.gr, name);
    const object = parsed(kind, version, stored.value, stored.revision);
    checkPreconditions(served, name, object, how);
    const next = marked(served, object, how, rfc3339(host.clock.now()), host.cleansCrds);
    if (how.dryRun) return { object: next ?? object, gone: next === undefined };
    try {
      if (next === undefined) {
        const revision = await host.storage.delete(key, stored.revision);
        metaOf(object).resourceVersion = String(revision);
        return { object, gone: true };
      }
      const text = toStored({ ...next, apiVersion: kind.storage.apiVersion });
      if (text !== stored.value) {
        const written = await host.storage.update(key, text, stored.revision);
        metaOf(next).resourceVersion = String(written.revision);
      }
      return { object: next, gone: false };
    } catch (error) {
      if (!(error instanceof StorageConflict)) throw error;
    }
  }
}

function checkPreconditions(served: Served, name: string, object: JsonObject, how: DeleteHow): void {
  const { group, kind } = served.kind.def;
  const gk = { group, resource: kind };
  const uid = metaText(object, "uid"), version = metaText(object, "resourceVersion");
  if (how.uid !== undefined && how.uid !== uid) {
    throw conflict(
      gk,
      name,
      `the UID in the precondition (${how.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (how.resourceVersion !== undefined && how.resourceVersion !== version) {
    throw conflict(
      gk,
      name,
      `the ResourceVersion in the precondition (${how.resourceVersion}) does not match the ResourceVersion in record (${version}). The object might have been modified`,
    );
  }
}

/** The object marked as being deleted; undefined when nothing holds it. */
function marked(
  served: Served,
  object: JsonObject,
  how: DeleteHow,
  now: string,
  cleansCrds: boolean,
): JsonObject | undefined {
  const next = cloneJson(object);
  const meta = metaOf(next);
  const finalizers = new Set((Array.isArray(meta.finalizers) ? meta.finalizers : []).map(String));
  if (how.propagationPolicy === "Foreground") finalizers.add(FOREGROUND);
  else if (how.propagationPolicy) finalizers.delete(FOREGROUND);
  if (how.propagationPolicy === "Orphan") finalizers.add(ORPHAN);
  else if (how.propagationPolicy) finalizers.delete(ORPHAN);
  const spec = isObject(next.spec) ? next.spec : {};
  const namespace = isNamespace(served) && Array.isArray(spec.finalizers) && spec.finalizers.length > 0;
  if (cleansCrds && isCrd(served) && meta.deletionTimestamp === undefined) finalizers.add(CRD_CLEANUP);
  if (finalizers.size === 0 && !namespace) return undefined;
  if (finalizers.size > 0) meta.finalizers = [...finalizers];
  else delete meta.finalizers;
  if (meta.deletionTimestamp === undefined) {
    meta.deletionTimestamp = now;
    meta.deletionGracePeriodSeconds = 0;
    if (meta.generation !== undefined) meta.generation = Number(meta.generation) + 1;
  }
  if (namespace) next.status = { ...(isObject(next.status) ? next.status : {}), phase: "Terminating" };
  return next;
}

/** Finalizer of a CustomResourceDefinition while objects of its kind remain. */
export const CRD_CLEANUP = "customresourcecleanup.apiextensions.k8s.io";

/** Whether this is the kind Namespace. */
export function isNamespace(served: Served): boolean {
  return served.kind.def.group === "" && served.kind.def.kind === "Namespace";
}

/** Whether this is the kind CustomResourceDefinition. */
export function isCrd(served: Served): boolean {
  return served.kind.def.group === "apiextensions.k8s.io" && served.kind.def.kind === "CustomResourceDefinition";
}

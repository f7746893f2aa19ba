/** The check of one object: a dry run of the apply, compared with the live object that it was made on. @module */
import type { Release } from "../../shared/api/mod.ts";
import { desiredObject, dryRunApply, getLive, impersonation, judgeOwner, ownerText } from "../../shared/apply/mod.ts";
import { diffPaths, isQuantitySchema, type Pattern, sameQuantity } from "../../shared/drift/mod.ts";
import { isObject } from "../../shared/json/mod.ts";
import { type Resource, StatusError, type Unstructured } from "../../shared/kube/mod.ts";
import type { Target } from "../../shared/target/contract.ts";
import type { CrdSchemas } from "./crd_schemas.ts";
import type { Finding } from "./memory.ts";

/** Paths that are kept of one object. */
const MAX_FIELDS = 50;
const MAX_TEXT = 300;
const TRIES = 3;

/** What a check needs. */
export interface CheckInput {
  release: Release;
  target: Target;
  resource: Resource;
  /** The object of the render, as rendered. */
  rendered: Unstructured;
  /** The live object from the watch's cache; undefined = the cache has none. */
  cached: Unstructured | undefined;
  ignore: readonly Pattern[];
  schemas: CrdSchemas;
  signal: AbortSignal;
}

/** What was found, and the version of the object that was compared. `changing`: it changes too fast, try again. */
export type CheckResult =
  | { finding: Finding; version: string | undefined; unmarked?: boolean }
  | { changing: true };

/**
 * Checks one object. Changes nothing anywhere; what it returns holds no value of the object, only paths (C16).
 *
 * @throws TargetError, TransportError when the target cannot be reached
 */
export async function checkObject(input: CheckInput): Promise<CheckResult> {
  try {
    return await compare(input);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return { finding: { state: "Unknown", why: refusal(input.rendered, error) }, version: versionOf(input.cached) };
  }
}

async function compare(i: CheckInput): Promise<CheckResult> {
  const desired = desiredObject(i.rendered, i.release, i.resource);
  let live = i.cached;
  for (let attempt = 0; attempt < TRIES; attempt++) {
    if (live && judgeOwner(live, i.release) === "other") {
      return { finding: { state: "Unknown", why: `it belongs to ${ownerText(live)}` }, version: versionOf(live) };
    }
    const dry = await dryRunApply(i.target, i.resource, desired, {
      ...impersonation(i.release),
      signal: i.signal,
      ...(live ? { live } : {}),
    });
    if (!dry) {
      const finding: Finding = { state: goesByItself(i.rendered) ? "InSync" : "Missing" };
      return { finding, version: undefined };
    }
    if (!live && judgeOwner(dry.live, i.release) === "other") {
      live = dry.live;
      continue;
    }
    if (await isBasedOn(dry.result, dry.live, i)) {
      const fields = await differences(dry.live, dry.result, i);
      return {
        finding: fields.length > 0 ? { state: "Drifted", fields: shorten(fields) } : { state: "InSync" },
        version: versionOf(dry.live),
        ...(judgeOwner(dry.live, i.release) === "own" ? {} : { unmarked: true }),
      };
    }
    // The cache lags behind, or the object changed in between: read it and try again.
    live = undefined;
  }
  return { changing: true };
}

/** Whether the dry run was made on that very version of the object. */
async function isBasedOn(result: Unstructured, live: Unstructured, i: CheckInput): Promise<boolean> {
  const based = versionOf(result);
  if (based !== undefined) return based === versionOf(live);
  // A server that does not say: nothing came in between when the object is still of that version.
  const { name, namespace } = live.metadata;
  const now = await getLive(i.target, i.resource, { name, ...(namespace ? { namespace } : {}) }, i.signal);
  return versionOf(now) === versionOf(live);
}

async function differences(live: Unstructured, wanted: Unstructured, i: CheckInput): Promise<string[]> {
  let alike = false;
  const paths = diffPaths(live, wanted, {
    ignore: i.ignore,
    same(_path, a, b) {
      alike ||= sameQuantity(a, b);
      return false;
    },
  });
  if (!alike) return paths;
  // Only now is the schema worth a request: the server normalises no quantities of custom kinds.
  const schema = await i.schemas.get(i.resource, i.signal);
  if (schema === undefined) return paths;
  return diffPaths(live, wanted, {
    ignore: i.ignore,
    same: (path, a, b) => sameQuantity(a, b) && isQuantitySchema(schema, path),
  });
}

/** A Job that is removed after it has finished is not missing. */
function goesByItself(rendered: Unstructured): boolean {
  return rendered.kind === "Job" && rendered.apiVersion.startsWith("batch/") && isObject(rendered.spec) &&
    rendered.spec.ttlSecondsAfterFinished !== undefined;
}

/** The server's words may quote what was sent: of a Secret only the kind of refusal is told. */
function refusal(object: Unstructured, error: StatusError): string {
  const what = `the dry run was refused (${error.code}${error.reason ? ` ${error.reason}` : ""})`;
  if (object.kind === "Secret") return what;
  const text = error.message.replace(/\s+/g, " ");
  return `${what}: ${text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text}`;
}

function shorten(fields: string[]): string[] {
  if (fields.length <= MAX_FIELDS) return fields;
  return [...fields.slice(0, MAX_FIELDS), `… and ${fields.length - MAX_FIELDS} more`];
}

function versionOf(object: Unstructured | undefined): string | undefined {
  return object?.metadata.resourceVersion;
}

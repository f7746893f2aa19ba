/**
 * The one way in which Convoy applies an object to a target, for real (Release controller) and as a dry run (drift
 * loop), with one field manager on purpose: so the dry run shows exactly what a real apply would change.
 *
 * Conflicts with other field managers are forced, as Flux does: what a release names is the release's. An object that
 * bears another Release's owner mark is never written.
 *
 * @module
 */
import type { Release } from "../api/types.ts";
import { StatusError } from "../kube/status.ts";
import { keyOf, type ObjectKey, type Resource, type Unstructured } from "../kube/types.ts";
import type { Target } from "../target/contract.ts";
import { judgeOwner, ownerText } from "./owner.ts";
import { KeyLock } from "./key_lock.ts";

/** The field manager of all that Convoy applies to targets. */
export const APPLY_MANAGER = "convoy";

const ATTEMPTS = 4;

/** Who is impersonated on the target. */
export interface Impersonation {
  user: string;
  groups?: string[];
}

/** Options of {@link applyObject}. */
export interface ApplyOptions {
  impersonate?: Impersonation;
  signal?: AbortSignal;
}

/** What became of one object. */
export type ApplyOutcome =
  | {
    kind: "created" | "changed" | "unchanged";
    object: Unstructured;
    /** The object as it was before; absent when it was created. */
    live?: Unstructured;
    /** It was there without an owner mark and is this Release's now. */
    adopted: boolean;
  }
  | { kind: "conflict"; live: Unstructured; owner: string }
  /** It is being deleted; what is applied now would go with it. Try again when it is gone. */
  | { kind: "terminating"; live: Unstructured };

// Two Releases of this process that name one object must not both see it unmarked: look and apply are one step.
const locks = new WeakMap<Target, KeyLock>();

function lockOf(target: Target): KeyLock {
  let lock = locks.get(target);
  if (!lock) locks.set(target, lock = new KeyLock());
  return lock;
}

/** The live object, or undefined when there is none. @throws StatusError, TransportError, TargetError */
export async function getLive(
  target: Target,
  resource: Resource,
  key: ObjectKey,
  signal?: AbortSignal,
): Promise<Unstructured | undefined> {
  try {
    return await target.client.get<Unstructured>(resource, key, signal ? { signal } : {});
  } catch (error) {
    if (error instanceof StatusError && error.code === 404) return undefined;
    throw error;
  }
}

/**
 * Applies one object. The live object's owner mark is looked at first; the apply carries its uid and resourceVersion, so
 * that nothing that came in between is overwritten and nothing that was deleted in between comes back unmarked.
 *
 * @param desired from {@link ./desired.ts desiredObject}
 * @throws StatusError when the target refuses, TransportError and TargetError when it cannot be reached
 */
export async function applyObject(
  target: Target,
  resource: Resource,
  desired: Unstructured,
  release: Release,
  options: ApplyOptions = {},
): Promise<ApplyOutcome> {
  const key = objectKey(desired);
  return await lockOf(target).run(`${resource.group}/${resource.plural}/${keyOf(desired)}`, async () => {
    let live = await getLive(target, resource, key, options.signal);
    for (let attempt = 1;; attempt++) {
      const owner = live ? judgeOwner(live, release) : "none";
      if (live && owner === "other") return { kind: "conflict", live, owner: ownerText(live) };
      if (live?.metadata.deletionTimestamp) return { kind: "terminating", live };
      try {
        // A busy object changes between look and apply again and again: the last attempt holds on to the uid alone.
        const object = await sendApply(target, resource, pinned(desired, live, attempt < ATTEMPTS), options);
        if (!live) return { kind: "created", object, adopted: false };
        const changed = object.metadata.resourceVersion !== live.metadata.resourceVersion;
        return { kind: changed ? "changed" : "unchanged", object, live, adopted: owner === "none" };
      } catch (error) {
        if (attempt === ATTEMPTS || !(error instanceof StatusError) || (error.code !== 409 && error.code !== 422)) {
          throw error;
        }
        const now = await getLive(target, resource, key, options.signal);
        if (sameState(live, now)) throw error;
        live = now;
      }
    }
  });
}

/** What a dry run saw. */
export interface DryRun {
  live: Unstructured;
  /** The object as it would be after a real apply. */
  result: Unstructured;
}

/**
 * Asks the target what an apply would change, and changes nothing. Resolves to undefined when the object is missing.
 *
 * @param live the live object where the caller has it already (from a watch); else it is read
 * @throws StatusError when the target refuses, TransportError and TargetError when it cannot be reached
 */
export async function dryRunApply(
  target: Target,
  resource: Resource,
  desired: Unstructured,
  options: ApplyOptions & { live?: Unstructured } = {},
): Promise<DryRun | undefined> {
  const live = options.live ?? await getLive(target, resource, objectKey(desired), options.signal);
  if (!live) return undefined;
  const result = await sendApply(target, resource, desired, options, true);
  return { live, result };
}

async function sendApply(
  target: Target,
  resource: Resource,
  body: Unstructured,
  options: ApplyOptions,
  dryRun = false,
): Promise<Unstructured> {
  return await target.client.apply<Unstructured>(resource, body, {
    fieldManager: APPLY_MANAGER,
    force: true,
    ...(dryRun ? { dryRun } : {}),
    ...(options.impersonate ? { impersonate: options.impersonate } : {}),
    ...(options.signal ? { signal: options.signal } : {}),
  });
}

function pinned(desired: Unstructured, live: Unstructured | undefined, withVersion: boolean): Unstructured {
  if (!live?.metadata.uid) return desired;
  return {
    ...desired,
    metadata: {
      ...desired.metadata,
      uid: live.metadata.uid,
      ...(withVersion && live.metadata.resourceVersion ? { resourceVersion: live.metadata.resourceVersion } : {}),
    },
  };
}

function sameState(a: Unstructured | undefined, b: Unstructured | undefined): boolean {
  return a?.metadata.uid === b?.metadata.uid && a?.metadata.resourceVersion === b?.metadata.resourceVersion;
}

/** Name and namespace of an object. */
export function objectKey(object: Unstructured): ObjectKey {
  const { name, namespace } = object.metadata;
  return { name, ...(namespace ? { namespace } : {}) };
}

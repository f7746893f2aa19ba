/** From an object of a Render to the object that is applied: pure, and the same for apply and drift dry run. @module */
import type { Release } from "../api/types.ts";
import { cloneJson, type JsonObject } from "../json/mod.ts";
import type { Resource, Unstructured } from "../kube/types.ts";
import { withOwnerMark } from "../target/owner.ts";

// What a server sets itself; in a manifest it is left over from an export and would make every apply fail or differ.
const SERVER_FIELDS = [
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "managedFields",
  "selfLink",
];

/** The namespace that an object lives in: its own, else `spec.render.targetNamespace`, else `default`; "" without one. */
export function namespaceOf(object: Unstructured, release: Release, resource: Pick<Resource, "namespaced">): string {
  if (!resource.namespaced) return "";
  return object.metadata.namespace || release.spec.render.targetNamespace || "default";
}

/**
 * The object as it is applied: a copy with the owner mark, in its namespace, without the fields that a server sets. The
 * argument is never changed (C16: what is shown must not be what is sent, and the other way round).
 */
export function desiredObject(object: Unstructured, release: Release, resource: Resource): Unstructured {
  const desired = cloneJson(object);
  const metadata = desired.metadata as unknown as JsonObject;
  for (const field of SERVER_FIELDS) delete metadata[field];
  const namespace = namespaceOf(object, release, resource);
  if (namespace) metadata.namespace = namespace;
  else delete metadata.namespace;
  return withOwnerMark(desired, release);
}

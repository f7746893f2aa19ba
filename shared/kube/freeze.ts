/** What may be done to objects before an informer keeps them. @module */
import type { KubeObject } from "./types.ts";

/** Freezes a JSON value through and through; returns it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const child of Object.values(value)) deepFreeze(child);
  }
  return value;
}

/** Takes metadata.managedFields out of the object itself: half of its memory, of use only to Server-Side Apply. */
export function dropManagedFields<T extends KubeObject>(object: T): T {
  delete object.metadata.managedFields;
  return object;
}

/** Ownership through the scale subresource (rule 47). @module */
import type { KindInfo, Obj, Value } from "./contract.ts";
import { FieldSet } from "./field_set.ts";
import { decodeManaged, encodeManaged, identity, managedFieldsOf, type ManagerId } from "./managed.ts";
import { currentEntries } from "./ownership.ts";
import { fieldElement } from "./path_element.ts";
import { withManagedFields } from "./update.ts";
import { equalValue, getKey, isObj } from "./value.ts";

/** A write through /scale that was already put into the object. */
export interface ScaleRequest {
  kind: KindInfo;
  /** Version of the object, not of Scale. */
  apiVersion: string;
  live: Obj;
  /** `live` with the new number of replicas. Not changed. */
  next: Obj;
  /** Where the number is, e.g. `["spec", "replicas"]`. */
  replicasPath: readonly string[];
  manager: string;
}

/**
 * `next` with the managedFields after a scaling: the path moves to an Update entry of subresource `scale` without time. When
 * nobody owns the path, nobody does afterwards; nor does anybody own it after scaling to 0, which Scale does not tell
 * from absent.
 */
export function updateScale(request: ScaleRequest): Obj {
  const { kind, apiVersion, live, next } = request;
  const managed = currentEntries(kind, decodeManaged(managedFieldsOf(live)) ?? new Map());
  const path = new FieldSet();
  const elements = request.replicasPath.map(fieldElement);
  path.insert(elements);
  const owners = [...managed].filter(([, entry]) => entry.set.has(elements));
  const before = replicas(live, request.replicasPath), after = replicas(next, request.replicasPath);
  if (owners.length > 0 && !equalValue(before, after)) {
    for (const [id, entry] of owners) {
      const set = entry.set.difference(path);
      if (set.empty) managed.delete(id);
      else managed.set(id, { ...entry, set });
    }
    if (after !== 0) {
      const id: ManagerId = {
        manager: request.manager === "" ? "unknown" : request.manager,
        operation: "Update",
        apiVersion,
        subresource: "scale",
      };
      managed.set(identity(id), { ...id, set: path });
    }
  }
  return withManagedFields(next, encodeManaged(managed, kind.flavour));
}

function replicas(object: Obj, path: readonly string[]): Value {
  let value: Value | undefined = object;
  for (const name of path) value = isObj(value) ? getKey(value, name) : undefined;
  return value ?? 0;
}

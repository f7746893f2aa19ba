/** Whether something may be created in a namespace: it must exist and not be on its way out. @module */
import { isObject, type JsonObject, parseJson } from "../json/mod.ts";
import { forbidden, notFound } from "./errors.ts";
import { keyOf, type Registry, type Served } from "./registry.ts";
import type { Storage } from "./storage/contract.ts";

/** Makes the check; without the kind Namespace (or with `on` false) every namespace counts as there. */
export function namespaceCheck(storage: Storage, registry: Registry, on: boolean | undefined) {
  return async (served: Served, namespace: string): Promise<void> => {
    if (!served.kind.def.namespaced || on === false) return;
    const namespaces = registry.kind("", "namespaces");
    if (!namespaces) return;
    const stored = await storage.get(keyOf(namespaces, "", namespace));
    if (!stored) throw notFound({ group: "", resource: "namespaces" }, namespace);
    // The cheap test first: nearly no namespace is being deleted.
    if (!stored.value.includes('"deletionTimestamp"')) return;
    const object = parseJson(stored.value) as JsonObject;
    if (!isObject(object.metadata) || object.metadata.deletionTimestamp === undefined) return;
    throw forbidden(
      served.kind.gr,
      "",
      `unable to create new content in namespace ${namespace} because it is being terminated`,
      [{
        reason: "NamespaceTerminating",
        message: `namespace ${namespace} is being terminated`,
        field: "metadata.namespace",
      }],
    );
  };
}

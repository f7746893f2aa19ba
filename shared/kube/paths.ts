/** Request paths of the Kubernetes API. @module */
import type { ObjectKey, Resource } from "./types.ts";
import type { ListOptions, WatchOptions } from "./contract.ts";

/** `/api/v1` or `/apis/GROUP/VERSION`. */
export function groupVersionPath(r: { group: string; version: string }): string {
  const version = encodeURIComponent(r.version);
  return r.group === "" ? `/api/${version}` : `/apis/${encodeURIComponent(r.group)}/${version}`;
}

/** Path of a collection; of all namespaces when a namespaced resource gets no namespace. */
export function collectionPath(r: Resource, namespace?: string): string {
  const base = groupVersionPath(r);
  const plural = encodeURIComponent(r.plural);
  return r.namespaced && namespace
    ? `${base}/namespaces/${encodeURIComponent(namespace)}/${plural}`
    : `${base}/${plural}`;
}

/**
 * Path of one object, with an optional subresource.
 *
 * @throws TypeError when the name is empty or a namespaced resource gets no namespace.
 */
export function objectPath(r: Resource, key: ObjectKey, subresource?: string): string {
  if (!key.name) throw new TypeError(`Cannot address a ${r.kind}: its name is empty`);
  if (r.namespaced && !key.namespace) {
    throw new TypeError(`Cannot address ${r.kind} "${key.name}": the kind is namespaced and no namespace was given`);
  }
  const path = `${collectionPath(r, key.namespace)}/${encodeURIComponent(key.name)}`;
  return subresource ? `${path}/${subresource.split("/").map(encodeURIComponent).join("/")}` : path;
}

/** `?a=b&…` from the values that are set; "" when there are none. */
export function query(values: Record<string, string | number | boolean | undefined>): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    if (value !== undefined && value !== "") params.set(key, String(value));
  }
  const text = params.toString();
  return text ? `?${text}` : "";
}

/** Query of a list. */
export function listQuery(o: ListOptions): string {
  return query({
    labelSelector: o.labelSelector,
    fieldSelector: o.fieldSelector,
    limit: o.limit,
    continue: o.continue,
    resourceVersion: o.resourceVersion,
    resourceVersionMatch: o.resourceVersionMatch,
  });
}

/** Query of a watch. */
export function watchQuery(o: WatchOptions): string {
  return query({
    watch: true,
    labelSelector: o.labelSelector,
    fieldSelector: o.fieldSelector,
    resourceVersion: o.resourceVersion,
    resourceVersionMatch: o.resourceVersionMatch,
    sendInitialEvents: o.sendInitialEvents,
    allowWatchBookmarks: o.allowWatchBookmarks,
    timeoutSeconds: o.timeoutSeconds,
  });
}

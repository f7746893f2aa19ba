/** How controllers of a simulated cluster read (from the store) and write (through the API). @module */
import { failure } from "../shared/kube/status.ts";
import type { ApiStatus } from "../shared/kube/status.ts";
import { type JsonObject, parseJson, stringifyJson } from "../shared/json/mod.ts";
import type { ApiHandler, UserInfo } from "../shared/server/contract.ts";
import type { Storage, StoredValue } from "../shared/server/storage/contract.ts";
import { at, nameOf, namespaceOf } from "./controllers/fields.ts";
import type { Place, SimStore } from "./controllers/mod.ts";

/** Who the controllers are. */
const CONTROLLER: UserInfo = { name: "system:kube-controller-manager", groups: ["system:masters"] };
const MANAGER = "kube-controller-manager";

/** Prefix of the keys of a kind in the store. */
export function prefixOf(place: Place): string {
  return `/${place.group || "core"}/${place.plural}/`;
}

/** Key of one object in the store. */
export function keyOf(place: Place, namespace: string, name: string): string {
  return place.namespaced ? `${prefixOf(place)}${namespace}/${name}` : prefixOf(place) + name;
}

/** The object of a stored value, with its resourceVersion. */
export function objectOf(stored: StoredValue): JsonObject {
  const object = parseJson(stored.value) as JsonObject;
  at(object, "metadata")["resourceVersion"] = String(stored.revision);
  return object;
}

function pathOf(place: Place, namespace: string, name = "", subresource = ""): string {
  const root = place.group ? `/apis/${place.group}/${place.version}` : `/api/${place.version}`;
  const scope = place.namespaced ? `/namespaces/${namespace}` : "";
  return `${root}${scope}/${place.plural}${name ? `/${name}` : ""}${subresource ? `/${subresource}` : ""}`;
}

/** Makes the store of one cluster. */
export function createSimStore(handler: ApiHandler, storage: Storage): SimStore {
  const send = async (method: string, path: string, body?: JsonObject): Promise<ApiStatus | undefined> => {
    const answer = await handler.handle({
      method,
      path: method === "DELETE" ? path : `${path}?fieldManager=${MANAGER}`,
      headers: { "content-type": "application/json", accept: "application/json" },
      ...(body ? { body: stringifyJson(body) } : {}),
      user: CONTROLLER,
    });
    if (answer.status < 300) return undefined;
    const text = typeof answer.body === "string" ? answer.body : "{}";
    return parseJson(text) as unknown as ApiStatus;
  };
  /** Gives way to other writers; anything else is the caller's problem. */
  const unless = (status: ApiStatus | undefined, ...fine: number[]): void => {
    if (!status || fine.includes(status.code)) return;
    throw failure(status.code, status.reason ?? "", status.message ?? "");
  };
  return {
    async get(place, namespace, name) {
      const stored = await storage.get(keyOf(place, namespace, name));
      return stored && objectOf(stored);
    },
    async list(place, namespace) {
      const prefix = namespace && place.namespaced ? `${prefixOf(place)}${namespace}/` : prefixOf(place);
      return (await storage.list(prefix)).items.map(objectOf);
    },
    async create(place, object) {
      const namespace = namespaceOf(object);
      if (await storage.get(keyOf(place, namespace, nameOf(object)))) return;
      unless(await send("POST", pathOf(place, namespace), object), 409);
    },
    async update(place, object) {
      unless(await send("PUT", pathOf(place, namespaceOf(object), nameOf(object)), object), 404, 409);
    },
    async writeStatus(place, object, status) {
      if (stringifyJson(sorted(at(object, "status"))) === stringifyJson(sorted(status))) return;
      const path = pathOf(place, namespaceOf(object), nameOf(object), "status");
      unless(await send("PUT", path, { ...object, status }), 404, 409);
    },
    async remove(place, namespace, name) {
      unless(await send("DELETE", pathOf(place, namespace, name)), 404);
    },
  };
}

/** With keys in order and without nulls, so that equal statuses have equal texts. */
function sorted(value: JsonObject): JsonObject {
  const walk = (v: unknown): unknown => {
    if (Array.isArray(v)) return v.map(walk);
    if (v === null || typeof v !== "object") return v;
    return Object.fromEntries(
      Object.entries(v).filter(([, x]) => x !== null).sort(([a], [b]) => a < b ? -1 : 1).map(([k, x]) => [k, walk(x)]),
    );
  };
  return walk(value) as JsonObject;
}

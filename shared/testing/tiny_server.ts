/** An API server of a few lines for tests of code that writes: objects, resourceVersions and conflicts, no watches. @module */
import { failure, keyOf, type KubeClient, type KubeObject, type ObjectKey, type Resource } from "../kube/mod.ts";

/** The server. */
export interface TinyServer {
  client: KubeClient;
  /** Stored objects by `plural/namespace/name`. */
  objects: Map<string, KubeObject>;
  /** `VERB plural/namespace/name` of each request. */
  log: string[];
  /** When set, requests fail with it. */
  down: Error | undefined;
  /** When set, requests wait for it. */
  hang: Promise<void> | undefined;
}

/** Makes one with get, create, update, merge patch (top level) and delete. */
export function tinyServer(): TinyServer {
  let version = 0;
  const server: TinyServer = {
    client: {} as KubeClient,
    objects: new Map(),
    log: [],
    down: undefined,
    hang: undefined,
  };
  const idOf = (r: Resource, key: ObjectKey) => `${r.plural}/${keyOf({ metadata: key })}`;
  const enter = async (verb: string, id: string, signal?: AbortSignal) => {
    server.log.push(`${verb} ${id}`);
    if (server.hang) {
      const aborted = Promise.withResolvers<never>();
      signal?.addEventListener("abort", () => aborted.reject(signal.reason), { once: true });
      await Promise.race([server.hang, aborted.promise]);
    }
    signal?.throwIfAborted();
    if (server.down) throw server.down;
  };
  const read = (id: string): KubeObject => {
    const object = server.objects.get(id);
    if (!object) throw failure(404, "NotFound", `${id} not found`);
    return object;
  };
  const store = (id: string, object: KubeObject): KubeObject => {
    const stored = structuredClone(object);
    stored.metadata.resourceVersion = String(++version);
    server.objects.set(id, stored);
    return structuredClone(stored);
  };
  server.client = {
    async get(r: Resource, key: ObjectKey, o?: { signal?: AbortSignal }) {
      const id = idOf(r, key);
      await enter("get", id, o?.signal);
      return structuredClone(read(id));
    },
    async create(r: Resource, object: KubeObject, o?: { signal?: AbortSignal }) {
      const id = idOf(r, object.metadata);
      await enter("create", id, o?.signal);
      if (server.objects.has(id)) throw failure(409, "AlreadyExists", `${id} already exists`);
      return store(id, object);
    },
    async update(r: Resource, object: KubeObject, o?: { signal?: AbortSignal }) {
      const id = idOf(r, object.metadata);
      await enter("update", id, o?.signal);
      const { resourceVersion } = object.metadata;
      if (resourceVersion && read(id).metadata.resourceVersion !== resourceVersion) {
        throw failure(409, "Conflict", `${id} has been modified`);
      }
      return store(id, object);
    },
    async patch(r: Resource, key: ObjectKey, patch: { body: unknown }, o?: { signal?: AbortSignal }) {
      const id = idOf(r, key);
      await enter("patch", id, o?.signal);
      return store(id, { ...read(id), ...patch.body as object });
    },
    async delete(r: Resource, key: ObjectKey) {
      const id = idOf(r, key);
      await enter("delete", id);
      read(id);
      server.objects.delete(id);
    },
    close() {},
  } as unknown as KubeClient;
  return server;
}

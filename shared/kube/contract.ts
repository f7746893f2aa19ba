/**
 * The client contract that every loop is written against. Two transports implement it: HTTP/2 to any API server, and
 * in-process to an {@link ../server} handler; tests use the second with memory storage.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../json/mod.ts";
import type { KubeList, KubeObject, ObjectKey, Resource } from "./types.ts";

/** One HTTP exchange, as low as the contract goes. `path` is the path with query, relative to the server's base URL. */
export interface TransportRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  /** Names in lower case. A list of values is a header that is repeated. */
  headers?: Record<string, string | string[]>;
  body?: string;
  signal?: AbortSignal;
}

/** Answer of a transport. Exactly one of `text()` and `lines()` may be used. */
export interface TransportResponse {
  status: number;
  headers: Record<string, string>;
  text(): Promise<string>;
  /** Newline-separated pieces of a stream (watch). Ends when the server closes; throws on a broken connection. */
  lines(): AsyncIterable<string>;
}

/** Carries requests to one API server. Throws only when there was no HTTP answer (see {@link TransportError}). */
export interface Transport {
  /** The server's name for messages, e.g. `https://host:6443`; never has a credential. */
  readonly server?: string;
  request(request: TransportRequest): Promise<TransportResponse>;
  close(): void;
}

/** There was no HTTP answer: refused, reset, TLS, timed out. `message` names the server and never a credential. */
export class TransportError extends Error {
  override readonly name = "TransportError";
}

/** Options of writes, as query parameters of the same names. */
export interface WriteOptions {
  fieldManager?: string;
  dryRun?: boolean;
  fieldValidation?: "Ignore" | "Warn" | "Strict";
  /** `status`, `scale`, … */
  subresource?: string;
  signal?: AbortSignal;
  /** Impersonate-User for this request. */
  impersonate?: { user: string; groups?: string[] };
}

/** Options of lists. Selectors in their string forms. */
export interface ListOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  limit?: number;
  continue?: string;
  resourceVersion?: string;
  resourceVersionMatch?: "Exact" | "NotOlderThan";
  signal?: AbortSignal;
}

/** Options of watches. */
export interface WatchOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion?: string;
  sendInitialEvents?: boolean;
  resourceVersionMatch?: "NotOlderThan";
  allowWatchBookmarks?: boolean;
  timeoutSeconds?: number;
  signal?: AbortSignal;
}

/** One watch event. ERROR carries a Status as object. */
export type WatchEvent<T> =
  | { type: "ADDED" | "MODIFIED" | "DELETED"; object: T }
  | { type: "BOOKMARK"; object: KubeObject }
  | { type: "ERROR"; object: JsonObject };

/** A patch body and its media type. */
export type Patch =
  | { type: "apply"; body: unknown; force?: boolean }
  | { type: "merge"; body: unknown }
  | { type: "json"; body: { op: string; path: string; value?: JsonValue; from?: string }[] }
  | { type: "strategic"; body: unknown };

/** Options of deletes. */
export interface DeleteOptions extends Pick<WriteOptions, "dryRun" | "signal" | "impersonate"> {
  preconditions?: { uid?: string; resourceVersion?: string };
  propagationPolicy?: "Background" | "Foreground" | "Orphan";
  gracePeriodSeconds?: number;
}

/**
 * A client of one API server. Every method throws {@link ./status.ts StatusError} when the server refused and
 * {@link TransportError} when there was no answer. Objects that come back are the caller's own.
 */
export interface KubeClient {
  get<T extends KubeObject>(
    r: Resource,
    key: ObjectKey,
    o?: { subresource?: string; signal?: AbortSignal },
  ): Promise<T>;
  list<T extends KubeObject>(r: Resource, o?: ListOptions): Promise<KubeList<T>>;
  watch<T extends KubeObject>(r: Resource, o?: WatchOptions): Promise<AsyncIterable<WatchEvent<T>>>;
  create<T extends KubeObject>(r: Resource, object: T, o?: WriteOptions): Promise<T>;
  /** PUT; with `subresource: "status"` this is UpdateStatus. */
  update<T extends KubeObject>(r: Resource, object: T, o?: WriteOptions): Promise<T>;
  patch<T extends KubeObject>(r: Resource, key: ObjectKey, patch: Patch, o?: WriteOptions): Promise<T>;
  /** Server-Side Apply: `patch` of type apply with the object's own key. `fieldManager` is required. */
  apply<T extends KubeObject>(
    r: Resource,
    object: { apiVersion: string; kind: string; metadata: { name: string; namespace?: string } },
    o: WriteOptions & { fieldManager: string; force?: boolean },
  ): Promise<T>;
  delete(r: Resource, key: ObjectKey, o?: DeleteOptions): Promise<void>;
  /** Any other request, e.g. `/version`, `/apis`, or POST …/sync. JSON in, JSON out. */
  raw<T>(
    request: {
      method: TransportRequest["method"];
      path: string;
      body?: unknown;
      contentType?: string;
      /** @default "application/json" */
      accept?: string;
      signal?: AbortSignal;
    },
  ): Promise<T>;
  close(): void;
}

/** What an informer tells its handlers. A periodic resync is `onUpdate(obj, obj)` with equal resourceVersions. */
export interface InformerHandler<T> {
  onAdd?(object: T): void;
  onUpdate?(old: T, object: T): void;
  onDelete?(object: T): void;
}

/** A cache of one resource kept by list and watch. Objects in it are shared and must never be changed. */
export interface Informer<T extends KubeObject> {
  readonly resource: Resource;
  get(key: string): T | undefined;
  list(): Iterable<T>;
  readonly size: number;
  /** Adds an index; call before `start`. */
  addIndex(name: string, valuesOf: (object: T) => string[]): void;
  byIndex(name: string, value: string): T[];
  /** Handlers added after the first sync get an onAdd for each object. Returns the remover. */
  addHandler(handler: InformerHandler<T>): () => void;
  readonly synced: boolean;
  whenSynced(signal?: AbortSignal): Promise<void>;
}

/** Informers shared by all roles of one process, one for each resource; each starts when first asked for. */
export interface InformerFactory {
  for<T extends KubeObject>(resource: Resource): Informer<T>;
  /** Resolves when all informers asked for so far have synced. */
  whenSynced(signal?: AbortSignal): Promise<void>;
}

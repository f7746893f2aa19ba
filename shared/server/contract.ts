/**
 * The API server as a library: a handler from request to response, no sockets. `serveHttps` (net.ts) puts it on TLS,
 * the in-process transport of shared/kube calls it directly, simcluster mounts hundreds of them.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import type { OpenApiSchema } from "../ssa/contract.ts";
import type { Storage } from "./storage/contract.ts";

/** Who asks. Groups `system:masters` may do everything. */
export interface UserInfo {
  name: string;
  uid?: string;
  groups: string[];
  extra?: Record<string, string[]>;
}

/** A request. Header names are lower case. `path` has the query. */
export interface ServerRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: Uint8Array | string;
  user: UserInfo;
  /** Aborted when the client went away. */
  signal?: AbortSignal;
}

/** A response. A stream (watch) is read until it ends or `signal` of the request is aborted. */
export interface ServerResponse {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array | AsyncIterable<string>;
}

/** A whole API server. `handle` never rejects: what goes wrong is answered as a Status. */
export interface ApiHandler {
  handle(request: ServerRequest): Promise<ServerResponse>;
  /** Ends all watches and workers. The storage stays open: it is the caller's. */
  close(): Promise<void>;
}

/** An API server whose kinds can change while it runs. */
export interface ApiServer extends ApiHandler {
  /** Replaces the kinds given at creation; kinds from CustomResourceDefinitions stay. */
  setKinds(kinds: KindDefinition[]): void;
  /** All kinds served now. */
  kinds(): KindDefinition[];
  /** Resolves when background workers have caught up with all writes made so far. For tests and clean hand-over. */
  settled(): Promise<void>;
}

/** What a mutating admission step is told of a create or update. */
export interface AdmissionRequest {
  operation: "CREATE" | "UPDATE";
  group: string;
  version: string;
  kind: string;
  resource: string;
  subresource: string;
  user: UserInfo;
  dryRun: boolean;
}

/** Options of an API server. */
export interface ApiServerOptions {
  kinds: KindDefinition[];
  storage: Storage;
  /** @default everybody may do everything */
  authorizer?: Authorizer;
  /** @default systemClock */
  clock?: Clock;
  /** @default silentLogger */
  logger?: Logger;
  /** Fields of `GET /version`. @default Convoy's version, worded so that kubectl accepts it */
  version?: Partial<VersionInfo>;
  /** Whether a namespace must exist before something is created in it. @default true when Namespace is a kind */
  checkNamespaces?: boolean;
  /** Whether CustomResourceDefinitions register kinds; needs that kind among `kinds`. @default false */
  serveCrds?: boolean;
  /** Whether garbage collection, namespace deletion and CRDs are worked on here. @default true */
  workers?: boolean;
  /** Changes or refuses (by throwing a StatusError) an object after ownership was tracked, before validation. */
  admit?(object: JsonObject, old: JsonObject | undefined, request: AdmissionRequest): void | Promise<void>;
  /** Checks of `/readyz` by name; each resolves or rejects. */
  readyChecks?: Record<string, () => Promise<void>>;
  /** Largest request body, bytes. @default 3145728 */
  maxBodyBytes?: number;
  /** Largest stored object, bytes; a larger one is refused (ssa.md rule 44). @default no limit of its own */
  maxObjectBytes?: number;
  /** Time between two bookmarks on an idle watch, ms. @default 60_000 */
  bookmarkMs?: number;
}

/** The answer of `GET /version`. */
export interface VersionInfo {
  major: string;
  minor: string;
  gitVersion: string;
  gitCommit: string;
  gitTreeState: string;
  buildDate: string;
  goVersion: string;
  compiler: string;
  platform: string;
}

/** Answers "may this user do that?". `undefined` = yes; otherwise the message of a 403. */
export interface Authorizer {
  authorize(user: UserInfo, a: RequestAttributes): Promise<{ allowed: boolean; reason?: string }>;
}

/** What a request does, as in kube-apiserver's RequestInfo. */
export interface RequestAttributes {
  /** get list watch create update patch delete deletecollection, or the lower-case method for non-resource paths. */
  verb: string;
  isResourceRequest: boolean;
  path: string;
  group: string;
  version: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
}

/** A printer column, as in a CustomResourceDefinition. */
export interface PrinterColumn {
  name: string;
  type: "string" | "integer" | "number" | "boolean" | "date";
  jsonPath: string;
  description?: string;
  format?: string;
  /** > 0: only with -o wide. */
  priority?: number;
  /** Computes the cell of a built-in kind (`2/3`, a count of keys); then `jsonPath` is "". `now` in ms. */
  cell?(object: JsonObject, now: number): string | number | boolean | null;
}

/** One version of a kind, as the server serves it. */
export interface KindVersion {
  name: string;
  served: boolean;
  storage: boolean;
  /** OpenAPI v3 schema of the whole object; `$ref`s only into `KindDefinition.definitions`. */
  schema: OpenApiSchema;
  columns?: PrinterColumn[];
  /** Subresource status: main writes drop status, /status writes only it, generation moves with non-status only. */
  statusSubresource?: boolean;
  scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
  /** Paths that a fieldSelector may name besides metadata.name and metadata.namespace: `spec.cluster.name`. */
  selectableFields?: string[];
}

/** A kind the server serves: Convoy's own, core kinds, or from a CustomResourceDefinition in a simulated cluster. */
export interface KindDefinition {
  group: string;
  kind: string;
  listKind?: string;
  plural: string;
  singular?: string;
  shortNames?: string[];
  categories?: string[];
  namespaced: boolean;
  versions: KindVersion[];
  /** Shared schemas by name for `$ref: "#/components/schemas/NAME"`. */
  definitions?: Record<string, OpenApiSchema>;
  /** `custom` = as a CRD is treated; `builtin` = as a compiled-in kind is (ssa.md tells where they differ). */
  flavour: "custom" | "builtin";
  /** No generation counter (ConfigMap, Secret, Event, Lease as upstream). Default false. */
  noGeneration?: boolean;
  /** A change of annotations moves generation too (Deployment, ssa.md rule 51). Default false. */
  generationOnAnnotations?: boolean;
  /** What metadata.name must be. Default dns1123Subdomain; rbac kinds: pathSegment, Service: dns1035Label… */
  nameRule?: "dns1123Subdomain" | "dns1123Label" | "dns1035Label" | "pathSegment";
  /** Update without resourceVersion is allowed (upstream AllowUnconditionalUpdate). Default: flavour is builtin. */
  allowUnconditionalUpdate?: boolean;
  /** PUT of a missing object creates it (Lease, Event…). Default false. */
  createOnUpdate?: boolean;
  strategy?: KindStrategy;
  /** Extra requests on one object, e.g. POST releases/x/sync. */
  actions?: Record<string, ActionHandler>;
}

/** Hooks of a kind into the write path; all pure and optional, called in this order. */
export interface KindStrategy {
  /** Fills in what a schema default cannot say; mutates `object`. */
  prepare?(object: JsonObject, old: JsonObject | undefined): void;
  /**
   * What a built-in kind's server sets once ownership is tracked, so that the writer does not own it: cluster IPs, Job
   * selectors, admission. `metadata.uid` is set. Runs after `prepare` and before `validate`; mutates `object`.
   */
  allocate?(object: JsonObject, old: JsonObject | undefined): void;
  /** Errors beyond the schema. */
  validate?(object: JsonObject, old: JsonObject | undefined): FieldError[];
}

/** A field error, as in k8s.io/apimachinery/pkg/util/validation/field. */
export interface FieldError {
  field: string;
  type:
    | "FieldValueRequired"
    | "FieldValueInvalid"
    | "FieldValueNotSupported"
    | "FieldValueForbidden"
    | "FieldValueNotFound"
    | "FieldValueDuplicate"
    | "FieldValueTooLong"
    | "FieldValueTooMany"
    | "FieldValueTypeInvalid";
  /** As in the 422: `Invalid value: "x": must be …`. */
  message: string;
}

/** What an action may use: read, compare-and-swap of the object, the user. */
export interface ActionContext {
  method: string;
  namespace: string;
  name: string;
  query: URLSearchParams;
  body: JsonObject | undefined;
  user: UserInfo;
  now: number;
  /** Reads, lets `change` alter a copy, validates and stores with retry on conflict; resolves to the stored object. */
  modify(change: (object: JsonObject) => void): Promise<JsonObject>;
}

/** Handles one action; what it resolves to is the JSON answer (200). Throws StatusError. */
export type ActionHandler = { methods: string[]; run(ctx: ActionContext): Promise<JsonObject> };

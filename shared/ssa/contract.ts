/**
 * Types of the Server-Side Apply library. It imports nothing from the rest of Convoy: values are plain JSON, with
 * `bigint` for integers beyond ±(2^53−1).
 *
 * @module
 */

/** A JSON value; structurally the same as shared/json's JsonValue. */
export type Value = null | boolean | number | bigint | string | Value[] | { [key: string]: Value };

/** A JSON object. */
export type Obj = { [key: string]: Value };

/** An OpenAPI v3 schema with the Kubernetes extensions that Convoy reads. */
export interface OpenApiSchema {
  $ref?: string;
  type?: string;
  format?: string;
  description?: string;
  nullable?: boolean;
  default?: Value;
  enum?: Value[];
  properties?: Record<string, OpenApiSchema>;
  required?: string[];
  additionalProperties?: OpenApiSchema | boolean;
  items?: OpenApiSchema;
  allOf?: OpenApiSchema[];
  anyOf?: OpenApiSchema[];
  oneOf?: OpenApiSchema[];
  not?: OpenApiSchema;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  "x-kubernetes-list-map-keys"?: string[];
  "x-kubernetes-map-type"?: "granular" | "atomic";
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  "x-kubernetes-int-or-string"?: boolean;
  "x-kubernetes-embedded-resource"?: boolean;
  "x-kubernetes-validations"?: {
    rule: string;
    message?: string;
    messageExpression?: string;
    reason?: string;
    fieldPath?: string;
  }[];
  "x-kubernetes-patch-strategy"?: string;
  "x-kubernetes-patch-merge-key"?: string;
  [key: string]: unknown;
}

/**
 * A compiled schema node: what typing, SSA, defaulting, pruning and validation all walk. Compiled once per kind; `$ref`
 * and `allOf` of one are resolved lazily, so that recursive schemas (JSONSchemaProps) work.
 */
export interface SchemaNode {
  /** The shape. `any` = deduced below here (preserve-unknown without properties). */
  readonly kind: "scalar" | "list" | "map" | "struct" | "any";
  readonly scalar?: "string" | "integer" | "number" | "boolean" | "int-or-string" | "quantity" | "untyped" | undefined;
  /** Lists: atomic (default), set, map. Maps/structs: granular (default) or atomic. */
  readonly listType?: "atomic" | "set" | "map" | undefined;
  readonly keys?: readonly string[] | undefined;
  readonly atomic?: boolean | undefined;
  /** struct: declared fields. */
  readonly fields?: ReadonlyMap<string, SchemaNode> | undefined;
  /** list items, or values of a map (additionalProperties). */
  readonly element?: SchemaNode | undefined;
  readonly preserveUnknown: boolean;
  readonly nullable: boolean;
  readonly default?: Value | undefined;
  readonly required?: readonly string[] | undefined;
  /**
   * `type: object` that declares neither properties nor additionalProperties and does not preserve unknown fields:
   * typing accepts any field below (`element` is the deduced node), pruning drops them all.
   */
  readonly closed?: boolean | undefined;
  /** Scalars: what typing checks. A string with a format other than `byte` is `untyped`, as upstream has it. */
  readonly typing?: "string" | "numeric" | "boolean" | "untyped" | undefined;
  /** The schema it was compiled from, for validation of the rest (enum, pattern, bounds, CEL). */
  readonly source: OpenApiSchema;
}

/** managedFields entry on the wire. */
export interface ManagedEntry {
  manager?: string;
  operation?: string;
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: Obj;
  subresource?: string;
}

/** What the library must know of a kind. */
export interface KindInfo {
  /** Schema of each version that the kind still has (also unserved ones), by apiVersion (`group/version`). */
  schemas: ReadonlyMap<string, SchemaNode>;
  /** fieldsV1 order and null handling differ between custom and built-in kinds (ssa.md 8, 30, 35, 48). */
  flavour: "custom" | "builtin";
  /** Whether the kind has a status subresource: main writes then never own status, /status writes only it. */
  statusSubresource: boolean;
}

/** One typing error of an apply body. `field` is a path such as `.spec.items[name="a"].n` ("" = the whole object). */
export interface FieldMessage {
  field: string;
  message: string;
}

/** One cause of a conflict, as in `details.causes` of the 409 (reason `FieldManagerConflict`). */
export interface ConflictCause {
  field: string;
  message: string;
}

/** A Server-Side Apply request, after the caller checked query, kind, apiVersion and that managedFields is nil. */
export interface ApplyRequest {
  kind: KindInfo;
  /** `group/version` of the endpoint; `kind.schemas` must have it. */
  apiVersion: string;
  /** "" or absent = the object itself. */
  subresource?: string;
  /** The stored object with its managedFields, unknown fields pruned; undefined when the apply creates it. */
  live: Obj | undefined;
  /** The apply body, parsed; `metadata.managedFields` absent or null. */
  config: Obj;
  /** fieldManager parameter; not empty. */
  manager: string;
  force: boolean;
  /** Time of the request: RFC 3339, UTC, whole seconds (`2026-11-30T21:20:00Z`). */
  now: string;
}

/** What an apply gives. */
export interface ApplyResult {
  /**
   * The merged object with its new managedFields, before defaulting. It shares no container with `live` or `config`: the
   * caller may change it in place.
   */
  object: Obj;
  /** The merge changed nothing but perhaps managedFields; upstream then moves no time. */
  unchanged: boolean;
}

/** A create (live undefined), PUT or non-apply patch to be tracked. */
export interface UpdateRequest {
  kind: KindInfo;
  apiVersion: string;
  subresource?: string;
  live: Obj | undefined;
  /**
   * The object as it is to be stored, pruned and defaulted, with the managedFields that the client sent (if any):
   * they decide about resets and posted entries. Not changed.
   */
  next: Obj;
  /** fieldManager, or what {@link managerFromUserAgent} makes of the User-Agent; "" becomes `unknown`. */
  manager: string;
  now: string;
}

/** What tracking an update gives. */
export interface UpdateResult {
  /** `next` with new managedFields (absent when there are none): a new object that shares everything else with `next`. */
  object: Obj;
  /** Tracking failed and live's managedFields were kept (ssa.md 45): tell the client as a Warning. */
  warning?: string;
}

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
  readonly scalar?: "string" | "integer" | "number" | "boolean" | "int-or-string" | "quantity" | "untyped";
  /** Lists: atomic (default), set, map. Maps/structs: granular (default) or atomic. */
  readonly listType?: "atomic" | "set" | "map";
  readonly keys?: readonly string[];
  readonly atomic?: boolean;
  /** struct: declared fields. */
  readonly fields?: ReadonlyMap<string, SchemaNode>;
  /** list items, or values of a map (additionalProperties). */
  readonly element?: SchemaNode;
  readonly preserveUnknown: boolean;
  readonly nullable: boolean;
  readonly default?: Value;
  readonly required?: readonly string[];
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

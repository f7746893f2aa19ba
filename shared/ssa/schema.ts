/** Compiles an OpenAPI v3 schema to the nodes that everything walks (rules 18 to 20). @module */
import type { OpenApiSchema, SchemaNode, Value } from "./contract.ts";
import { OBJECT_META } from "./object_meta.ts";

/** Shared schemas by name, for `$ref: "#/components/schemas/NAME"`. */
export type Definitions = Readonly<Record<string, OpenApiSchema>>;

const QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
const RAW_EXTENSION = "io.k8s.apimachinery.pkg.runtime.RawExtension";

/** The node of values without a schema: maps are granular, lists atomic, each level deduced again (rule 19). */
export const deducedSchema: SchemaNode = { kind: "any", preserveUnknown: true, nullable: true, source: {} };

/**
 * Compiles the schema of a whole object. `apiVersion` and `kind` are added, and `metadata` is always ObjectMeta: labels
 * and annotations are granular maps, finalizers a set, ownerReferences a list map on `uid` of atomic items.
 *
 * @param openapi schema of the object
 * @param definitions what its `$ref`s name; a missing one is an error when the node is first used
 * @throws Error for a reference that `definitions` does not have
 */
export function compileSchema(openapi: OpenApiSchema, definitions: Definitions = {}): SchemaNode {
  return new Node(openapi, new Compiler(definitions), false, "object");
}

/** The node of one schema that is not a whole object: no apiVersion, kind and metadata are added. */
export function compilePart(openapi: OpenApiSchema, definitions: Definitions = {}): SchemaNode {
  return new Node(openapi, new Compiler(definitions), false, undefined);
}

/** Child of a map, struct or deduced node; `undefined` = the field is not declared. */
export function childOf(node: SchemaNode, key: string): SchemaNode | undefined {
  if (node.kind === "any") return deducedSchema;
  return node.fields?.get(key) ?? node.element ?? (node.preserveUnknown ? deducedSchema : undefined);
}

/** Whether the node declares a field of this name: a "named" field (rule 11). */
export function isNamedField(node: SchemaNode | undefined, key: string): boolean {
  return node?.fields?.has(key) === true;
}

class Compiler {
  private readonly refs = new Map<string, SchemaNode>();
  constructor(private readonly definitions: Definitions) {}

  compile(schema: OpenApiSchema, preserve: boolean): SchemaNode {
    return new Node(schema, this, preserve, undefined);
  }

  /** The schema behind `$ref`, or behind an allOf of one that is a `$ref`; its name too. */
  resolve(schema: OpenApiSchema): { schema: OpenApiSchema; name?: string } {
    const ref = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0]!.$ref : undefined);
    if (ref === undefined) {
      const only = schema.type === undefined && !schema.properties && schema.allOf?.length === 1;
      return { schema: only ? { ...schema.allOf![0]!, ...schema } : schema };
    }
    const name = ref.slice(ref.lastIndexOf("/") + 1);
    if (!Object.hasOwn(this.definitions, name)) {
      throw new Error(`Cannot compile schema: "${ref}" is not among the definitions`);
    }
    return { schema: this.definitions[name]!, name };
  }

  /** A node shared by all references to a name, so that recursive schemas end. */
  named(name: string, schema: OpenApiSchema): SchemaNode {
    let node = this.refs.get(name);
    if (!node) {
      node = new Node(schema, this, false, undefined);
      this.refs.set(name, node);
    }
    return node;
  }
}

type Shape = Pick<
  SchemaNode,
  "kind" | "scalar" | "typing" | "listType" | "keys" | "atomic" | "fields" | "element" | "required" | "closed"
>;

/** A lazily compiled node: nothing below it is looked at before it is used. */
class Node implements SchemaNode {
  private readonly shape: Shape;
  readonly preserveUnknown: boolean;
  readonly nullable: boolean;
  readonly source: OpenApiSchema;
  readonly default?: Value;
  private cachedFields: ReadonlyMap<string, SchemaNode> | undefined;
  private cachedElement: SchemaNode | undefined;

  /** @param preserve x-kubernetes-preserve-unknown-fields of an ancestor: typing then accepts unknown fields too */
  constructor(
    private readonly outer: OpenApiSchema,
    private readonly compiler: Compiler,
    private readonly preserve: boolean,
    private readonly role: "object" | undefined,
  ) {
    const { schema, name } = compiler.resolve(outer);
    this.source = schema === outer ? outer : { ...schema, ...withoutRef(outer) };
    this.preserveUnknown = this.source["x-kubernetes-preserve-unknown-fields"] === true;
    this.nullable = this.source.nullable === true;
    if (this.source.default !== undefined) this.default = this.source.default;
    this.shape = shapeOf(this.source, name, preserve || this.preserveUnknown, role);
  }

  get kind() {
    return this.shape.kind;
  }
  get scalar() {
    return this.shape.scalar;
  }
  get typing() {
    return this.shape.typing;
  }
  get listType() {
    return this.shape.listType;
  }
  get keys() {
    return this.shape.keys;
  }
  get atomic() {
    return this.shape.atomic;
  }
  get required() {
    return this.source.required;
  }
  get closed() {
    return this.shape.closed;
  }

  get fields(): ReadonlyMap<string, SchemaNode> | undefined {
    if (this.kind !== "struct") return undefined;
    return this.cachedFields ??= this.compileFields();
  }

  get element(): SchemaNode | undefined {
    if (this.cachedElement) return this.cachedElement;
    const s = this.source;
    if (this.kind === "list") this.cachedElement = s.items ? this.child(s.items) : deducedSchema;
    else if (this.kind === "map" || this.kind === "struct") {
      const extra = s.additionalProperties;
      if (typeof extra === "object") this.cachedElement = this.child(extra);
      else if (extra !== false && (this.kind === "map" || extra === true || this.preserve || this.preserveUnknown)) {
        this.cachedElement = deducedSchema;
      }
    }
    return this.cachedElement;
  }

  private child(schema: OpenApiSchema): SchemaNode {
    const { name } = this.compiler.resolve(schema);
    // A bare reference shares its node; one with siblings (default, nullable) is a node of its own.
    if (name !== undefined && Object.keys(schema).every((k) => k === "$ref" || k === "description")) {
      return this.compiler.named(name, schema);
    }
    return this.compiler.compile(schema, name === undefined && (this.preserve || this.preserveUnknown));
  }

  private compileFields(): Map<string, SchemaNode> {
    const fields = new Map<string, SchemaNode>();
    const embedded = this.source["x-kubernetes-embedded-resource"] === true;
    const properties = this.source.properties ?? {};
    for (const key of Object.keys(properties)) fields.set(key, this.child(properties[key]!));
    if (this.role === "object" || embedded) {
      for (const key of ["apiVersion", "kind"]) if (!fields.has(key)) fields.set(key, this.child({ type: "string" }));
      fields.set("metadata", objectMeta());
    }
    return fields;
  }
}

function withoutRef(schema: OpenApiSchema): OpenApiSchema {
  const { $ref: _ref, allOf: _allOf, ...rest } = schema;
  return rest;
}

let meta: SchemaNode | undefined;

/** The node of `metadata`. */
export function objectMeta(): SchemaNode {
  return meta ??= compilePart(OBJECT_META);
}

function shapeOf(s: OpenApiSchema, name: string | undefined, preserve: boolean, role: "object" | undefined): Shape {
  if (name === QUANTITY || s.format === "quantity") return { kind: "scalar", scalar: "quantity", typing: "untyped" };
  if (s["x-kubernetes-int-or-string"] === true || s.format === "int-or-string" || name === INT_OR_STRING) {
    return { kind: "scalar", scalar: "int-or-string", typing: "untyped" };
  }
  if (name === RAW_EXTENSION) return { kind: "map", atomic: true };
  switch (s.type) {
    case "integer":
      return { kind: "scalar", scalar: "integer", typing: "numeric" };
    case "number":
      return { kind: "scalar", scalar: "number", typing: "numeric" };
    case "boolean":
      return { kind: "scalar", scalar: "boolean", typing: "boolean" };
    case "string":
      // Strings with a format are untyped to upstream's typing; validation has the last word.
      return {
        kind: "scalar",
        scalar: "string",
        typing: s.format === undefined || s.format === "" || s.format === "byte" ? "string" : "untyped",
      };
    case "array":
      return { kind: "list", ...listShape(s) };
  }
  const hasFields = s.properties !== undefined && Object.keys(s.properties).length > 0;
  if (role === "object" || s["x-kubernetes-embedded-resource"] === true || hasFields) {
    return { kind: "struct", atomic: s["x-kubernetes-map-type"] === "atomic" };
  }
  if (s.type === "object" || s.additionalProperties !== undefined) {
    return {
      kind: "map",
      atomic: s["x-kubernetes-map-type"] === "atomic",
      closed: !preserve && s.additionalProperties === undefined,
    };
  }
  return { kind: "any" };
}

function listShape(s: OpenApiSchema): Pick<Shape, "listType" | "keys"> {
  const listType = s["x-kubernetes-list-type"];
  const keys = s["x-kubernetes-list-map-keys"];
  if (listType === "map") {
    const merge = s["x-kubernetes-patch-merge-key"];
    return { listType: "map", keys: keys ?? (merge === undefined ? [] : [merge]) };
  }
  if (listType !== undefined) return { listType };
  // Built-in kinds without a list type are merged by their strategic merge keys.
  if (s["x-kubernetes-patch-strategy"]?.split(",").includes("merge")) {
    const merge = s["x-kubernetes-patch-merge-key"];
    return merge === undefined ? { listType: "set" } : { listType: "map", keys: [merge] };
  }
  return { listType: "atomic" };
}

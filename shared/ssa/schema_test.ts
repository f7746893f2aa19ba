import assert from "node:assert/strict";
import {
  childOf,
  compilePart,
  compileSchema,
  deducedSchema,
  isNamedField,
  objectMeta,
  type OpenApiSchema,
  typingErrors,
} from "./mod.ts";

function child(schema: OpenApiSchema, name: string, definitions: Record<string, OpenApiSchema> = {}) {
  return childOf(compilePart(schema, definitions), name)!;
}

const SHAPES: [what: string, schema: OpenApiSchema, shape: Record<string, unknown>][] = [
  ["a string", { type: "string" }, { kind: "scalar", scalar: "string", typing: "string" }],
  ["bytes", { type: "string", format: "byte" }, { kind: "scalar", scalar: "string", typing: "string" }],
  ["a time", { type: "string", format: "date-time" }, { kind: "scalar", scalar: "string", typing: "untyped" }],
  ["an integer", { type: "integer" }, { kind: "scalar", scalar: "integer", typing: "numeric" }],
  ["a number", { type: "number" }, { kind: "scalar", scalar: "number", typing: "numeric" }],
  ["a boolean", { type: "boolean" }, { kind: "scalar", scalar: "boolean", typing: "boolean" }],
  ["int-or-string by extension", { "x-kubernetes-int-or-string": true }, {
    kind: "scalar",
    scalar: "int-or-string",
    typing: "untyped",
  }],
  ["int-or-string by format", { type: "string", format: "int-or-string" }, { kind: "scalar", scalar: "int-or-string" }],
  ["a list", { type: "array", items: { type: "string" } }, { kind: "list", listType: "atomic" }],
  ["a set", { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" }, {
    kind: "list",
    listType: "set",
  }],
  [
    "a list map",
    {
      type: "array",
      items: { type: "object" },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["b", "a"],
    },
    { kind: "list", listType: "map", keys: ["b", "a"] },
  ],
  [
    "a list with a strategic merge key",
    {
      type: "array",
      items: { type: "object" },
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-patch-merge-key": "name",
    },
    { kind: "list", listType: "map", keys: ["name"] },
  ],
  ["a list merged without key", { type: "array", items: { type: "string" }, "x-kubernetes-patch-strategy": "merge" }, {
    kind: "list",
    listType: "set",
  }],
  ["a map", { type: "object", additionalProperties: { type: "string" } }, {
    kind: "map",
    atomic: false,
    closed: false,
  }],
  ["an atomic map", { type: "object", additionalProperties: { type: "string" }, "x-kubernetes-map-type": "atomic" }, {
    kind: "map",
    atomic: true,
  }],
  ["a struct", { type: "object", properties: { a: { type: "string" } } }, { kind: "struct", atomic: false }],
  ["an object that declares nothing", { type: "object" }, { kind: "map", closed: true, preserveUnknown: false }],
  ["a free object", { type: "object", "x-kubernetes-preserve-unknown-fields": true }, {
    kind: "map",
    closed: false,
    preserveUnknown: true,
  }],
  ["anything", { "x-kubernetes-preserve-unknown-fields": true }, { kind: "any", preserveUnknown: true }],
  ["nothing said", {}, { kind: "any" }],
  ["nullable", { type: "string", nullable: true, default: "d" }, { nullable: true, default: "d" }],
];
for (const [what, schema, shape] of SHAPES) {
  Deno.test(`compilePart(): ${what}`, () => {
    const node = compilePart(schema) as unknown as Record<string, unknown>;
    assert.deepEqual(Object.fromEntries(Object.keys(shape).map((k) => [k, node[k]])), shape);
  });
}

Deno.test("compileSchema() follows references, also recursive ones and one in an allOf", () => {
  const definitions: Record<string, OpenApiSchema> = {
    Tree: {
      type: "object",
      properties: {
        name: { type: "string" },
        children: { type: "array", items: { $ref: "#/components/schemas/Tree" } },
      },
    },
    "io.k8s.apimachinery.pkg.api.resource.Quantity": { type: "string" },
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": { type: "string" },
  };
  const schema: OpenApiSchema = {
    type: "object",
    properties: {
      tree: { $ref: "#/components/schemas/Tree" },
      other: { allOf: [{ $ref: "#/components/schemas/Tree" }], default: {}, description: "d" },
      cpu: { $ref: "#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity" },
      port: { allOf: [{ $ref: "#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString" }] },
    },
  };
  const tree = child(schema, "tree", definitions);
  const again = childOf(childOf(tree, "children")!.element!, "children")!;
  assert.equal(again.element, childOf(tree, "children")!.element, "one node for each name");
  const other = child(schema, "other", definitions);
  assert.equal(other.kind, "struct");
  assert.deepEqual(other.default, {});
  assert.equal(tree.default, undefined);
  assert.equal(child(schema, "cpu", definitions).scalar, "quantity");
  assert.equal(child(schema, "port", definitions).scalar, "int-or-string");
});

Deno.test("compileSchema() says which reference is missing, when it is used", () => {
  const node = compileSchema({ type: "object", properties: { a: { $ref: "#/components/schemas/Gone" } } });
  assert.throws(() => childOf(node, "a"), /"#\/components\/schemas\/Gone" is not among the definitions/);
});

Deno.test("compileSchema() adds apiVersion, kind and ObjectMeta, also to embedded resources", () => {
  const node = compileSchema({
    type: "object",
    properties: {
      metadata: { type: "object" },
      template: {
        type: "object",
        "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true,
      },
    },
  });
  for (const at of [node, childOf(node, "template")!]) {
    assert.equal(childOf(at, "metadata"), objectMeta());
    assert.equal(childOf(at, "apiVersion")!.scalar, "string");
  }
  assert.deepEqual(childOf(objectMeta(), "finalizers")!.listType, "set");
  assert.deepEqual(childOf(objectMeta(), "ownerReferences")!.keys, ["uid"]);
  assert.equal(childOf(objectMeta(), "ownerReferences")!.element!.atomic, true);
  assert.equal(childOf(objectMeta(), "bogus"), undefined);
});

Deno.test("rule 19: below preserve-unknown everything is deduced, and inline structs there accept unknown fields", () => {
  const node = compilePart({
    type: "object",
    "x-kubernetes-preserve-unknown-fields": true,
    properties: { known: { type: "object", properties: { a: { type: "string" } } } },
  });
  assert.equal(childOf(node, "other"), deducedSchema);
  assert.deepEqual(typingErrors(node, { known: { a: "x", b: 1 }, other: { c: [1] } }), []);
  assert.equal(isNamedField(node, "known"), true);
  assert.equal(isNamedField(node, "other"), false);
});

Deno.test("childOf() does not take inherited names for fields", () => {
  const node = compilePart({ type: "object", properties: { a: { type: "string" } } });
  for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
    assert.equal(childOf(node, name), undefined);
  }
});

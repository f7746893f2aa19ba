/** OpenAPI documents: v2 in one piece, v3 by group version with a hash in the address. @module */
import { type JsonObject, type JsonValue, stringifyJson } from "../json/mod.ts";
import type { OpenApiSchema } from "../ssa/contract.ts";
import { hashOf } from "./discovery.ts";
import type { Registry, ServedKind, ServedVersion } from "./registry.ts";

const REF = "#/components/schemas/";
const META = "io.k8s.apimachinery.pkg.apis.meta.v1.";

interface Document {
  hash: string;
  text: string;
}

/** Makes and keeps the documents; everything is dropped when the kinds change. */
export class OpenApi {
  #v2: Document | undefined;
  #v3 = new Map<string, Document>();

  constructor(private readonly registry: Registry, private readonly version: string) {}

  /** The kinds changed. */
  reset(): void {
    this.#v2 = undefined;
    this.#v3.clear();
  }

  /** `GET /openapi/v3`. */
  index(): JsonObject {
    const paths: JsonObject = {};
    for (const path of this.#groupVersions().keys()) {
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${this.v3(path)!.hash}` };
    }
    return { paths };
  }

  /** `GET /openapi/v3/apis/GROUP/VERSION`; undefined when it is not served. */
  v3(path: string): Document | undefined {
    const known = this.#v3.get(path);
    if (known) return known;
    const kinds = this.#groupVersions().get(path);
    if (!kinds) return undefined;
    const schemas: JsonObject = {};
    const paths: JsonObject = {};
    for (const { kind, version } of kinds) {
      for (const [name, schema] of Object.entries(schemasOf(kind, version))) schemas[name] ??= schema as JsonValue;
      Object.assign(paths, pathsOf(kind, version, "v3"));
    }
    const text = stringifyJson({
      openapi: "3.0.0",
      info: { title: "Kubernetes", version: this.version },
      paths,
      components: { schemas },
    });
    const document = { hash: hashHex(text), text };
    this.#v3.set(path, document);
    return document;
  }

  /** `GET /openapi/v2`. */
  v2(): Document {
    if (this.#v2) return this.#v2;
    const definitions: JsonObject = {};
    const paths: JsonObject = {};
    for (const list of this.#groupVersions().values()) {
      for (const { kind, version } of list) {
        for (const [name, schema] of Object.entries(schemasOf(kind, version))) {
          definitions[name] ??= toV2(schema) as JsonValue;
        }
        Object.assign(paths, pathsOf(kind, version, "v2"));
      }
    }
    const text = stringifyJson({
      swagger: "2.0",
      info: { title: "Kubernetes", version: this.version },
      paths,
      definitions,
    });
    return this.#v2 = { hash: hashHex(text), text };
  }

  #groupVersions(): Map<string, { kind: ServedKind; version: ServedVersion }[]> {
    const map = new Map<string, { kind: ServedKind; version: ServedVersion }[]>();
    for (const kind of this.registry.all()) {
      for (const version of kind.versions.values()) {
        if (!version.def.served) continue;
        const path = kind.def.group === "" ? `api/${version.def.name}` : `apis/${version.apiVersion}`;
        const list = map.get(path) ?? [];
        list.push({ kind, version });
        map.set(path, list);
      }
    }
    return map;
  }
}

function hashHex(text: string): string {
  return [...atob(hashOf(text))].map((c) => c.charCodeAt(0).toString(16).padStart(2, "0")).join("").toUpperCase();
}

function gvk(kind: ServedKind, version: ServedVersion): JsonObject {
  return { group: kind.def.group, kind: kind.def.kind, version: version.def.name };
}

/** Name of a kind's schema: what its definitions call it, or reversed group, version, kind. */
function schemaName(kind: ServedKind, version: ServedVersion): string {
  for (const [name, schema] of Object.entries(kind.def.definitions ?? {})) {
    if (schema === version.def.schema) return name;
  }
  const group = kind.def.group.split(".").reverse().join(".");
  return `${group || "io.k8s.api.core"}.${version.def.name}.${kind.def.kind}`;
}

function schemasOf(kind: ServedKind, version: ServedVersion): Record<string, OpenApiSchema> {
  const { definitions = {}, listKind = `${kind.def.kind}List` } = kind.def;
  const name = schemaName(kind, version);
  const properties: Record<string, OpenApiSchema> = {
    apiVersion: { type: "string", description: "The version of this representation of the object." },
    kind: { type: "string", description: "The kind of the object." },
    ...version.def.schema.properties,
  };
  const metaRef = kind.custom ? { allOf: [{ $ref: `${REF}${META}ObjectMeta` }] } : properties["metadata"];
  if (metaRef) properties["metadata"] = { ...metaRef, description: "Standard object metadata." };
  return {
    ...definitions,
    ...META_SCHEMAS,
    [name]: { ...version.def.schema, properties, "x-kubernetes-group-version-kind": [gvk(kind, version)] },
    [`${name}List`]: {
      type: "object",
      required: ["items"],
      properties: {
        apiVersion: { type: "string" },
        kind: { type: "string" },
        metadata: { allOf: [{ $ref: `${REF}${META}ListMeta` }] },
        items: { type: "array", items: { allOf: [{ $ref: REF + name }] } },
      },
      "x-kubernetes-group-version-kind": [{ ...gvk(kind, version), kind: listKind }],
    },
  };
}

/** The paths of one kind: as much as clients look at (kubectl finds a kind's schema and its patch parameters here). */
function pathsOf(kind: ServedKind, version: ServedVersion, dialect: "v2" | "v3"): JsonObject {
  const base = kind.def.group === "" ? `/api/${version.def.name}` : `/apis/${version.apiVersion}`;
  const scope = kind.def.namespaced ? `${base}/namespaces/{namespace}` : base;
  const name = schemaName(kind, version);
  const ref = { $ref: dialect === "v2" ? `#/definitions/${name}` : REF + name };
  const parameter = (id: string, type: string): JsonObject =>
    dialect === "v2"
      ? { name: id, in: "query", type, uniqueItems: true }
      : { name: id, in: "query", schema: { type, uniqueItems: true } };
  const parameters = ["dryRun", "fieldManager", "fieldValidation"].map((p) => parameter(p, "string"));
  const responses: JsonObject = {
    "200": dialect === "v2"
      ? { description: "OK", schema: ref }
      : { description: "OK", content: { "application/json": { schema: ref } } },
  };
  // kubectl looks here whether it may send a strategic merge patch.
  const patchTypes = [
    "application/json-patch+json",
    "application/merge-patch+json",
    ...(kind.custom ? [] : ["application/strategic-merge-patch+json"]),
    "application/apply-patch+yaml",
  ];
  const patchBody: JsonObject = dialect === "v2"
    ? { consumes: patchTypes }
    : { requestBody: { content: Object.fromEntries(patchTypes.map((t) => [t, { schema: { type: "object" } }])) } };
  const operation = (action: string, extra: JsonValue[] = []): JsonObject => ({
    responses,
    parameters: extra,
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": gvk(kind, version),
  });
  return {
    [`${scope}/${kind.def.plural}`]: {
      get: operation("list"),
      post: operation("post", parameters),
      delete: operation("deletecollection"),
    },
    [`${scope}/${kind.def.plural}/{name}`]: {
      get: operation("get"),
      put: operation("put", parameters),
      patch: { ...operation("patch", [...parameters, parameter("force", "boolean")]), ...patchBody },
      delete: operation("delete", [parameter("dryRun", "string")]),
    },
  };
}

/** OpenAPI v2 has other references and no nullable, anyOf and the like. */
function toV2(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toV2);
  if (typeof schema !== "object" || schema === null) return schema;
  const source = schema as Record<string, unknown>;
  const all = source["allOf"];
  if (Array.isArray(all) && all.length === 1 && typeof all[0]?.$ref === "string") {
    const { allOf: _, default: __, ...rest } = source;
    return { ...toV2(rest) as object, ...toV2(all[0]) as object };
  }
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(source)) {
    if (["nullable", "anyOf", "oneOf", "not", "allOf"].includes(key)) continue;
    if (key === "$ref" && typeof value === "string") out[key] = value.replace(REF, "#/definitions/");
    else if (key === "properties") {
      out[key] = Object.fromEntries(Object.entries(value as object).map(([k, v]) => [k, toV2(v)]));
    } else if (key === "default" || key === "enum" || key === "x-kubernetes-validations") out[key] = value;
    else out[key] = toV2(value);
  }
  // kubectl cannot read a property whose type is missing; a value of any type is an object to it.
  return out;
}

const STRING: OpenApiSchema = { type: "string" };
const STRINGS: OpenApiSchema = { type: "object", additionalProperties: STRING };

/** What all kinds share. */
const META_SCHEMAS: Record<string, OpenApiSchema> = {
  [`${META}ListMeta`]: {
    type: "object",
    properties: {
      continue: STRING,
      remainingItemCount: { type: "integer", format: "int64" },
      resourceVersion: STRING,
      selfLink: STRING,
    },
  },
  [`${META}OwnerReference`]: {
    type: "object",
    required: ["apiVersion", "kind", "name", "uid"],
    "x-kubernetes-map-type": "atomic",
    properties: {
      apiVersion: STRING,
      kind: STRING,
      name: STRING,
      uid: STRING,
      controller: { type: "boolean" },
      blockOwnerDeletion: { type: "boolean" },
    },
  },
  [`${META}ObjectMeta`]: {
    type: "object",
    description: "ObjectMeta is what every stored object has.",
    properties: {
      annotations: { ...STRINGS, description: "Text that tools attach to the object; not used by selectors." },
      creationTimestamp: { type: "string", format: "date-time", description: "When the server made the object." },
      deletionGracePeriodSeconds: { type: "integer", format: "int64" },
      deletionTimestamp: { type: "string", format: "date-time", description: "When its deletion was asked for." },
      finalizers: {
        type: "array",
        items: STRING,
        description: "Who must agree before the object is gone.",
        "x-kubernetes-list-type": "set",
        "x-kubernetes-patch-strategy": "merge",
      },
      generateName: { ...STRING, description: "Prefix of a name that the server makes unique." },
      generation: { type: "integer", format: "int64", description: "Counts changes of the desired state." },
      labels: { ...STRINGS, description: "Keys and values that selectors can use." },
      managedFields: { type: "array", items: { type: "object" }, "x-kubernetes-list-type": "atomic" },
      name: { ...STRING, description: "Unique in its namespace; cannot be changed." },
      namespace: { ...STRING, description: "The space in which the name is unique; cannot be changed." },
      ownerReferences: {
        type: "array",
        items: { allOf: [{ $ref: `${REF}${META}OwnerReference` }] },
        description: "Objects that this one belongs to: it is deleted with the last of them.",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["uid"],
        "x-kubernetes-patch-merge-key": "uid",
        "x-kubernetes-patch-strategy": "merge",
      },
      resourceVersion: { ...STRING, description: "Changes with each write; opaque to clients." },
      selfLink: STRING,
      uid: { ...STRING, description: "Unique in time and space." },
    },
  },
};

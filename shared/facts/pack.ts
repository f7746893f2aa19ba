/**
 * The packed form of the schema facts: short keywords and short schema names, so that the generated file stays small.
 * `pack` is used by the generator, `unpack` by the loader; `unpack(pack(x))` equals `x`.
 *
 * @module
 */
import type { OpenApiSchema } from "../ssa/contract.ts";

/** One built-in kind as discovery tells it. */
export interface PackedKind {
  group: string;
  version: string;
  kind: string;
  plural: string;
  singular: string;
  namespaced: boolean;
  shortNames?: string[];
  categories?: string[];
  /** Has /status. */
  status: boolean;
  /** Has /scale. */
  scale: boolean;
  /** Name of its schema. */
  schema: string;
}

/** All facts; schemas by OpenAPI component name. */
export interface PackedFacts {
  version: string;
  kinds: PackedKind[];
  schemas: Record<string, OpenApiSchema>;
}

const REF = "#/components/schemas/";

/** Keyword to short keyword. */
const SHORT: readonly (readonly [string, string])[] = [
  ["type", "t"],
  ["format", "f"],
  ["properties", "p"],
  ["required", "r"],
  ["items", "i"],
  ["additionalProperties", "a"],
  ["default", "d"],
  ["enum", "e"],
  ["x-kubernetes-list-type", "l"],
  ["x-kubernetes-list-map-keys", "k"],
  ["x-kubernetes-map-type", "m"],
  ["x-kubernetes-patch-strategy", "s"],
  ["x-kubernetes-patch-merge-key", "g"],
];
const TO_SHORT = new Map(SHORT);
const TO_LONG = new Map(SHORT.map(([long, short]) => [short, long]));

/** Prefixes of component names, longest first. */
const PREFIXES: readonly (readonly [string, string])[] = [
  ["io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.", "x:"],
  ["io.k8s.kube-aggregator.pkg.apis.apiregistration.", "g:"],
  ["io.k8s.apimachinery.pkg.apis.meta.", "m:"],
  ["io.k8s.apimachinery.pkg.", "p:"],
  ["io.k8s.api.", "a:"],
];

function shortName(name: string): string {
  for (const [long, short] of PREFIXES) if (name.startsWith(long)) return short + name.slice(long.length);
  return name;
}

function longName(name: string): string {
  for (const [long, short] of PREFIXES) if (name.startsWith(short)) return long + name.slice(short.length);
  return name;
}

/**
 * Walks schemas only where schemas can be: values of `default` and names of properties are left alone. A schema that is
 * nothing but `allOf` of one reference becomes `{"R": name}`, a bare reference the string itself.
 */
function packSchema(schema: OpenApiSchema): unknown {
  const keys = Object.keys(schema);
  if (keys.length === 1 && schema.$ref) return shortName(schema.$ref.slice(REF.length));
  const out: Record<string, unknown> = {};
  for (const key of keys) {
    const value = schema[key];
    if (key === "$ref") out["$ref"] = shortName((value as string).slice(REF.length));
    else if (key === "allOf" && isOneRef(value)) out["R"] = shortName(value[0].$ref.slice(REF.length));
    else out[TO_SHORT.get(key) ?? key] = mapKeyword(key, value, packSchema as (s: OpenApiSchema) => unknown);
  }
  return out;
}

function unpackSchema(packed: unknown): OpenApiSchema {
  if (typeof packed === "string") return { $ref: REF + longName(packed) };
  const out: OpenApiSchema = {};
  for (const [key, value] of Object.entries(packed as Record<string, unknown>)) {
    if (key === "$ref") out.$ref = REF + longName(value as string);
    else if (key === "R") out.allOf = [{ $ref: REF + longName(value as string) }];
    else {
      const long = TO_LONG.get(key) ?? key;
      out[long] = mapKeyword(long, value, unpackSchema as (s: OpenApiSchema) => unknown);
    }
  }
  return out;
}

function isOneRef(value: unknown): value is [{ $ref: string }] {
  return Array.isArray(value) && value.length === 1 && Object.keys(value[0]).length === 1 &&
    typeof value[0].$ref === "string";
}

function mapKeyword(keyword: string, value: unknown, f: (schema: OpenApiSchema) => unknown): unknown {
  switch (keyword) {
    case "properties":
      return Object.fromEntries(
        Object.entries(value as Record<string, OpenApiSchema>).map(([name, schema]) => [name, f(schema)]),
      );
    case "items":
      return f(value as OpenApiSchema);
    case "additionalProperties":
      return typeof value === "boolean" ? value : f(value as OpenApiSchema);
    case "allOf":
    case "anyOf":
    case "oneOf":
      return (value as OpenApiSchema[]).map(f);
    default:
      return value;
  }
}

/** Facts to their packed form (plain JSON). */
export function pack(facts: PackedFacts): unknown {
  return {
    version: facts.version,
    kinds: facts.kinds.map((k) => ({ ...k, schema: shortName(k.schema) })),
    schemas: Object.fromEntries(
      Object.entries(facts.schemas).sort(([a], [b]) => a < b ? -1 : 1).map(([name, s]) => [
        shortName(name),
        packSchema(s),
      ]),
    ),
  };
}

/** The reverse of {@link pack}. */
export function unpack(packed: unknown): PackedFacts {
  const p = packed as { version: string; kinds: PackedKind[]; schemas: Record<string, unknown> };
  return {
    version: p.version,
    kinds: p.kinds.map((k) => ({ ...k, schema: longName(k.schema) })),
    schemas: Object.fromEntries(Object.entries(p.schemas).map(([name, s]) => [longName(name), unpackSchema(s)])),
  };
}

/** Makes kind definitions of the packed facts; parsed once in a process, at first use. @module */
import type { JsonValue } from "../json/mod.ts";
import type { KindDefinition, KindVersion } from "../server/contract.ts";
import type { OpenApiSchema } from "../ssa/contract.ts";
import { columnsOf } from "./columns.ts";
import { FACTS } from "./gen/facts.ts";
import { type PackedKind, unpack } from "./pack.ts";
import { rulesOf, type StatusFacts } from "./strategies.ts";

const REF = "#/components/schemas/";

/** Chooses kinds; true = wanted. */
export type KindFilter = (kind: { group: string; version: string; kind: string; plural: string }) => boolean;

let all: readonly KindDefinition[] | undefined;

/**
 * The built-in kinds of Kubernetes 1.36 that Convoy knows, flavour "builtin". Each call gives the same objects (they
 * must not be changed), so that what is compiled from them is compiled once for all servers of a process.
 */
export function builtinKinds(filter: KindFilter = () => true): KindDefinition[] {
  all ??= load();
  return all.filter((k) => filter({ group: k.group, version: k.versions[0]!.name, kind: k.kind, plural: k.plural }));
}

function load(): KindDefinition[] {
  const { kinds, schemas } = unpack(JSON.parse(FACTS));
  // Free-form objects keep what they hold; the OpenAPI document does not say so.
  for (
    const name of ["io.k8s.apimachinery.pkg.runtime.RawExtension", "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1"]
  ) {
    const schema = schemas[name];
    if (schema) schema["x-kubernetes-preserve-unknown-fields"] = true;
  }
  const closures = new Map<string, Record<string, OpenApiSchema>>();
  return kinds.map((kind) => definitionOf(kind, schemas, closureOf(kind, kinds, schemas, closures)));
}

function definitionOf(
  kind: PackedKind,
  schemas: Record<string, OpenApiSchema>,
  definitions: Record<string, OpenApiSchema>,
): KindDefinition {
  const schema = schemas[kind.schema]!;
  const version: KindVersion = {
    name: kind.version,
    served: true,
    storage: true,
    schema,
    columns: columnsOf(kind.group, kind.kind),
    statusSubresource: kind.status,
    ...(kind.scale ? { scale: scaleOf() } : {}),
  };
  return {
    group: kind.group,
    kind: kind.kind,
    listKind: `${kind.kind}List`,
    plural: kind.plural,
    singular: kind.singular,
    ...(kind.shortNames ? { shortNames: kind.shortNames } : {}),
    ...(kind.categories ? { categories: kind.categories } : {}),
    namespaced: kind.namespaced,
    versions: [version],
    definitions,
    flavour: "builtin",
    ...rulesOf(kind.group, kind.kind, statusFacts(schema, schemas)),
  };
}

function scaleOf(): NonNullable<KindVersion["scale"]> {
  return {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".spec.selector",
  };
}

/** All schemas that the kinds of one group version reach: the components of its OpenAPI document. */
function closureOf(
  kind: PackedKind,
  kinds: PackedKind[],
  schemas: Record<string, OpenApiSchema>,
  closures: Map<string, Record<string, OpenApiSchema>>,
): Record<string, OpenApiSchema> {
  const key = `${kind.group}/${kind.version}`;
  const known = closures.get(key);
  if (known) return known;
  const closure: Record<string, OpenApiSchema> = {};
  const queue = kinds.filter((k) => k.group === kind.group && k.version === kind.version).map((k) => k.schema);
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const schema = schemas[name];
    if (!schema || Object.hasOwn(closure, name)) continue;
    closure[name] = schema;
    collectRefs(schema, queue);
  }
  closures.set(key, closure);
  return closure;
}

function collectRefs(schema: OpenApiSchema, into: string[]): void {
  if (schema.$ref) into.push(schema.$ref.slice(REF.length));
  for (const part of [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) {
    collectRefs(part, into);
  }
  if (schema.items) collectRefs(schema.items, into);
  if (schema.additionalProperties && typeof schema.additionalProperties === "object") {
    collectRefs(schema.additionalProperties, into);
  }
  for (const property of Object.values(schema.properties ?? {})) collectRefs(property, into);
}

/** What is written of a status whether it is set or not. */
function statusFacts(schema: OpenApiSchema, schemas: Record<string, OpenApiSchema>): StatusFacts {
  const refOf = (s: OpenApiSchema | undefined) => (s?.$ref ?? s?.allOf?.[0]?.$ref)?.slice(REF.length);
  const follow = (s: OpenApiSchema | undefined) => {
    const ref = refOf(s);
    return ref ? schemas[ref] : s;
  };
  const status = follow(schema.properties?.["status"]);
  const condition = follow(status?.properties?.["conditions"]?.items);
  const conditionTimes = Object.entries(condition?.properties ?? {}).filter(([name, property]) =>
    refOf(property) === "io.k8s.apimachinery.pkg.apis.meta.v1.Time" && !condition!.required?.includes(name)
  ).map(([name]) => name);
  /** Fields with a default, those of structs inside filled in turn. */
  const zerosOf = (struct: OpenApiSchema | undefined): [string, JsonValue][] =>
    Object.entries(struct?.properties ?? {}).flatMap(([name, property]): [string, JsonValue][] => {
      if (property.default === undefined) return [];
      const nested = refOf(property) ? Object.fromEntries(zerosOf(follow(property))) : {};
      return [[name, Object.keys(nested).length > 0 ? nested : property.default as JsonValue]];
    });
  // The accepted names of a CustomResourceDefinition are written by whoever accepts them.
  const zeros = zerosOf(status).filter(([name]) => name !== "acceptedNames");
  return { conditionTimes, zeros };
}

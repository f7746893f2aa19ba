/** The kinds of recorded sequences as this server serves them. @module */
import { builtinKinds } from "../../shared/facts/mod.ts";
import type { JsonObject } from "../../shared/json/mod.ts";
import type { KindDefinition, KindVersion } from "../../shared/server/mod.ts";
import type { OpenApiSchema } from "../../shared/ssa/contract.ts";
import type { Sequence, Step } from "./types.ts";

/** The kind of a sequence. `schema` is the parsed file that `schemaRef` names. */
export function kindOf(sequence: Sequence, schema: JsonObject): KindDefinition {
  return typeof schema.root === "string" ? builtinKind(sequence, schema) : customKind(sequence, schema);
}

function customKind(sequence: Sequence, schema: JsonObject): KindDefinition {
  const { kind } = sequence;
  const names = sequence.servedVersions ?? [kind.version];
  return {
    group: kind.group,
    kind: kind.kind,
    plural: kind.plural,
    namespaced: true,
    flavour: "custom",
    versions: names.map((name, i): KindVersion => ({
      name,
      served: true,
      storage: i === 0,
      schema: schema as OpenApiSchema,
      statusSubresource: sequence.statusSubresource,
      ...(kind.kind === "Thing"
        ? { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } }
        : {}),
    })),
  };
}

/** Schema from the recording; what no schema tells (defaults, checks, generation) from the facts of built-in kinds. */
function builtinKind(sequence: Sequence, file: JsonObject): KindDefinition {
  const { kind } = sequence;
  const definitions = file.schemas as unknown as Record<string, OpenApiSchema>;
  const [facts] = builtinKinds((k) => k.group === kind.group && k.kind === kind.kind);
  return {
    ...facts,
    group: kind.group,
    kind: kind.kind,
    plural: kind.plural,
    namespaced: true,
    flavour: "builtin",
    definitions,
    versions: [{
      name: kind.version,
      served: true,
      storage: true,
      schema: definitions[String(file.root)]!,
      statusSubresource: sequence.statusSubresource,
      ...(facts?.versions[0]?.scale ? { scale: facts.versions[0].scale } : {}),
    }],
  };
}

/** The kind after a `schema` step. */
export function evolved(kind: KindDefinition, step: Step): KindDefinition {
  const versions: KindVersion[] = [];
  for (const version of kind.versions) {
    const schema = step.versions?.[version.name] ?? step.versions?.["*"];
    if (step.served && !step.served.includes(version.name)) continue;
    versions.push({
      ...version,
      ...(schema ? { schema: schema as OpenApiSchema } : {}),
      served: !(step.unserved ?? []).includes(version.name),
    });
  }
  return { ...kind, versions };
}

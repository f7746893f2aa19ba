/** From a CustomResourceDefinition to the kind it describes. @module */
import { isObject, type JsonObject, type JsonValue } from "../json/mod.ts";
import type { OpenApiSchema } from "../ssa/contract.ts";
import type { KindDefinition, KindVersion, PrinterColumn } from "./contract.ts";

function text(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

function strings(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((v): v is string => typeof v === "string") : [];
}

/** The kind of a CustomResourceDefinition; undefined when it is not one that could be served. */
export function kindFromCrd(crd: JsonObject): KindDefinition | undefined {
  const spec = isObject(crd.spec) ? crd.spec : {};
  const names = isObject(spec.names) ? spec.names : {};
  const group = text(spec.group), kind = text(names.kind), plural = text(names.plural);
  const versions = (Array.isArray(spec.versions) ? spec.versions : []).filter(isObject).map(versionOf);
  if (!group || !kind || !plural || versions.length === 0 || !versions.some((v) => v.storage)) return undefined;
  return {
    group,
    kind,
    listKind: text(names.listKind) || `${kind}List`,
    plural,
    singular: text(names.singular) || kind.toLowerCase(),
    ...(strings(names.shortNames).length ? { shortNames: strings(names.shortNames) } : {}),
    ...(strings(names.categories).length ? { categories: strings(names.categories) } : {}),
    namespaced: spec.scope === "Namespaced",
    flavour: "custom",
    versions,
  };
}

function versionOf(version: JsonObject): KindVersion {
  const schema = isObject(version.schema) && isObject(version.schema.openAPIV3Schema)
    ? version.schema.openAPIV3Schema as OpenApiSchema
    : { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const subresources = isObject(version.subresources) ? version.subresources : {};
  const columns = (Array.isArray(version.additionalPrinterColumns) ? version.additionalPrinterColumns : [])
    .filter(isObject).map(columnOf);
  const selectable = (Array.isArray(version.selectableFields) ? version.selectableFields : [])
    .filter(isObject).map((f) => text(f.jsonPath).replace(/^\./, ""));
  return {
    name: text(version.name),
    served: version.served === true,
    storage: version.storage === true,
    schema,
    ...(columns.length ? { columns } : {}),
    statusSubresource: isObject(subresources.status),
    ...(isObject(subresources.scale)
      ? {
        scale: {
          specReplicasPath: text(subresources.scale.specReplicasPath),
          statusReplicasPath: text(subresources.scale.statusReplicasPath),
          ...(subresources.scale.labelSelectorPath
            ? { labelSelectorPath: text(subresources.scale.labelSelectorPath) }
            : {}),
        },
      }
      : {}),
    ...(selectable.length ? { selectableFields: selectable } : {}),
  };
}

function columnOf(column: JsonObject): PrinterColumn {
  return {
    name: text(column.name),
    type: text(column.type) as PrinterColumn["type"],
    jsonPath: text(column.jsonPath),
    ...(column.description ? { description: text(column.description) } : {}),
    ...(column.format ? { format: text(column.format) } : {}),
    ...(typeof column.priority === "number" ? { priority: column.priority } : {}),
  };
}

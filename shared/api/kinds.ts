/** The registry of Convoy's kinds: from it come the served kinds and the CustomResourceDefinitions. @module */
import * as z from "zod";
import type { OpenApiSchema } from "../ssa/contract.ts";
import type { KindDefinition, PrinterColumn } from "../server/contract.ts";
import { clusterSpec, clusterStatus } from "./cluster.ts";
import { toOpenApi } from "./openapi.ts";
import { releaseInventoryFields } from "./release_inventory.ts";
import { releaseSpec, releaseStatus } from "./release.ts";
import { renderSpec } from "./render.ts";
import { API_VERSION, GROUP, VERSION } from "./resources.ts";
import { gitRepositorySpec, helmRegistrySpec, ociRegistrySpec, sourceStatus } from "./sources.ts";

interface Entry {
  kind: string;
  plural: string;
  shortNames?: string[];
  fields: Record<string, z.ZodType>;
  status: boolean;
  columns: PrinterColumn[];
  /** Paths that field selectors may name. */
  selectable?: string[];
}

const column = (
  name: string,
  jsonPath: string,
  type: PrinterColumn["type"] = "string",
  priority = 0,
): PrinterColumn => ({
  name,
  type,
  jsonPath,
  ...(priority ? { priority } : {}),
});
const conditionStatus = (name: string, type: string) => column(name, `.status.conditions[?(@.type=="${type}")].status`);
const age = column("Age", ".metadata.creationTimestamp", "date");
const sourceColumns = [
  column("URL", ".spec.url"),
  conditionStatus("Ready", "Ready"),
  column("Revision", ".status.artifact.revision"),
  column("Message", `.status.conditions[?(@.type=="Ready")].message`, "string", 1),
  age,
];

const entries: Entry[] = [
  {
    kind: "Release",
    plural: "releases",
    shortNames: ["rel"],
    fields: { spec: releaseSpec, status: releaseStatus.optional() },
    status: true,
    selectable: ["spec.cluster.name"],
    columns: [
      column("Cluster", ".spec.cluster.name"),
      conditionStatus("Applied", "Applied"),
      conditionStatus("InSync", "InSync"),
      conditionStatus("Healthy", "Healthy"),
      conditionStatus("Rollout", "RolloutSucceeded"),
      column("Revision", ".status.source.revision"),
      age,
      column("Message", `.status.conditions[?(@.type=="Applied")].message`, "string", 1),
    ],
  },
  {
    kind: "ReleaseInventory",
    plural: "releaseinventories",
    shortNames: ["relinv"],
    fields: releaseInventoryFields,
    status: false,
    columns: [age],
  },
  {
    kind: "Cluster",
    plural: "clusters",
    fields: { spec: clusterSpec, status: clusterStatus.optional() },
    status: true,
    columns: [
      conditionStatus("Reachable", "Reachable"),
      column("Version", ".status.version"),
      column("Releases", ".status.releases", "integer"),
      age,
      column("Message", `.status.conditions[?(@.type=="Reachable")].message`, "string", 1),
    ],
  },
  {
    kind: "GitRepository",
    plural: "gitrepositories",
    shortNames: ["gitrepo"],
    fields: { spec: gitRepositorySpec, status: sourceStatus.optional() },
    status: true,
    columns: sourceColumns,
  },
  {
    kind: "HelmRegistry",
    plural: "helmregistries",
    shortNames: ["helmreg"],
    fields: { spec: helmRegistrySpec, status: sourceStatus.optional() },
    status: true,
    columns: sourceColumns,
  },
  {
    kind: "OCIRegistry",
    plural: "ociregistries",
    shortNames: ["ocireg"],
    fields: { spec: ociRegistrySpec, status: sourceStatus.optional() },
    status: true,
    columns: sourceColumns,
  },
  {
    kind: "Render",
    plural: "renders",
    fields: { spec: renderSpec },
    status: false,
    columns: [
      column("Release", ".spec.release"),
      column("Revision", ".spec.revision"),
      column("Objects", ".spec.objects", "integer"),
      column("Size", ".spec.size", "integer"),
      age,
    ],
  },
];

function schemaOf(entry: Entry): OpenApiSchema {
  const body = toOpenApi(z.object(entry.fields));
  return {
    type: "object",
    ...(body.required ? { required: body.required } : {}),
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      ...body.properties,
    },
  };
}

let cached: KindDefinition[] | undefined;

/** Convoy's kinds as the API server serves them (flavour `custom`, as if they were CRDs). */
export function kindDefinitions(): KindDefinition[] {
  cached ??= entries.map((entry) => ({
    group: GROUP,
    kind: entry.kind,
    listKind: `${entry.kind}List`,
    plural: entry.plural,
    singular: entry.kind.toLowerCase(),
    ...(entry.shortNames ? { shortNames: entry.shortNames } : {}),
    categories: ["convoy"],
    namespaced: true,
    flavour: "custom" as const,
    versions: [{
      name: VERSION,
      served: true,
      storage: true,
      schema: schemaOf(entry),
      columns: entry.columns,
      statusSubresource: entry.status,
      ...(entry.selectable ? { selectableFields: entry.selectable } : {}),
    }],
  }));
  return cached.map((kind) => ({ ...kind }));
}

/** The same kinds as apiextensions.k8s.io/v1 CustomResourceDefinitions, for a real kube-apiserver. */
export function customResourceDefinitions(): Record<string, unknown>[] {
  return kindDefinitions().map((kind) => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${kind.plural}.${kind.group}` },
    spec: {
      group: kind.group,
      scope: "Namespaced",
      names: {
        kind: kind.kind,
        listKind: kind.listKind,
        plural: kind.plural,
        singular: kind.singular,
        ...(kind.shortNames ? { shortNames: kind.shortNames } : {}),
        categories: kind.categories,
      },
      versions: kind.versions.map((v) => ({
        name: v.name,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: v.schema },
        ...(v.statusSubresource ? { subresources: { status: {} } } : {}),
        ...(v.selectableFields ? { selectableFields: v.selectableFields.map((f) => ({ jsonPath: `.${f}` })) } : {}),
        additionalPrinterColumns: v.columns,
      })),
    },
  }));
}

/** `group/version` of all kinds. */
export const apiVersion = API_VERSION;

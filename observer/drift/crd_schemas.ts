/** Schemas of custom kinds on a target, read when quantities have to be told from plain strings (C20). @module */
import { LRUCache } from "lru-cache";
import { isObject, type JsonValue } from "../../shared/json/mod.ts";
import { type Resource, StatusError, type Unstructured } from "../../shared/kube/mod.ts";
import type { Clock } from "../../shared/runtime/clock.ts";
import type { Target } from "../../shared/target/contract.ts";

const CRDS: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};
const KEEP_MS = 600_000;

/** The schemas of one target. */
export class CrdSchemas {
  readonly #known: LRUCache<string, { schema: JsonValue | undefined }>;

  constructor(readonly target: Target, clock: Clock) {
    this.#known = new LRUCache({ max: 20, ttl: KEEP_MS, perf: { now: () => clock.now() }, ttlResolution: 0 });
  }

  /** The schema of a kind; undefined for kinds that no readable CustomResourceDefinition defines. */
  async get(resource: Resource, signal: AbortSignal): Promise<JsonValue | undefined> {
    if (!resource.group.includes(".")) return undefined;
    const name = `${resource.plural}.${resource.group}`;
    const id = `${name}/${resource.version}`;
    const known = this.#known.get(id);
    if (known) return known.schema;
    let schema: JsonValue | undefined;
    try {
      const crd = await this.target.client.get<Unstructured>(CRDS, { name }, { signal });
      schema = schemaOf(crd, resource.version);
    } catch (error) {
      if (!(error instanceof StatusError) || error.code >= 500) throw error;
    }
    this.#known.set(id, { schema });
    return schema;
  }
}

function schemaOf(crd: Unstructured, version: string): JsonValue | undefined {
  const versions = isObject(crd.spec) && Array.isArray(crd.spec.versions) ? crd.spec.versions : [];
  const found = versions.find((v) => isObject(v) && v.name === version);
  return isObject(found) && isObject(found.schema) ? found.schema.openAPIV3Schema : undefined;
}

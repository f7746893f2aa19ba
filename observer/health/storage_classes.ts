/** StorageClasses of a target, looked up when a claim waits and kept for a while (C22). @module */
import { LRUCache } from "lru-cache";
import type { StorageClassInfo } from "../../shared/health/mod.ts";
import { hasReason, type Resource, type Unstructured } from "../../shared/kube/mod.ts";
import type { Clock } from "../../shared/runtime/clock.ts";
import type { Target } from "../../shared/target/contract.ts";

const RESOURCE: Resource = {
  group: "storage.k8s.io",
  version: "v1",
  plural: "storageclasses",
  kind: "StorageClass",
  namespaced: false,
};
const IS_DEFAULT = "storageclass.kubernetes.io/is-default-class";
/** A class is kept for so long, and that there is none for less, ms. */
const KEEP_MS = 600_000, KEEP_NONE_MS = 30_000;

/** What is known of the classes of one target. */
export class StorageClasses {
  readonly #known: LRUCache<string, { info: StorageClassInfo | undefined }>;

  constructor(readonly target: Target, clock: Clock) {
    this.#known = new LRUCache({ max: 200, perf: { now: () => clock.now() }, ttlResolution: 0 });
  }

  /** A class by name, or the default class; undefined when there is none or it was not {@link load}ed. */
  get(name: string | undefined): StorageClassInfo | undefined {
    return this.#known.get(idOf(name))?.info;
  }

  /** Looks the class up unless it is known. A class that may not be read counts as none. */
  async load(name: string | undefined, signal: AbortSignal): Promise<void> {
    if (this.#known.has(idOf(name))) return;
    const info = await this.#read(name, signal).catch((error) => {
      if (hasReason(error, "NotFound") || hasReason(error, "Forbidden")) return undefined;
      throw error;
    });
    this.#known.set(idOf(name), { info }, { ttl: info ? KEEP_MS : KEEP_NONE_MS });
  }

  async #read(name: string | undefined, signal: AbortSignal): Promise<StorageClassInfo | undefined> {
    const { client } = this.target;
    if (name !== undefined) return infoOf(await client.get<Unstructured>(RESOURCE, { name }, { signal }));
    const all = await client.list<Unstructured>(RESOURCE, { signal });
    // Of several defaults the server takes the newest.
    const defaults = all.items.filter((c) => c.metadata.annotations?.[IS_DEFAULT] === "true")
      .sort((a, b) => (a.metadata.creationTimestamp ?? "") < (b.metadata.creationTimestamp ?? "") ? 1 : -1);
    return defaults[0] && infoOf(defaults[0]);
  }
}

// "=" begins no name: the default class has a place of its own.
const idOf = (name: string | undefined) => name === undefined ? "=" : name;

function infoOf(object: Unstructured): StorageClassInfo {
  const mode = object.volumeBindingMode;
  return { volumeBindingMode: typeof mode === "string" ? mode : "Immediate" };
}

/** Deletion of namespaces: everything in them goes first. @module */
import { isObject, type JsonObject, parseJson } from "../json/mod.ts";
import { deleteObject } from "./delete.ts";
import { StatusError } from "./errors.ts";
import type { GcHost } from "./gc.ts";
import type { KeyQueue } from "./key_queue.ts";
import { editStored } from "./store_edit.ts";
import { metaText } from "./stored.ts";

const PREFIX = "/core/namespaces/";
/** The hold that this worker has on a namespace, in `spec.finalizers`. */
const HOLD = "kubernetes";
const PAGE = 200;

/** Works off namespaces that are being deleted. */
export class NamespaceWorker {
  /** Names of namespaces that are being deleted. */
  #leaving = new Set<string>();

  constructor(private readonly host: GcHost, private readonly queue: KeyQueue) {}

  /** An object that is being deleted was seen. */
  deleting(key: string, object: JsonObject): void {
    if (!key.startsWith(PREFIX)) return;
    const name = metaText(object, "name");
    if (this.#leaving.has(name)) return;
    this.#leaving.add(name);
    this.#work(name);
  }

  /** An object is gone: perhaps the last one that a namespace waited for. */
  absent(key: string): void {
    if (this.#leaving.size === 0) return;
    if (key.startsWith(PREFIX)) this.#leaving.delete(key.slice(PREFIX.length));
    else {
      const [, , , namespace] = key.split("/", 5);
      if (namespace !== undefined && this.#leaving.has(namespace)) this.#work(namespace);
    }
  }

  #work(name: string): void {
    this.queue.add(`namespace ${name}`, () => this.#empty(name));
  }

  async #empty(name: string): Promise<void> {
    let left = 0;
    for (const kind of this.host.registry.all()) {
      if (!kind.def.namespaced) continue;
      const served = { kind, version: kind.storage };
      let after: string | undefined;
      do {
        const page = await this.host.storage.list(`${kind.prefix}${name}/`, {
          limit: PAGE,
          ...(after === undefined ? {} : { after }),
        });
        after = page.more ? page.items.at(-1)!.key : undefined;
        for (const item of page.items) {
          const object = parseJson(item.value) as JsonObject;
          if (isObject(object.metadata) && object.metadata.deletionTimestamp !== undefined) {
            left++;
            continue;
          }
          try {
            const { gone } = await deleteObject(this.host, served, name, metaText(object, "name"), {
              dryRun: false,
              propagationPolicy: "Background",
              uid: metaText(object, "uid"),
            });
            if (!gone) left++;
          } catch (error) {
            if (!(error instanceof StatusError) || (error.code !== 404 && error.code !== 409)) throw error;
            if (error.code === 409) left++;
          }
        }
      } while (after !== undefined);
    }
    if (left > 0) return;
    await editStored(this.host.storage, PREFIX + name, (object) => {
      const spec = isObject(object.spec) ? object.spec : {};
      const finalizers = Array.isArray(spec.finalizers) ? spec.finalizers.filter((f) => f !== HOLD) : [];
      if (finalizers.length) spec.finalizers = finalizers;
      else delete spec.finalizers;
      object.spec = spec;
    });
  }
}

/** Small changes that the server makes to stored objects by itself. @module */
import { type JsonObject, parseJson } from "../json/mod.ts";
import { type Storage, StorageConflict } from "./storage/contract.ts";
import { metaOf, toStored } from "./stored.ts";
import { isGone } from "./write.ts";

/**
 * Lets `change` alter the stored object at `key`, with compare-and-swap; deletes it when nothing holds its deletion any
 * more. `change` returns false to leave it alone.
 */
export async function editStored(
  storage: Storage,
  key: string,
  change: (object: JsonObject) => boolean | void,
): Promise<void> {
  for (;;) {
    const stored = await storage.get(key);
    if (!stored) return;
    const object = parseJson(stored.value) as JsonObject;
    if (change(object) === false) return;
    const text = toStored(object);
    try {
      if (isGone(object)) await storage.delete(key, stored.revision);
      else if (text !== stored.value) await storage.update(key, text, stored.revision);
      return;
    } catch (error) {
      if (!(error instanceof StorageConflict)) throw error;
    }
  }
}

/** Removes one finalizer. */
export function dropFinalizer(object: JsonObject, finalizer: string): boolean {
  const meta = metaOf(object);
  const list = Array.isArray(meta.finalizers) ? meta.finalizers : [];
  if (!list.includes(finalizer)) return false;
  const rest = list.filter((f) => f !== finalizer);
  if (rest.length) meta.finalizers = rest;
  else delete meta.finalizers;
  return true;
}

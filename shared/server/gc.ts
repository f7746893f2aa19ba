/**
 * Garbage collection by owner references, by an index from owner uid to dependents: an object whose owners are all gone
 * is deleted; an owner deleted with foreground or orphan propagation waits for its dependents.
 *
 * @module
 */
import { isObject, type JsonObject, type JsonValue, parseJson } from "../json/mod.ts";
import { deleteObject, FOREGROUND, ORPHAN } from "./delete.ts";
import { StatusError } from "./errors.ts";
import type { KeyQueue } from "./key_queue.ts";
import { keyOf, type Registry, type Served, type ServedKind } from "./registry.ts";
import { dropFinalizer, editStored } from "./store_edit.ts";
import { metaOf, metaText } from "./stored.ts";
import type { WriteHost } from "./write.ts";

/** What garbage collection needs of the server. */
export interface GcHost extends WriteHost {
  registry: Registry;
}

interface Owner {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  blocks: boolean;
}

type OwnerState = "there" | "waits" | "gone" | "unknown";

/** The collector of one server. */
export class GarbageCollector {
  /** Owner uid → keys of its dependents. */
  #dependents = new Map<string, Set<string>>();
  /** Key of a dependent → its owners. */
  #owners = new Map<string, Owner[]>();
  /** Uid of an owner that waits for its dependents → its key. */
  #waiting = new Map<string, string>();

  constructor(private readonly host: GcHost, private readonly queue: KeyQueue) {}

  /** Forgets everything. */
  clear(): void {
    this.#dependents.clear();
    this.#owners.clear();
    this.#waiting.clear();
  }

  /** An object is there that has owners or is being deleted. `check`: whether its owners must be looked at. */
  present(key: string, object: JsonObject, check: boolean): void {
    const owners = ownersOf(object);
    this.#index(key, owners);
    const meta = metaOf(object);
    if (owners.length > 0 && check) this.queue.add(`gc ${key}`, () => this.#check(key));
    const finalizers = Array.isArray(meta.finalizers) ? meta.finalizers : [];
    if (meta.deletionTimestamp === undefined) return;
    if (finalizers.includes(FOREGROUND)) {
      const uid = metaText(object, "uid");
      const first = !this.#waiting.has(uid);
      this.#waiting.set(uid, key);
      if (first) { for (const d of this.#dependents.get(uid) ?? []) this.queue.add(`gc ${d}`, () => this.#check(d)); }
      this.queue.add(`foreground ${key}`, () => this.#foreground(key));
    }
    if (finalizers.includes(ORPHAN)) this.queue.add(`orphan ${key}`, () => this.#orphan(key));
  }

  /** An object has no owners. */
  forget(key: string): void {
    if (this.#owners.has(key)) this.#index(key, []);
  }

  /** An object is gone. */
  absent(key: string, text: string): void {
    const owners = this.#owners.get(key) ?? [];
    this.#index(key, []);
    for (const owner of owners) this.#wake(owner.uid);
    if (this.#dependents.size === 0 && this.#waiting.size === 0) return;
    const uid = metaText(parseJson(text) as JsonObject, "uid");
    this.#waiting.delete(uid);
    for (const d of this.#dependents.get(uid) ?? []) this.queue.add(`gc ${d}`, () => this.#check(d));
  }

  /** Number of dependents in the index. */
  get size(): number {
    return this.#owners.size;
  }

  #wake(ownerUid: string): void {
    const key = this.#waiting.get(ownerUid);
    if (key) this.queue.add(`foreground ${key}`, () => this.#foreground(key));
  }

  #index(key: string, owners: Owner[]): void {
    for (const { uid } of this.#owners.get(key) ?? []) {
      const set = this.#dependents.get(uid);
      set?.delete(key);
      if (set?.size === 0) this.#dependents.delete(uid);
      if (!owners.some((o) => o.uid === uid)) this.#wake(uid);
    }
    if (owners.length === 0) this.#owners.delete(key);
    else this.#owners.set(key, owners);
    for (const { uid } of owners) {
      const set = this.#dependents.get(uid) ?? new Set();
      this.#dependents.set(uid, set);
      set.add(key);
    }
  }

  /** Deletes an object whose owners are all gone; else drops the references to those that are. */
  async #check(key: string): Promise<void> {
    const served = servedAt(this.host.registry, key);
    const stored = await this.host.storage.get(key);
    if (!served || !stored) return;
    const object = parseJson(stored.value) as JsonObject;
    if (metaOf(object).deletionTimestamp !== undefined) return;
    const owners = ownersOf(object);
    const states = await Promise.all(owners.map((o) => this.#stateOf(o, metaText(object, "namespace"))));
    if (states.length === 0 || states.includes("unknown")) return;
    const leaving = owners.filter((_, i) => states[i] !== "there");
    if (leaving.length === 0) return;
    if (states.includes("there")) {
      const uids = new Set(leaving.map((o) => o.uid));
      await editStored(this.host.storage, key, (o) => dropOwners(o, uids));
      return;
    }
    const uid = metaText(object, "uid");
    const finalizers = metaOf(object).finalizers;
    const orphan = Array.isArray(finalizers) && finalizers.includes(ORPHAN);
    const foreground = states.includes("waits") && (this.#dependents.get(uid)?.size ?? 0) > 0;
    await this.#delete(served, object, orphan ? "Orphan" : foreground ? "Foreground" : "Background");
  }

  async #delete(served: Served, object: JsonObject, propagationPolicy: string): Promise<void> {
    try {
      await deleteObject(this.host, served, metaText(object, "namespace"), metaText(object, "name"), {
        dryRun: false,
        propagationPolicy,
        uid: metaText(object, "uid"),
      });
    } catch (error) {
      if (!(error instanceof StatusError) || (error.code !== 404 && error.code !== 409)) throw error;
    }
  }

  async #stateOf(owner: Owner, namespace: string): Promise<OwnerState> {
    const kind = this.host.registry.byKind(owner.apiVersion, owner.kind);
    // A kind that is not served here may be served elsewhere: its objects are not ours to judge.
    if (!kind || (kind.def.namespaced && namespace === "")) return "unknown";
    const stored = await this.host.storage.get(keyOf(kind, namespace, owner.name));
    if (!stored) return "gone";
    const object = parseJson(stored.value) as JsonObject;
    if (metaText(object, "uid") !== owner.uid) return "gone";
    const { deletionTimestamp, finalizers } = metaOf(object);
    const waits = deletionTimestamp !== undefined && Array.isArray(finalizers) && finalizers.includes(FOREGROUND);
    return waits ? "waits" : "there";
  }

  /** Lets an owner go whose blocking dependents are gone. */
  async #foreground(key: string): Promise<void> {
    const stored = await this.host.storage.get(key);
    if (!stored) return;
    const uid = metaText(parseJson(stored.value) as JsonObject, "uid");
    for (const d of this.#dependents.get(uid) ?? []) {
      if (this.#owners.get(d)?.some((o) => o.uid === uid && o.blocks)) return;
    }
    this.#waiting.delete(uid);
    await editStored(this.host.storage, key, (o) => dropFinalizer(o, FOREGROUND));
  }

  /** Cuts the dependents of an owner loose, then lets it go. */
  async #orphan(key: string): Promise<void> {
    const stored = await this.host.storage.get(key);
    if (!stored) return;
    const uid = metaText(parseJson(stored.value) as JsonObject, "uid");
    for (const d of [...this.#dependents.get(uid) ?? []]) {
      await editStored(this.host.storage, d, (o) => dropOwners(o, new Set([uid])));
    }
    await editStored(this.host.storage, key, (o) => dropFinalizer(o, ORPHAN));
  }
}

function ownersOf(object: JsonObject): Owner[] {
  const list = metaOf(object).ownerReferences;
  const text = (v: JsonValue | undefined) => typeof v === "string" ? v : "";
  return (Array.isArray(list) ? list : []).filter(isObject).map((o) => ({
    apiVersion: text(o.apiVersion),
    kind: text(o.kind),
    name: text(o.name),
    uid: text(o.uid),
    blocks: o.blockOwnerDeletion === true,
  }));
}

function dropOwners(object: JsonObject, uids: ReadonlySet<string>): boolean {
  const meta = metaOf(object);
  const list = Array.isArray(meta.ownerReferences) ? meta.ownerReferences : [];
  const rest = list.filter((o) => !isObject(o) || !uids.has(String(o.uid)));
  if (rest.length === list.length) return false;
  if (rest.length) meta.ownerReferences = rest;
  else delete meta.ownerReferences;
  return true;
}

/** The kind of a storage key, at its storage version. */
export function servedAt(registry: Registry, key: string): Served | undefined {
  const kind = kindAt(registry, key);
  return kind && { kind, version: kind.storage };
}

function kindAt(registry: Registry, key: string): ServedKind | undefined {
  const [, group = "", plural = ""] = key.split("/", 3);
  return registry.kind(group === "core" ? "" : group, plural);
}

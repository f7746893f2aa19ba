/** CustomResourceDefinitions: their kinds are served as soon as they are stored, and go with their objects. @module */
import { equalJson, isObject, type JsonObject, parseJson } from "../json/mod.ts";
import { rfc3339 } from "../runtime/clock.ts";
import { kindFromCrd } from "./crd_kind.ts";
import { CRD_CLEANUP, deleteObject } from "./delete.ts";
import { StatusError } from "./errors.ts";
import type { GcHost } from "./gc.ts";
import type { KeyQueue } from "./key_queue.ts";
import { dropFinalizer, editStored } from "./store_edit.ts";
import { metaOf, metaText } from "./stored.ts";

const PREFIX = "/apiextensions.k8s.io/customresourcedefinitions/";
const PAGE = 200;

/** Keeps the registry equal to the stored definitions. */
export class CrdWorker {
  /** Storage prefix of the objects of a definition that is being deleted → the definition's key. */
  #leaving = new Map<string, string>();
  /** Specs as they are registered, so that status writes change nothing. */
  #specs = new Map<string, JsonObject>();

  constructor(
    private readonly host: GcHost,
    private readonly queue: KeyQueue,
    private readonly kindsChanged: () => void,
  ) {}

  /** Whether a storage key is that of a definition. */
  isCrd(key: string): boolean {
    return key.startsWith(PREFIX);
  }

  /** A definition was stored: serves its kind at once, then tells so in its status. */
  present(key: string, crd: JsonObject): void {
    const spec = isObject(crd.spec) ? crd.spec : {};
    if (!equalJson(this.#specs.get(key), spec)) {
      const accepted = this.#accepted(key, spec);
      this.#specs.set(key, spec);
      if (accepted) {
        this.host.registry.setExtra(key, kindFromCrd(crd));
        this.kindsChanged();
      }
    }
    this.queue.add(`crd ${key}`, () => this.#writeStatus(key));
  }

  /** Whether no other definition of the group has the same kind. */
  #accepted(key: string, spec: JsonObject): boolean {
    const kindOf = (s: JsonObject) => isObject(s.names) ? s.names.kind : undefined;
    for (const [other, otherSpec] of this.#specs) {
      if (other !== key && otherSpec.group === spec.group && kindOf(otherSpec) === kindOf(spec)) return false;
    }
    return true;
  }

  /** A definition is gone. */
  absent(key: string): void {
    this.#specs.delete(key);
    for (const [prefix, k] of this.#leaving) if (k === key) this.#leaving.delete(prefix);
    this.host.registry.setExtra(key, undefined);
    this.kindsChanged();
  }

  /** A definition is being deleted: its objects go first. */
  deleting(key: string, crd: JsonObject): void {
    const finalizers = metaOf(crd).finalizers;
    const kind = kindFromCrd(crd);
    if (!kind || !Array.isArray(finalizers) || !finalizers.includes(CRD_CLEANUP)) return;
    const prefix = `/${kind.group}/${kind.plural}/`;
    if (this.#leaving.has(prefix)) return;
    this.#leaving.set(prefix, key);
    this.queue.add(`crd-cleanup ${key}`, () => this.#empty(key, prefix));
  }

  /** An object is gone: perhaps the last one of a definition that is being deleted. */
  objectGone(key: string): void {
    if (this.#leaving.size === 0) return;
    const prefix = key.split("/", 3).join("/") + "/";
    const crd = this.#leaving.get(prefix);
    if (crd) this.queue.add(`crd-cleanup ${crd}`, () => this.#empty(crd, prefix));
  }

  async #empty(key: string, prefix: string): Promise<void> {
    const [, group = "", plural = ""] = prefix.split("/");
    const kind = this.host.registry.kind(group, plural);
    let left = 0, after: string | undefined;
    do {
      const page = await this.host.storage.list(prefix, { limit: PAGE, ...(after === undefined ? {} : { after }) });
      after = page.more ? page.items.at(-1)!.key : undefined;
      for (const item of page.items) {
        const object = parseJson(item.value) as JsonObject;
        if (!kind || metaOf(object).deletionTimestamp !== undefined) {
          left++;
          continue;
        }
        try {
          const served = { kind, version: kind.storage };
          const { gone } = await deleteObject(
            this.host,
            served,
            metaText(object, "namespace"),
            metaText(object, "name"),
            { dryRun: false, propagationPolicy: "Background" },
          );
          if (!gone) left++;
        } catch (error) {
          if (!(error instanceof StatusError) || error.code !== 404) throw error;
        }
      }
    } while (after !== undefined);
    if (left === 0) await editStored(this.host.storage, key, (o) => dropFinalizer(o, CRD_CLEANUP));
  }

  async #writeStatus(key: string): Promise<void> {
    const now = rfc3339(this.host.clock.now());
    await editStored(this.host.storage, key, (crd) => {
      if (metaOf(crd).deletionTimestamp !== undefined) return false;
      const spec = isObject(crd.spec) ? crd.spec : {};
      const status: JsonObject = isObject(crd.status) ? crd.status : {};
      const accepted = this.#accepted(key, spec);
      const conditions = Array.isArray(status.conditions) ? status.conditions.filter(isObject) : [];
      const set = (type: string, ok: boolean, reason: string, message: string) => {
        const value = ok ? "True" : "False";
        const had = conditions.find((c) => c.type === type);
        if (had?.status === value && had.reason === reason) return;
        if (had) conditions.splice(conditions.indexOf(had), 1);
        conditions.push({ type, status: value, reason, message, lastTransitionTime: now });
      };
      if (accepted) {
        set("NamesAccepted", true, "NoConflicts", "no conflicts found");
        set("Established", true, "InitialNamesAccepted", "the initial names have been accepted");
      } else {
        const kind = isObject(spec.names) ? String(spec.names.kind) : "";
        set("NamesAccepted", false, "KindConflict", `"${kind}" is already in use`);
        set("Established", false, "NotAccepted", "not all names are accepted");
      }
      const versions = Array.isArray(spec.versions) ? spec.versions.filter(isObject) : [];
      const storing = versions.find((v) => v.storage === true)?.name;
      const stored = new Set(Array.isArray(status.storedVersions) ? status.storedVersions : []);
      if (storing !== undefined) stored.add(storing);
      const next: JsonObject = {
        conditions,
        acceptedNames: accepted ? spec.names ?? {} : status.acceptedNames ?? { kind: "", plural: "" },
        storedVersions: [...stored],
      };
      if (equalJson(next, crd.status)) return false;
      crd.status = next;
    });
  }
}

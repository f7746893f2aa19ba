/** The kinds a server serves, compiled and indexed. @module */
import { compileSchema, type KindInfo, type SchemaNode } from "../ssa/mod.ts";
import { builtinFields } from "./builtin_fields.ts";
import type { KindDefinition, KindVersion } from "./contract.ts";
import type { GroupResource } from "./errors.ts";

/** One version of a served kind. */
export interface ServedVersion {
  readonly def: KindVersion;
  readonly apiVersion: string;
  readonly node: SchemaNode;
  /** What field selectors may name besides metadata.name and metadata.namespace. */
  readonly selectable: readonly string[];
}

/** A served kind. */
export interface ServedKind {
  readonly def: KindDefinition;
  readonly gr: GroupResource;
  readonly versions: ReadonlyMap<string, ServedVersion>;
  readonly storage: ServedVersion;
  /** What the Server-Side Apply library needs. */
  readonly info: KindInfo;
  /** `/group/plural/`: where its objects are stored. */
  readonly prefix: string;
  readonly custom: boolean;
  /** The schema was replaced while objects of the old one may be stored: reads then prune and default again. */
  readonly changed: boolean;
}

/** A kind that was found, with the version asked for. */
export interface Served {
  kind: ServedKind;
  version: ServedVersion;
}

const compiled = new WeakMap<KindDefinition, ServedKind>();

function compileKind(def: KindDefinition): ServedKind {
  const known = compiled.get(def);
  if (known) return known;
  const custom = def.flavour === "custom";
  const versions = new Map<string, ServedVersion>();
  const schemas = new Map<string, SchemaNode>();
  for (const version of def.versions) {
    const apiVersion = def.group === "" ? version.name : `${def.group}/${version.name}`;
    const node = compileSchema(version.schema, def.definitions);
    const selectable = version.selectableFields ?? (custom ? [] : builtinFields(def.group, def.kind));
    versions.set(version.name, { def: version, apiVersion, node, selectable });
    schemas.set(apiVersion, node);
  }
  const storage = [...versions.values()].find((v) => v.def.storage) ?? versions.values().next().value;
  if (!storage) throw new Error(`Cannot serve kind ${def.kind}: it has no version`);
  const served: ServedKind = {
    def,
    gr: { group: def.group, resource: def.plural },
    versions,
    storage,
    info: { schemas, flavour: def.flavour, statusSubresource: storage.def.statusSubresource ?? false },
    prefix: `/${def.group || "core"}/${def.plural}/`,
    custom,
    changed: false,
  };
  compiled.set(def, served);
  return served;
}

/** Indexes kinds by group and plural. Later sources win over earlier ones. */
export class Registry {
  #byPlural = new Map<string, ServedKind>();
  #base: KindDefinition[] = [];
  #extra = new Map<string, KindDefinition>();

  /** Replaces the kinds given by the program. */
  setBase(kinds: KindDefinition[]): void {
    this.#base = kinds;
    this.#rebuild();
  }

  /** Adds, replaces or (undefined) removes a kind that a CustomResourceDefinition describes. */
  setExtra(name: string, kind: KindDefinition | undefined): void {
    if (kind) this.#extra.set(name, kind);
    else this.#extra.delete(name);
    this.#rebuild();
  }

  #rebuild(): void {
    const before = this.#byPlural;
    const now = new Map<string, ServedKind>();
    for (const def of [...this.#base, ...this.#extra.values()]) {
      const key = `${def.group}/${def.plural}`;
      const was = before.get(key);
      const kind = compileKind(def);
      now.set(key, was && (was.def !== def || was.changed) ? { ...kind, changed: kind.custom } : kind);
    }
    this.#byPlural = now;
  }

  /** The kind at group and plural, whatever its versions. */
  kind(group: string, plural: string): ServedKind | undefined {
    return this.#byPlural.get(`${group}/${plural}`);
  }

  /** The kind at group, version and plural when that version is served. */
  find(group: string, version: string, plural: string): Served | undefined {
    const kind = this.kind(group, plural);
    const v = kind?.versions.get(version);
    return kind && v?.def.served ? { kind, version: v } : undefined;
  }

  /** The kind of an apiVersion and kind name, as an owner reference names it. */
  byKind(apiVersion: string, kindName: string): ServedKind | undefined {
    const slash = apiVersion.indexOf("/");
    const group = slash < 0 ? "" : apiVersion.slice(0, slash);
    for (const kind of this.#byPlural.values()) {
      if (kind.def.group === group && kind.def.kind === kindName) return kind;
    }
    return undefined;
  }

  /** All kinds, in the order they were given. */
  all(): ServedKind[] {
    return [...this.#byPlural.values()];
  }
}

/** Storage key of one object. */
export function keyOf(kind: ServedKind, namespace: string, name: string): string {
  return kind.def.namespaced ? `${kind.prefix}${namespace}/${name}` : kind.prefix + name;
}

/** What the health loop remembers of a Release; all of it may be lost at any time. @module */
import type { CompiledHealthRules, HealthRule } from "../../shared/health/mod.ts";
import { isOlder, type Unstructured } from "../../shared/kube/mod.ts";
import { Poll } from "../live/mod.ts";

/** Memory of one entry. */
export interface EntryMemory {
  /** The render for which a consistent list was made after it was applied. */
  confirmed?: string;
  /** From such a list or a read: newer than the watch's cache until that has caught up. */
  fresh?: Unstructured;
  /** When a read by name showed that it is not on the cluster, ms: the cache knows only objects that bear the mark. */
  absentAt?: number;
  /** Generation at which it was last seen Healthy. */
  healthyGeneration?: number;
}

/** Memory of one Release. */
export class Memory {
  readonly entries = new Map<string, EntryMemory>();
  /** Live objects of hooks by {@link ../../shared/inventory/mod.ts hookId}; undefined = it was there and is gone. */
  readonly hooks = new Map<string, Unstructured | undefined>();
  readonly poll = new Poll();
  /** When something was last written, ms. */
  writtenAt = -Infinity;
  #rules: { source: readonly HealthRule[] | undefined; compiled: CompiledHealthRules } | undefined;

  /** The memory of one entry, made when it is needed. */
  entry(id: string): EntryMemory {
    let entry = this.entries.get(id);
    if (!entry) this.entries.set(id, entry = {});
    return entry;
  }

  /** Drops entries that are no members any more. */
  keep(ids: ReadonlySet<string>): void {
    for (const id of this.entries.keys()) if (!ids.has(id)) this.entries.delete(id);
  }

  /** The compiled rules; compiled anew when the spec's list is another one. */
  rules(source: readonly HealthRule[] | undefined, compile: (s: readonly HealthRule[]) => CompiledHealthRules) {
    if (!this.#rules || this.#rules.source !== source) this.#rules = { source, compiled: compile(source ?? []) };
    return this.#rules.compiled;
  }
}

/** The newer of the cached object and one that was read; drops the latter when the cache has caught up. */
export function newest(entry: EntryMemory, cached: Unstructured | undefined): Unstructured | undefined {
  const { fresh } = entry;
  if (!fresh) return cached;
  if (cached && !isOlder(cached.metadata.resourceVersion ?? "", fresh.metadata.resourceVersion ?? "")) {
    delete entry.fresh;
    return cached;
  }
  return fresh;
}

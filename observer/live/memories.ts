/** What a loop remembers of each Release; all of it may be lost at any time. @module */
import type { Release } from "../../shared/api/mod.ts";

/** Memories by key, renewed when another Release has the name or it moved to another cluster. */
export class Memories<M> {
  readonly #byKey = new Map<string, { identity: string; memory: M }>();

  constructor(readonly make: () => M) {}

  /** The memory of that Release. */
  get(key: string, release: Release): M {
    const identity = `${release.metadata.uid} ${release.spec.cluster.name}`;
    let found = this.#byKey.get(key);
    if (found?.identity !== identity) this.#byKey.set(key, found = { identity, memory: this.make() });
    return found.memory;
  }

  /** The memory, when there is one. */
  peek(key: string): M | undefined {
    return this.#byKey.get(key)?.memory;
  }

  /** Forgets a Release. */
  delete(key: string): void {
    this.#byKey.delete(key);
  }

  /** Number of Releases remembered. */
  get size(): number {
    return this.#byKey.size;
  }
}

/** What a loop remembers of each Release; all of it may be lost at any time. @module */

/** Memories by key, renewed when another Release has the name. */
export class Memories<M> {
  readonly #byKey = new Map<string, { uid: string; memory: M }>();

  constructor(readonly make: () => M) {}

  /** The memory of that Release. */
  get(key: string, uid: string): M {
    let found = this.#byKey.get(key);
    if (found?.uid !== uid) this.#byKey.set(key, found = { uid, memory: this.make() });
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

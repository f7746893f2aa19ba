/** One at a time per key. @module */

/** Runs functions of the same key one after another; other keys are not held up. */
export class KeyLock {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Number of keys in use. */
  get size(): number {
    return this.#tails.size;
  }

  /** Runs `f` when all earlier ones of that key have ended. */
  async run<T>(key: string, f: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const mine = before.then(f, f);
    const tail = mine.catch(() => {});
    this.#tails.set(key, tail);
    try {
      return await mine;
    } finally {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    }
  }
}

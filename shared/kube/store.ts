/** The cache of an informer: objects by key, with indexes. @module */
import { keyOf, type KubeObject } from "./types.ts";

interface Index<T> {
  valuesOf: (object: T) => string[];
  /** Value → keys. */
  keys: Map<string, Set<string>>;
}

/** Objects by `namespace/name`. */
export class Store<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, Index<T>>();

  get size(): number {
    return this.#objects.size;
  }
  get(key: string): T | undefined {
    return this.#objects.get(key);
  }
  list(): Iterable<T> {
    return this.#objects.values();
  }
  keys(): Iterable<string> {
    return this.#objects.keys();
  }

  /** Adds an index, over what is there too. A second one of the same name is ignored. */
  addIndex(name: string, valuesOf: (object: T) => string[]): void {
    if (this.#indexes.has(name)) return;
    const index: Index<T> = { valuesOf, keys: new Map() };
    this.#indexes.set(name, index);
    for (const [key, object] of this.#objects) addTo(index, key, object);
  }

  /** @throws RangeError when there is no such index. */
  byIndex(name: string, value: string): T[] {
    const index = this.#indexes.get(name);
    if (!index) throw new RangeError(`Cannot look up by index "${name}": there is no such index`);
    const found: T[] = [];
    for (const key of index.keys.get(value) ?? []) found.push(this.#objects.get(key)!);
    return found;
  }

  /** Puts the object in; returns the one that was there. */
  set(object: T): T | undefined {
    const key = keyOf(object);
    const old = this.#objects.get(key);
    for (const index of this.#indexes.values()) {
      if (old) removeFrom(index, key, old);
      addTo(index, key, object);
    }
    this.#objects.set(key, object);
    return old;
  }

  /** Takes the object out; returns it. */
  delete(key: string): T | undefined {
    const old = this.#objects.get(key);
    if (!old) return undefined;
    for (const index of this.#indexes.values()) removeFrom(index, key, old);
    this.#objects.delete(key);
    return old;
  }
}

function addTo<T>(index: Index<T>, key: string, object: T): void {
  for (const value of index.valuesOf(object)) {
    let keys = index.keys.get(value);
    if (!keys) index.keys.set(value, keys = new Set());
    keys.add(key);
  }
}

function removeFrom<T>(index: Index<T>, key: string, object: T): void {
  for (const value of index.valuesOf(object)) {
    const keys = index.keys.get(value);
    if (keys?.delete(key) && keys.size === 0) index.keys.delete(value);
  }
}

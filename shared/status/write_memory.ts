/** Read-your-writes over an informer's cache, which lags behind a loop's own writes. @module */
import type { Informer } from "../kube/contract.ts";
import { keyOf, type KubeObject } from "../kube/types.ts";

const LIMIT = 1024;

/**
 * Remembers the objects that a loop wrote until the cache is as new. Without it a loop that writes A → B → A within the
 * cache's lag would compare the second A with the old A, skip, and leave B behind; and an observer would send back what
 * it had just changed.
 */
export class WriteMemory {
  readonly #written = new Map<string, KubeObject>();

  /** Number of objects that wait for the cache. */
  get size(): number {
    return this.#written.size;
  }

  /** Keeps the answer of a write. */
  remember(stored: KubeObject): void {
    const id = idOf(stored.kind, keyOf(stored));
    this.#written.delete(id);
    this.#written.set(id, stored);
    if (this.#written.size > LIMIT) this.#written.delete(this.#written.keys().next().value!);
  }

  /** Drops what is kept of that object. */
  forget(kind: string, key: string): void {
    this.#written.delete(idOf(kind, key));
  }

  /** The newer of the cached object and what was written last. */
  fresher<T extends KubeObject>(cached: T): T {
    return this.latest(cached.kind, keyOf(cached), cached)!;
  }

  /** As {@link fresher}, also for an object that the cache does not have yet. */
  latest<T extends KubeObject>(kind: string, key: string, cached: T | undefined): T | undefined {
    const id = idOf(kind, key);
    const written = this.#written.get(id);
    if (!written) return cached;
    if (!cached || isNewer(written, cached)) return written as T;
    this.#written.delete(id);
    return cached;
  }

  /** Lets go of each object as soon as the informer has it. Returns the remover. */
  follow<T extends KubeObject>(informer: Pick<Informer<T>, "addHandler">): () => void {
    const seen = (object: T) => void this.fresher(object);
    return informer.addHandler({
      onAdd: seen,
      onUpdate: (_old, object) => seen(object),
      onDelete: (object) => {
        const written = this.#written.get(idOf(object.kind, keyOf(object)));
        if (written && !isNewer(written, object)) this.forget(object.kind, keyOf(object));
      },
    });
  }
}

function idOf(kind: string, key: string): string {
  return `${kind} ${key}`;
}

// Resource versions are decimal numbers of any length here and on Kubernetes (KEP-5504); anything else: trust the cache.
function isNewer(a: KubeObject, b: KubeObject): boolean {
  const x = a.metadata.resourceVersion ?? "", y = b.metadata.resourceVersion ?? "";
  if (!/^\d+$/.test(x) || !/^\d+$/.test(y)) return false;
  return x.length === y.length ? x > y : x.length > y.length;
}

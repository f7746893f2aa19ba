/**
 * The storage interface of the API server. `memory` and `sqlite` implement it here (etcd comes later); one conformance
 * suite runs on all. A store knows keys, bytes and revisions: nothing about kinds.
 *
 * Keys look like `/group/resource/namespace/name` (cluster scope: `/group/resource/name`), compared by UTF-8 bytes.
 * One revision counter for the whole store; each successful write adds one; it never goes back, not even after a restart.
 *
 * @module
 */

/** A stored value. `revision` is that of the write that stored it: the object's resourceVersion. */
export interface StoredValue {
  key: string;
  /** The object as JSON, serialised once; its resourceVersion is NOT in it (it is the revision). */
  value: string;
  revision: number;
}

/** A change. For DELETE, `value`/`previous` is the last state and `revision` that of the delete. */
export interface StorageEvent {
  type: "CREATE" | "UPDATE" | "DELETE";
  key: string;
  value: string;
  /** State before, for UPDATE and DELETE: a selector needs it to turn an update into an ADDED or DELETED. */
  previous?: string;
  revision: number;
}

/** A page of a list, all of it as of `revision`. */
export interface StoragePage {
  items: StoredValue[];
  revision: number;
  /** Whether keys remain after the last item, and how many if that is cheap to know. */
  more: boolean;
  remaining?: number;
}

/** The write was refused because the key's state is not as expected. `current` is its state now. */
export class StorageConflict extends Error {
  override readonly name = "StorageConflict";
  constructor(readonly current: StoredValue | undefined) {
    super("The stored value changed");
  }
}

/** The asked revision was compacted away (HTTP 410). */
export class StorageCompacted extends Error {
  override readonly name = "StorageCompacted";
  constructor(readonly oldestRevision: number) {
    super("The revision was compacted");
  }
}

/** The asked revision is newer than the store (HTTP 504 "Too large resource version"). */
export class StorageFuture extends Error {
  override readonly name = "StorageFuture";
  constructor(readonly currentRevision: number) {
    super("The revision is newer than the store");
  }
}

/** The store is closed, or was lost while it was used. */
export class StorageClosed extends Error {
  override readonly name = "StorageClosed";
  constructor() {
    super("The store is closed");
  }
}

/** A store. All methods are safe to call at once; a write is durable when its promise resolves. */
export interface Storage {
  get(key: string): Promise<StoredValue | undefined>;
  /**
   * Values whose key starts with `prefix`, in key order. `after`: only keys greater than this one. `revision`: the state
   * as of then (needed by `continue`). @throws StorageCompacted, StorageFuture
   */
  list(prefix: string, o?: { after?: string; limit?: number; revision?: number }): Promise<StoragePage>;
  /** Stores a new key. @throws StorageConflict when it exists. */
  create(key: string, value: string): Promise<StoredValue>;
  /** Replaces a key at `expected`. @throws StorageConflict */
  update(key: string, value: string, expected: number): Promise<StoredValue>;
  /** Deletes a key at `expected`; resolves to the revision of the delete. @throws StorageConflict */
  delete(key: string, expected: number): Promise<number>;
  /**
   * Calls `onEvent` for each change of keys under `prefix` after `from` (exclusive), in revision order, each once.
   * Events up to the present are delivered before the promise resolves or right after. Returns the canceller.
   *
   * `onLost` is called once when the store can deliver no more (closed, connection gone, or `onEvent` threw): the
   * watcher is then gone and must begin anew.
   * @throws StorageCompacted when `from` is too old
   */
  watch(
    prefix: string,
    from: number,
    onEvent: (event: StorageEvent) => void,
    onLost?: (error: Error) => void,
  ): Promise<() => void>;
  currentRevision(): Promise<number>;
  /** Forgets history before `revision`: older watches and lists then fail with StorageCompacted. */
  compact(revision: number): Promise<void>;
  close(): Promise<void>;
}

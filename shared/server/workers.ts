/**
 * What the server does by itself: garbage collection by owner, deletion of namespaces, kinds from
 * CustomResourceDefinitions. Driven by one watch on the whole store; nothing is scanned in a quiet state.
 *
 * @module
 */
import { isObject, type JsonObject, parseJson } from "../json/mod.ts";
import type { Logger } from "../runtime/logger.ts";
import { CrdWorker } from "./crds.ts";
import { GarbageCollector } from "./gc.ts";
import { KeyQueue } from "./key_queue.ts";
import { NamespaceWorker } from "./namespaces.ts";
import type { ResourceHost } from "./resource_handler.ts";
import type { StorageEvent } from "./storage/contract.ts";

/** Options of {@link Workers}. */
export interface WorkersOptions {
  host: ResourceHost;
  logger: Logger;
  serveCrds: boolean;
  /** Whether garbage collection and deletions are worked on. */
  on: boolean;
  /** The served kinds changed. */
  kindsChanged(): void;
}

/** Objects of the first scan that are read at a time. */
const PAGE = 500;

/** Texts that make an object interesting; all others are never parsed. */
const OWNED = '"ownerReferences"', DELETING = '"deletionTimestamp"';

/** The background of one server. */
export class Workers {
  readonly #o: WorkersOptions;
  readonly #queue: KeyQueue;
  readonly #gc: GarbageCollector;
  readonly #namespaces: NamespaceWorker;
  readonly #crds: CrdWorker;
  #started: Promise<void> | undefined;
  #isReady: boolean;
  #stop: () => void = () => {};
  #closed = false;

  constructor(options: WorkersOptions) {
    this.#o = options;
    const { host, logger } = options;
    this.#isReady = !options.on && !options.serveCrds;
    this.#queue = new KeyQueue(host.clock, (error, key) => logger.error("Background work failed", error, { key }));
    this.#gc = new GarbageCollector(host, this.#queue);
    this.#namespaces = new NamespaceWorker(host, this.#queue);
    this.#crds = new CrdWorker(host, this.#queue, options.kindsChanged);
  }

  /** Resolves when the kinds of all CustomResourceDefinitions are known; starts the work at the first call. */
  ready(): Promise<void> | undefined {
    if (this.#isReady) return undefined;
    this.#started ??= this.#start().then(() => {
      this.#isReady = true;
    }, (error) => {
      // The next request tries again.
      this.#started = undefined;
      throw error;
    });
    return this.#started;
  }

  /** Resolves when nothing is left to do. */
  async settled(): Promise<void> {
    await this.ready();
    await this.#queue.idle();
  }

  /** Stops; work under way ends first. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#started?.catch(() => {});
    this.#stop();
    await this.#queue.close();
  }

  async #start(): Promise<void> {
    const { storage } = this.#o.host;
    let after: string | undefined, revision: number | undefined;
    do {
      const page = await storage.list("/", {
        limit: PAGE,
        ...(after === undefined ? {} : { after }),
        ...(revision === undefined ? {} : { revision }),
      });
      revision ??= page.revision;
      after = page.more ? page.items.at(-1)!.key : undefined;
      for (const item of page.items) this.#present(item.key, item.value, true);
    } while (after !== undefined);
    const stop = await storage.watch("/", revision, (event) => this.#onEvent(event), (error) => this.#onLost(error));
    if (this.#closed) stop();
    else this.#stop = stop;
  }

  #onLost(error: Error): void {
    if (this.#closed) return;
    // Begin anew: the next request, or this timer, scans again.
    this.#o.logger.error("The watch on the store was lost", error);
    this.#stop();
    this.#stop = () => {};
    this.#started = undefined;
    this.#isReady = false;
    this.#gc.clear();
    this.#queue.later("restart", 1_000, async () => void await this.ready());
  }

  #onEvent(event: StorageEvent): void {
    try {
      if (event.type === "DELETE") this.#absent(event.key, event.value);
      // Nearly all updates are of status: nothing to do, and large objects need not be parsed for it.
      else if (event.type === "CREATE" || this.#crds.isCrd(event.key) || isInteresting(event)) {
        this.#present(event.key, event.value, event.type === "CREATE" || changed(event));
      }
    } catch (error) {
      this.#o.logger.error("Background work failed", error, { key: event.key });
    }
  }

  #present(key: string, text: string, worthACheck: boolean): void {
    if (this.#crds.isCrd(key)) {
      if (this.#o.serveCrds) this.#crds.present(key, parseJson(text) as JsonObject);
    }
    if (!this.#o.on) return;
    const owned = text.includes(OWNED), deleting = text.includes(DELETING);
    if (!owned) this.#gc.forget(key);
    if (!owned && !deleting) return;
    const object = parseJson(text) as JsonObject;
    const deletingNow = isObject(object.metadata) && object.metadata.deletionTimestamp !== undefined;
    this.#gc.present(key, object, worthACheck);
    if (deletingNow) {
      this.#namespaces.deleting(key, object);
      if (this.#o.serveCrds && this.#crds.isCrd(key)) this.#crds.deleting(key, object);
    }
  }

  #absent(key: string, text: string): void {
    if (this.#o.serveCrds && this.#crds.isCrd(key)) this.#crds.absent(key);
    if (!this.#o.on) return;
    this.#gc.absent(key, text);
    this.#namespaces.absent(key);
    if (this.#o.serveCrds) this.#crds.objectGone(key);
  }
}

/** Whether an update is of an object that is being deleted, or may have changed its owners. */
function isInteresting(event: StorageEvent): boolean {
  return event.value.includes(DELETING) || changed(event);
}

/** Whether an update may have changed owners or begun a deletion. */
function changed(event: StorageEvent): boolean {
  const before = event.previous ?? "";
  return ownersOf(before) !== ownersOf(event.value) || before.includes(DELETING) !== event.value.includes(DELETING);
}

function ownersOf(text: string): string {
  const at = text.indexOf(OWNED);
  return at < 0 ? "" : text.slice(at, text.indexOf("]", at));
}

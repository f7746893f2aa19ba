/**
 * The reflector: keeps a sink equal to one resource by list and watch, through expiry, breaks and servers of any age.
 *
 * - 410 (as answer or in the stream) → whole list again; the sink diffs, so that deletions of the gap are told.
 * - A watch that ends after its time goes on at the last bookmark or event; no list.
 * - A watch that ends early without an event is a failure: it backs off, and the third in a row lists again.
 * - A list older than what was seen is not taken.
 *
 * @module
 */
import { Backoff, type BackoffOptions } from "../runtime/backoff.ts";
import { type Clock, sleep } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import type { KubeClient, WatchEvent } from "./contract.ts";
import { isStatus, statusErrorOf } from "./response.ts";
import { StatusError } from "./status.ts";
import { isOlder } from "./resource_version.ts";
import { keyOf, type KubeObject, type Resource } from "./types.ts";

/** What a reflector writes to. */
export interface ReflectorSink<T> {
  /** The whole truth at one moment; what is not in it is gone. */
  replace(objects: T[]): void;
  /** Added or changed. */
  set(object: T): void;
  delete(object: T): void;
  /** The stream broke or failed; the truth is unknown until {@link onLive}. */
  onLost?(error: Error): void;
  /** A watch is open and what was told so far is the truth. */
  onLive?(): void;
}

/** Options of {@link runReflector}. */
export interface ReflectorOptions {
  client: KubeClient;
  resource: Resource;
  clock: Clock;
  logger: Logger;
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Objects a page of a list. @default 500 */
  pageSize?: number;
  /** A watch is asked to end after this time, times 1 to 2. @default 300 */
  watchTimeoutSeconds?: number;
  /** Whether `sendInitialEvents` is tried before a list. @default true */
  watchList?: boolean;
  backoff?: BackoffOptions;
  /** In [0, 1). @default Math.random */
  random?: () => number;
}

/** A watch that lived this long makes earlier failures forgotten, ms. */
const STABLE_MS = 5_000;
/** An end before this time without an event is no normal end, ms. */
const EARLY_MS = 30_000;
/** Grace beyond the time that the server was told, ms. */
const OVERDUE_MS = 30_000;
/** Failures in a row of a watch after which the list is made again. */
const RELIST_AFTER = 3;
/** Older lists in a row after which the server is believed: it was restored from a backup. */
const BELIEVE_AFTER = 10;
/** How long initial events may take, ms; a server that does not know them never says that they ended. */
const INITIAL_MS = 60_000;

/** Runs until the signal is aborted; never throws. */
export async function runReflector<T extends KubeObject>(
  o: ReflectorOptions,
  sink: ReflectorSink<T>,
  signal: AbortSignal,
): Promise<void> {
  const reflector = new Reflector(o, sink, signal);
  await reflector.run();
}

class Reflector<T extends KubeObject> {
  readonly #o: ReflectorOptions;
  readonly #sink: ReflectorSink<T>;
  readonly #signal: AbortSignal;
  readonly #backoff: Backoff;
  /** Last version seen; "" before the first list. */
  #version = "";
  #mustList = true;
  #watchList: boolean;
  /** The next whole truth comes from a list, whatever the server can do. */
  #listOnce = false;
  #watchFailures = 0;
  #olderLists = 0;

  constructor(o: ReflectorOptions, sink: ReflectorSink<T>, signal: AbortSignal) {
    this.#o = o;
    this.#sink = sink;
    this.#signal = signal;
    this.#watchList = o.watchList ?? true;
    this.#backoff = new Backoff({
      minMs: 500,
      maxMs: 30_000,
      ...(o.random ? { random: o.random } : {}),
      ...o.backoff,
    });
  }

  async run(): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        if (this.#mustList && (!this.#watchList || this.#listOnce)) await this.#list();
        await this.#watch();
      } catch (error) {
        if (this.#signal.aborted) return;
        const wait = Math.max(this.#classify(error), this.#backoff.next());
        this.#sink.onLost?.(error instanceof Error ? error : new Error(String(error)));
        this.#o.logger.debug("Watch failed", {
          resource: this.#o.resource.plural,
          error: error instanceof Error ? error.message : String(error),
          waitMs: Math.round(wait),
        });
        await sleep(this.#o.clock, wait, this.#signal).catch(() => {});
      }
    }
  }

  /** Decides what comes next after a failure; returns the wait that the server asked for, ms. */
  #classify(error: unknown): number {
    const initial = this.#mustList;
    if (!(error instanceof StatusError)) {
      if (error instanceof NoInitialEvents) this.#watchList = false;
      if (error instanceof EarlyEnd && ++this.#watchFailures >= RELIST_AFTER) {
        this.#watchFailures = 0;
        this.#mustList = true;
        this.#listOnce = true;
      }
      return 0;
    }
    if (error.code === 410) {
      this.#mustList = true;
    } else if (isTooLarge(error)) {
      this.#mustList = true;
      this.#listOnce = true;
    } else if (initial && this.#watchList && [400, 405, 422, 500, 501].includes(error.code)) {
      // A server that does not know or cannot do initial events: the list does the same.
      this.#watchList = false;
    } else if (!initial && ++this.#watchFailures >= RELIST_AFTER) {
      this.#watchFailures = 0;
      this.#mustList = true;
    }
    return (error.status.details?.retryAfterSeconds ?? 0) * 1000;
  }

  /** Lists page by page, consistently (no version), and hands the whole to the sink. */
  async #list(): Promise<void> {
    const { client, resource, pageSize = 500 } = this.#o;
    let objects: T[] = [];
    let version = "";
    let next: string | undefined;
    let limit: number | undefined = pageSize;
    do {
      try {
        const page = await client.list<T>(resource, {
          ...this.#selection(),
          signal: this.#signal,
          ...(limit ? { limit } : {}),
          ...(next ? { continue: next } : {}),
        });
        for (const item of page.items) {
          // Items of a list come without apiVersion and kind from some servers.
          item.apiVersion ??= page.apiVersion;
          item.kind ??= resource.kind;
          objects.push(item);
        }
        version = page.metadata.resourceVersion;
        next = page.metadata.continue || undefined;
      } catch (error) {
        // The snapshot expired while paging: all in one piece.
        if (!next || !(error instanceof StatusError) || error.code !== 410) throw error;
        objects = [];
        next = undefined;
        limit = undefined;
        continue;
      }
      if (next === undefined) break;
    } while (!this.#signal.aborted);
    this.#accept(objects, version);
  }

  #accept(objects: T[], version: string): void {
    if (isOlder(version, this.#version)) {
      if (++this.#olderLists < BELIEVE_AFTER) throw new OlderList(this.#o.resource.plural, version, this.#version);
      this.#o.logger.info("Server went back in time for good and is believed", {
        resource: this.#o.resource.plural,
        version,
        seen: this.#version,
      });
    }
    this.#olderLists = 0;
    this.#listOnce = false;
    this.#version = version;
    this.#mustList = false;
    this.#sink.replace(objects);
  }

  async #watch(): Promise<void> {
    const { client, resource, clock, random = Math.random } = this.#o;
    const seconds = Math.round((this.#o.watchTimeoutSeconds ?? 300) * (1 + random()));
    const initial = this.#mustList ? new Map<string, T>() : undefined;
    const abort = new AbortController();
    const onAbort = () => abort.abort(this.#signal.reason);
    this.#signal.addEventListener("abort", onAbort, { once: true });
    const stopOverdue = clock.after(
      seconds * 1000 + OVERDUE_MS,
      () => abort.abort(new Error("the watch did not end when it should have")),
    );
    const stopInitial = initial
      ? clock.after(INITIAL_MS, () => abort.abort(new NoInitialEvents(resource.plural)))
      : () => {};
    const started = clock.now();
    let events = 0;
    let open = false;
    try {
      const stream = await client.watch<T>(resource, {
        ...this.#selection(),
        allowWatchBookmarks: true,
        timeoutSeconds: seconds,
        signal: abort.signal,
        ...(initial
          ? { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" as const }
          : { resourceVersion: this.#version }),
      });
      open = true;
      if (!initial) this.#sink.onLive?.();
      for await (const event of stream) {
        if (this.#signal.aborted) return;
        events++;
        if (this.#mustList) {
          if (this.#initialEvent(event, initial!)) {
            stopInitial();
            this.#sink.onLive?.();
          }
        } else this.#event(event);
      }
      // A watch that we ended ourselves ends quietly.
      if (abort.signal.aborted && !this.#signal.aborted) throw abort.signal.reason;
    } finally {
      stopOverdue();
      stopInitial();
      this.#signal.removeEventListener("abort", onAbort);
      if (open && !this.#mustList && clock.now() - started >= STABLE_MS) this.#backoff.reset();
    }
    if (this.#signal.aborted) return;
    const lived = clock.now() - started;
    if (this.#mustList) throw new EarlyEnd(resource.plural);
    if (events === 0 && lived < Math.min(EARLY_MS, seconds * 500)) throw new EarlyEnd(resource.plural);
    this.#watchFailures = 0;
    // A server that closes after each event must not be asked again and again without pause.
    if (lived < 1000) await sleep(clock, this.#backoff.next(), this.#signal).catch(() => {});
  }

  /** True when the initial events are complete. */
  #initialEvent(event: WatchEvent<T>, into: Map<string, T>): boolean {
    switch (event.type) {
      case "ADDED":
      case "MODIFIED":
        into.set(keyOf(event.object), event.object);
        return false;
      case "DELETED":
        into.delete(keyOf(event.object));
        return false;
      case "ERROR":
        throw errorOf(event);
      case "BOOKMARK": {
        if (event.object.metadata.annotations?.["k8s.io/initial-events-end"] !== "true") return false;
        this.#accept([...into.values()], event.object.metadata.resourceVersion ?? "");
        into.clear();
        return true;
      }
    }
  }

  #event(event: WatchEvent<T>): void {
    if (event.type === "ERROR") throw errorOf(event);
    const version = event.object.metadata.resourceVersion;
    if (event.type === "DELETED") this.#sink.delete(event.object);
    else if (event.type !== "BOOKMARK") this.#sink.set(event.object);
    if (version && !isOlder(version, this.#version)) this.#version = version;
  }

  #selection(): { namespace?: string; labelSelector?: string; fieldSelector?: string } {
    const { namespace, labelSelector, fieldSelector } = this.#o;
    return {
      ...(namespace ? { namespace } : {}),
      ...(labelSelector ? { labelSelector } : {}),
      ...(fieldSelector ? { fieldSelector } : {}),
    };
  }
}

/** A watch ended at once without a word. */
class EarlyEnd extends Error {
  override readonly name = "EarlyEnd";
  constructor(plural: string) {
    super(`The watch of ${plural} was closed early and without an event`);
  }
}

class OlderList extends Error {
  override readonly name = "OlderList";
  constructor(plural: string, version: string, seen: string) {
    super(`The list of ${plural} is older (${version}) than what was seen (${seen})`);
  }
}

class NoInitialEvents extends Error {
  override readonly name = "NoInitialEvents";
  constructor(plural: string) {
    super(`The server did not end the initial events of ${plural} in time`);
  }
}

function errorOf(event: { object: unknown }): Error {
  return isStatus(event.object) ? statusErrorOf(event.object) : new Error("The watch ended with an error");
}

/** 504 with the cause ResourceVersionTooLarge. */
function isTooLarge(error: StatusError): boolean {
  return error.code === 504 &&
    (error.status.details?.causes?.some((c) => c.reason === "ResourceVersionTooLarge") === true ||
      error.message.startsWith("Too large resource version"));
}

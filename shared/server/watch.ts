/** Watches: a stream of events from a resourceVersion on, or from the present state. @module */
import { type JsonObject, stringifyJson } from "../json/mod.ts";
import type { Clock } from "../runtime/clock.ts";
import type { ServerRequest, ServerResponse } from "./contract.ts";
import { badRequest, failure, gone, invalid, StatusError, tooLargeResourceVersion } from "./errors.ts";
import type { EventCache, SharedEvent } from "./event_cache.ts";
import { LineQueue } from "./line_queue.ts";
import type { Negotiated } from "./negotiate.ts";
import { parseResourceVersion } from "./read.ts";
import type { Served } from "./registry.ts";
import { isTrue } from "./request_info.ts";
import { matches, parseSelector, type Selector } from "./selectors.ts";
import { type Storage, StorageCompacted, type StorageEvent } from "./storage/contract.ts";
import { parsed, spliced } from "./stored.ts";
import { type IncludeObject, includeObjectOf, partialMetadata, tableRow, tableText } from "./table.ts";
import { forbiddenField } from "./validate/field_error.ts";

/** What a watch needs of the server. */
export interface WatchHost {
  storage: Storage;
  clock: Clock;
  events: EventCache;
  bookmarkMs: number;
  /** Called with the ender of each watch; returns the remover. */
  track(end: () => void): () => void;
}

/** Characters of events that may wait for a slow reader. */
const MAX_WAITING = 32 * 1024 * 1024;
/** Objects of the initial state that are read at a time. */
const PAGE = 500;
/** A watch without timeoutSeconds ends after this time, s. */
const MIN_TIMEOUT = 1_800, MAX_TIMEOUT = 3_600;
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

interface WatchPlan {
  /** The revision asked for; undefined = the present. */
  from: number | undefined;
  initial: boolean;
  initialBookmark: boolean;
  bookmarks: boolean;
  timeoutMs: number;
}

/** Starts a watch. @throws StatusError for bad parameters, 410 and 504 */
export async function watch(
  host: WatchHost,
  served: Served,
  namespace: string,
  name: string,
  request: ServerRequest,
  query: URLSearchParams,
  form: Negotiated,
): Promise<ServerResponse> {
  const selector = parseSelector(query, served.version.selectable);
  const plan = planOf(query);
  let prefix = namespace ? `${served.kind.prefix}${namespace}/` : served.kind.prefix;
  const one = name || (namespace || !served.kind.def.namespaced ? selector?.name : undefined);
  if (one) prefix += one;
  const only = one ? prefix : undefined;
  const encoder = new EventEncoder(host, served, selector, form, query);
  encoder.started = !plan.initial;
  const lines = new LineQueue(
    MAX_WAITING,
    () => encoder.error(gone("too old resource version: the reader is too slow")),
  );
  const current = await host.storage.currentRevision();
  if (plan.from !== undefined && plan.from > current) throw tooLargeResourceVersion(plan.from, current);
  if (!plan.initial) await follow(host, lines, encoder, prefix, only, plan.from ?? current);
  const ender = host.track(() => lines.end());
  lines.onClose(ender);
  const onAbort = () => lines.end();
  request.signal?.addEventListener("abort", onAbort, { once: true });
  lines.onClose(() => request.signal?.removeEventListener("abort", onAbort));
  if (request.signal?.aborted) lines.end();
  startTimers(host, lines, encoder, plan);
  const body = plan.initial ? withInitial(host, lines, encoder, prefix, only, plan) : lines;
  return { status: 200, headers: {}, body };
}

/** Subscribes to storage from a revision on. @throws StatusError 410 */
async function follow(
  host: WatchHost,
  lines: LineQueue,
  encoder: EventEncoder,
  prefix: string,
  only: string | undefined,
  from: number,
): Promise<void> {
  const onEvent = (event: StorageEvent) => {
    if (only !== undefined && event.key !== only) return;
    const line = encoder.event(event);
    if (line) lines.push(line);
  };
  const onLost = (error: Error) => {
    // Never a silent end: a client that sees the stream close without an error would resume and miss what was lost.
    lines.push(encoder.error(gone(`too old resource version: the watch was lost (${error.message})`)));
    lines.end();
  };
  try {
    const cancel = await host.storage.watch(prefix, from, onEvent, onLost);
    lines.onClose(cancel);
  } catch (error) {
    if (error instanceof StorageCompacted) {
      throw gone(`too old resource version: ${from} (${error.oldestRevision})`);
    }
    throw error;
  }
}

/** The present state as ADDED events, all as of one revision, then the events after it. */
async function* withInitial(
  host: WatchHost,
  lines: LineQueue,
  encoder: EventEncoder,
  prefix: string,
  only: string | undefined,
  plan: WatchPlan,
): AsyncGenerator<string> {
  let closed = false;
  lines.onClose(() => closed = true);
  try {
    let after: string | undefined, revision: number | undefined;
    do {
      const page = await host.storage.list(prefix, {
        limit: PAGE,
        ...(after === undefined ? {} : { after }),
        ...(revision === undefined ? {} : { revision }),
      });
      revision = page.revision;
      after = page.more ? page.items.at(-1)!.key : undefined;
      let text = "";
      for (const item of page.items) {
        if (only === undefined || item.key === only) text += encoder.added(item.value, item.revision);
      }
      if (text) yield text;
    } while (after !== undefined && !closed);
    if (closed) return;
    if (plan.initialBookmark) yield encoder.bookmark(revision, true);
    await follow(host, lines, encoder, prefix, only, revision);
    encoder.started = true;
  } catch (error) {
    yield encoder.error(
      error instanceof StatusError
        ? error
        : error instanceof StorageCompacted
        ? gone("too old resource version: the state changed too fast")
        : failure(500, "InternalError", "Internal error occurred: the watch broke off"),
    );
    lines.end();
    return;
  }
  yield* lines;
}

function startTimers(host: WatchHost, lines: LineQueue, encoder: EventEncoder, plan: WatchPlan): void {
  let cancelBookmark = () => {};
  const sendBookmark = async () => {
    const revision = await host.storage.currentRevision();
    // Events up to this revision are in the queue by now: storage hands them over before it tells the revision.
    if (encoder.started) lines.push(encoder.bookmark(revision, false));
  };
  const schedule = () => {
    cancelBookmark = host.clock.after(host.bookmarkMs, () => {
      sendBookmark().then(schedule, () => lines.end());
    });
  };
  if (plan.bookmarks) schedule();
  const cancelTimeout = host.clock.after(plan.timeoutMs, () => {
    const finish = () => lines.end();
    if (plan.bookmarks) sendBookmark().then(finish, finish);
    else finish();
  });
  lines.onClose(() => {
    cancelBookmark();
    cancelTimeout();
    plan.bookmarks = false;
  });
}

/** Turns events into lines of one watch. */
class EventEncoder {
  #columnsSent = false;
  /** Whether bookmarks may be sent: not before the initial events are through. */
  started = true;
  readonly #include: IncludeObject;

  constructor(
    private readonly host: WatchHost,
    private readonly served: Served,
    private readonly selector: Selector | undefined,
    private readonly form: Negotiated,
    query: URLSearchParams,
  ) {
    this.#include = form.as === "Table" ? includeObjectOf(query) : "None";
  }

  /** The line of a storage event; undefined when the selector never matched it. */
  event(event: StorageEvent): string | undefined {
    const { kind } = this.served;
    const shared = this.host.events.of(event);
    const is = event.type !== "DELETE" && matches(this.selector, event.value, () => shared.object(kind, false));
    const was = event.previous !== undefined &&
      matches(this.selector, event.previous, () => shared.object(kind, true));
    if (is) return this.#line(was ? "MODIFIED" : "ADDED", shared, false);
    return was ? this.#line("DELETED", shared, true) : undefined;
  }

  /** The ADDED line of an object of the initial state; "" when the selector does not match. */
  added(text: string, revision: number): string {
    const { kind, version } = this.served;
    let object: JsonObject | undefined;
    const parse = () => object ??= parsed(kind, version, text, revision);
    if (!matches(this.selector, text, parse)) return "";
    return `{"type":"ADDED","object":${this.#form(() => spliced(kind, version, text, revision), parse)}}\n`;
  }

  #line(type: string, shared: SharedEvent, previous: boolean): string {
    const { kind, version } = this.served;
    const json = () => shared.json(kind, version, previous);
    return `{"type":"${type}","object":${this.#form(json, () => shared.object(kind, previous))}}\n`;
  }

  #form(json: () => string, parse: () => JsonObject): string {
    if (this.form.as === "object") return json();
    if (this.form.as === "PartialObjectMetadata" || this.form.as === "PartialObjectMetadataList") {
      return stringifyJson(partialMetadata(parse(), this.form.version));
    }
    const row = tableRow(this.served.version, parse(), json, this.#include, this.host.clock.now());
    return this.#table([row], String((parse().metadata as JsonObject).resourceVersion));
  }

  #table(rows: string[], resourceVersion: string): string {
    const withColumns = !this.#columnsSent;
    this.#columnsSent = true;
    return tableText(this.served.version, rows, { resourceVersion }, this.form.version, withColumns);
  }

  /** A BOOKMARK line. */
  bookmark(revision: number, initialEnd: boolean): string {
    const metadata: JsonObject = { resourceVersion: String(revision), creationTimestamp: null };
    if (initialEnd) metadata.annotations = { [INITIAL_EVENTS_END]: "true" };
    const { kind, version } = this.served;
    const object = { kind: kind.def.kind, apiVersion: version.apiVersion, metadata };
    const text = this.form.as === "object" ? stringifyJson(object) : this.form.as === "Table"
      ? this.#table(
        initialEnd ? [`{"cells":[],"object":${stringifyJson(partialMetadata(object))}}`] : [],
        String(revision),
      )
      : stringifyJson(partialMetadata(object, this.form.version));
    return `{"type":"BOOKMARK","object":${text}}\n`;
  }

  /** An ERROR line. */
  error(error: StatusError): string {
    return `{"type":"ERROR","object":${stringifyJson(error.status)}}\n`;
  }
}

function planOf(query: URLSearchParams): WatchPlan {
  const rv = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch") ?? "";
  const sendInitial = query.get("sendInitialEvents");
  const bookmarks = isTrue(query.get("allowWatchBookmarks"));
  const errors = [];
  if (sendInitial !== null) {
    if (match !== "NotOlderThan") {
      errors.push(
        forbiddenField(
          "resourceVersionMatch",
          "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
      );
    }
  } else if (match !== "") {
    errors.push(
      forbiddenField(
        "resourceVersionMatch",
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
      ),
    );
  }
  if (query.get("continue")) errors.push(forbiddenField("continue", "continue is forbidden for watch"));
  if (errors.length) throw invalid("meta.k8s.io", "ListOptions", "", errors);
  const explicit = sendInitial !== null;
  const initial = explicit ? isTrue(sendInitial) : rv === "" || rv === "0";
  const fromStart = rv === "" || rv === "0";
  const timeout = query.get("timeoutSeconds") ?? "";
  if (timeout !== "" && !/^-?\d{1,9}$/.test(timeout)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(timeout)}: invalid syntax`);
  }
  const seconds = Number(timeout) > 0
    ? Number(timeout)
    : MIN_TIMEOUT + Math.floor(Math.random() * (MAX_TIMEOUT - MIN_TIMEOUT));
  if (!fromStart) parseResourceVersion(rv);
  return {
    from: fromStart ? undefined : parseResourceVersion(rv),
    initial,
    initialBookmark: explicit && initial && bookmarks,
    bookmarks,
    timeoutMs: seconds * 1000,
  };
}

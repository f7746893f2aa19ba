/** Sends core/v1 Events: aggregated, rate-limited, bounded, never in anybody's way. @module */
import { LRUCache } from "lru-cache";
import { backoffDelay } from "../runtime/backoff.ts";
import { type Clock, rfc3339, sleep } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import type { Metrics } from "../runtime/metrics.ts";
import type { KubeClient } from "../kube/contract.ts";
import { RateLimiter } from "../kube/mod.ts";
import { hasReason, StatusError } from "../kube/status.ts";
import type { KubeObject } from "../kube/types.ts";
import type { EventRecorder } from "./contract.ts";
import { type CoreEvent, EVENTS } from "./resources.ts";

/** Options of {@link createEventRecorder}. */
export interface EventRecorderOptions {
  client: KubeClient;
  clock: Clock;
  logger: Logger;
  metrics?: Metrics;
  /** Who reports, e.g. `convoy-controller-manager`. */
  component: string;
  /** Which process of it. */
  instance: string;
  /** Events that may wait to be sent; more are dropped and counted. @default 1000 */
  queueSize?: number;
  /** Events of one object at once, and how many more a second. @default 25 and 1/60 */
  burst?: number;
  qps?: number;
  /** Tries of one event. @default 4 */
  attempts?: number;
}

/** A recorder that can be stopped. */
export interface StoppableRecorder extends EventRecorder {
  /** Sends what waits, for at most `ms`. */
  stop(ms?: number): Promise<void>;
}

/** What is known of an event that was or will be sent. */
interface Entry {
  event: CoreEvent;
  /** Already on the server. */
  sent: boolean;
  queued: boolean;
}

const MESSAGE_MAX = 1024;

/** Makes a recorder. Events of one object, type, reason and message become one Event with a count. */
export function createEventRecorder(o: EventRecorderOptions): StoppableRecorder {
  const abort = new AbortController();
  const known = new LRUCache<string, Entry>({ max: 4096, ttl: 3_600_000, perf: { now: () => o.clock.now() } });
  const limiters = new LRUCache<string, RateLimiter>({ max: 4096 });
  const queue: Entry[] = [];
  const counter = o.metrics?.counter("convoy_events_total", "Events by what became of them", ["result"]);
  let sending: Promise<void> | undefined;

  function record(about: KubeObject, type: "Normal" | "Warning", reason: string, message: string): void {
    const text = message.length > MESSAGE_MAX ? message.slice(0, MESSAGE_MAX - 1) + "…" : message;
    const { namespace, name, uid } = about.metadata;
    const object = [about.apiVersion, about.kind, namespace ?? "", name, uid ?? ""].join("\n");
    let limiter = limiters.get(object);
    if (!limiter) limiters.set(object, limiter = new RateLimiter(o.qps ?? 1 / 60, o.burst ?? 25, o.clock));
    if (!limiter.tryAcquire()) return void counter?.inc({ result: "limited" });
    const id = [object, type, reason, text].join("\n");
    let entry = known.get(id);
    if (entry) {
      entry.event.count++;
      entry.event.lastTimestamp = rfc3339(o.clock.now());
    } else {
      entry = { event: newEvent(about, type, reason, text), sent: false, queued: false };
    }
    if (entry.queued) return;
    if (queue.length >= (o.queueSize ?? 1000)) return void counter?.inc({ result: "dropped" });
    known.set(id, entry);
    entry.queued = true;
    queue.push(entry);
    // Not at once: what is told in the same moment is sent together.
    sending ??= Promise.resolve().then(drain).finally(() => sending = undefined);
  }

  function newEvent(about: KubeObject, type: "Normal" | "Warning", reason: string, message: string): CoreEvent {
    const { namespace, name, uid, resourceVersion } = about.metadata;
    const now = rfc3339(o.clock.now());
    const suffix = crypto.randomUUID().replaceAll("-", "").slice(0, 16);
    return {
      apiVersion: "v1",
      kind: "Event",
      // Events of cluster-scoped objects live in the namespace default.
      metadata: { namespace: namespace ?? "default", name: `${name.slice(0, 230)}.${suffix}` },
      involvedObject: {
        apiVersion: about.apiVersion,
        kind: about.kind,
        name,
        ...(namespace ? { namespace } : {}),
        ...(uid ? { uid } : {}),
        ...(resourceVersion ? { resourceVersion } : {}),
      },
      type,
      reason: reason.slice(0, 128),
      message,
      count: 1,
      firstTimestamp: now,
      lastTimestamp: now,
      source: { component: o.component },
      reportingComponent: o.component,
      reportingInstance: o.instance,
    };
  }

  async function drain(): Promise<void> {
    for (let entry = queue.shift(); entry; entry = queue.shift()) {
      entry.queued = false;
      try {
        await send(entry);
        counter?.inc({ result: "sent" });
      } catch (error) {
        counter?.inc({ result: "failed" });
        if (!abort.signal.aborted) {
          o.logger.debug("Event not sent", { reason: entry.event.reason, error: String(error) });
        }
      }
    }
  }

  async function send(entry: Entry): Promise<void> {
    for (let attempt = 0;; attempt++) {
      abort.signal.throwIfAborted();
      try {
        return await sendOnce(entry);
      } catch (error) {
        const final = error instanceof StatusError && error.code < 500 && error.code !== 429;
        if (final || attempt + 1 >= (o.attempts ?? 4)) throw error;
        await sleep(o.clock, backoffDelay(attempt, { minMs: 1000 }), abort.signal);
      }
    }
  }

  async function sendOnce(entry: Entry): Promise<void> {
    const { event } = entry;
    if (entry.sent) {
      const body = { count: event.count, lastTimestamp: event.lastTimestamp };
      try {
        await o.client.patch(EVENTS, event.metadata, { type: "merge", body }, { signal: abort.signal });
        return;
      } catch (error) {
        // The server forgets events after a time.
        if (!hasReason(error, "NotFound")) throw error;
        entry.sent = false;
      }
    }
    try {
      await o.client.create(EVENTS, event, { signal: abort.signal });
    } catch (error) {
      // An earlier try got through although its answer did not.
      if (!hasReason(error, "AlreadyExists")) throw error;
    }
    entry.sent = true;
  }

  return {
    event(about, type, reason, message) {
      if (abort.signal.aborted) return;
      try {
        record(about, type, reason, message);
      } catch (error) {
        o.logger.error("Event not recorded", error);
      }
    },
    async stop(ms = 2000) {
      const cancel = o.clock.after(ms, () => abort.abort(new Error("The recorder was stopped")));
      await sending;
      cancel();
      abort.abort(new Error("The recorder was stopped"));
    },
  };
}

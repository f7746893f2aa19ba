/** {@link KubeClient} over any {@link Transport}. @module */
import { isObject, parseJson, stringifyJson } from "../json/mod.ts";
import { type Clock, sleep, systemClock } from "../runtime/clock.ts";
import type { Metrics } from "../runtime/metrics.ts";
import {
  type KubeClient,
  type Patch,
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
  type WatchEvent,
  type WriteOptions,
} from "./contract.ts";
import { collectionPath, listQuery, objectPath, query, watchQuery } from "./paths.ts";
import { RateLimiter } from "./rate_limit.ts";
import { errorOfAnswer, readAnswer } from "./response.ts";
import type { KubeObject, ObjectKey, Resource } from "./types.ts";

/** Options of {@link createKubeClient}. */
export interface KubeClientOptions {
  /** Requests a second in the long run. @default no limit */
  qps?: number;
  /** Requests at once above `qps`. @default 2 × qps */
  burst?: number;
  /** Longest time to the whole answer, or to the head of a watch's answer, ms. @default 60_000 */
  requestTimeoutMs?: number;
  /** Repeats of a request answered 429 or 503 with Retry-After. @default 4 */
  maxRetries?: number;
  /** Longest wait before one such repeat, ms. @default 30_000 */
  maxRetryWaitMs?: number;
  /** @default "convoy" */
  userAgent?: string;
  /** Label `server` of the metrics: which of the servers that a process talks to. @default "convoy" */
  name?: string;
  clock?: Clock;
  metrics?: Metrics;
}

const PATCH_TYPES = {
  apply: "application/apply-patch+yaml",
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
} as const;

/** Makes a client; closing it closes the transport. */
export function createKubeClient(transport: Transport, options: KubeClientOptions = {}): KubeClient {
  const send = sender(transport, options);

  async function json<T>(request: TransportRequest, what: string): Promise<T> {
    return await send(request, async (response) => await readAnswer(response, what) as T);
  }

  async function write<T>(
    method: "POST" | "PUT" | "PATCH",
    path: string,
    body: unknown,
    contentType: string,
    o: WriteOptions & { force?: boolean },
    what: string,
  ): Promise<T> {
    return await json<T>({
      method,
      path: path + query({
        fieldManager: o.fieldManager,
        dryRun: o.dryRun ? "All" : undefined,
        fieldValidation: o.fieldValidation,
        force: o.force || undefined,
      }),
      headers: { "content-type": contentType, ...impersonation(o) },
      body: stringifyJson(body),
      ...(o.signal ? { signal: o.signal } : {}),
    }, what);
  }

  const client: KubeClient = {
    get(r, key, o = {}) {
      return json({ method: "GET", path: objectPath(r, key, o.subresource), ...pick(o) }, `get ${describe(r, key)}`);
    },
    list(r, o = {}) {
      return json(
        { method: "GET", path: collectionPath(r, o.namespace) + listQuery(o), ...pick(o) },
        `list ${r.plural}`,
      );
    },
    async watch<T extends KubeObject>(r: Resource, o: Parameters<KubeClient["watch"]>[1] = {}) {
      const what = `watch ${r.plural}`;
      const path = collectionPath(r, o.namespace) + watchQuery(o);
      return await send({ method: "GET", path, ...pick(o) }, async (answer, release) => {
        if (answer.status !== 200) throw errorOfAnswer(answer.status, await answer.text(), what);
        return watchEvents<T>(answer, what, o.signal, release);
      }, true);
    },
    create(r, object, o = {}) {
      const { namespace, name } = object.metadata;
      // A subresource such as pods/x/eviction is created below its object.
      const path = o.subresource ? objectPath(r, object.metadata, o.subresource) : collectionPath(r, namespace);
      if (r.namespaced && !namespace) throw new TypeError(`Cannot create ${r.kind} "${name}": it has no namespace`);
      return write("POST", path, object, "application/json", o, `create ${describe(r, object.metadata)}`);
    },
    update(r, object, o = {}) {
      const path = objectPath(r, object.metadata, o.subresource);
      return write("PUT", path, object, "application/json", o, `update ${describe(r, object.metadata)}`);
    },
    patch<T extends KubeObject>(r: Resource, key: ObjectKey, patch: Patch, o: WriteOptions = {}) {
      const force = patch.type === "apply" && patch.force === true;
      const path = objectPath(r, key, o.subresource);
      return write<T>("PATCH", path, patch.body, PATCH_TYPES[patch.type], { ...o, force }, `patch ${describe(r, key)}`);
    },
    apply(r, object, o) {
      const path = objectPath(r, object.metadata, o.subresource);
      return write("PATCH", path, object, PATCH_TYPES.apply, o, `apply ${describe(r, object.metadata)}`);
    },
    async delete(r, key, o = {}) {
      const body = {
        apiVersion: "v1",
        kind: "DeleteOptions",
        ...(o.preconditions ? { preconditions: o.preconditions } : {}),
        ...(o.propagationPolicy ? { propagationPolicy: o.propagationPolicy } : {}),
        ...(o.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: o.gracePeriodSeconds }),
      };
      await json({
        method: "DELETE",
        path: objectPath(r, key) + query({ dryRun: o.dryRun ? "All" : undefined }),
        headers: { "content-type": "application/json", ...impersonation(o) },
        body: stringifyJson(body),
        ...pick(o),
      }, `delete ${describe(r, key)}`);
    },
    raw(request) {
      return json({
        method: request.method,
        path: request.path,
        headers: {
          ...(request.accept ? { accept: request.accept } : {}),
          ...(request.body === undefined ? {} : { "content-type": request.contentType ?? "application/json" }),
        },
        ...(request.body === undefined ? {} : { body: stringifyJson(request.body) }),
        ...pick(request),
      }, `${request.method} ${request.path.split("?")[0]}`);
    },
    close: () => transport.close(),
  };
  // Argument errors reach the caller the same way as all others: as a rejection.
  for (const verb of ["get", "list", "create", "update", "patch", "apply", "raw"] as const) {
    const inner = client[verb] as (...args: unknown[]) => Promise<unknown>;
    (client as unknown as Record<string, unknown>)[verb] = async (...args: unknown[]) => await inner(...args);
  }
  return client;
}

function pick(o: { signal?: AbortSignal }): { signal?: AbortSignal } {
  return o.signal ? { signal: o.signal } : {};
}

function describe(r: Resource, key: { namespace?: string; name: string }): string {
  return `${r.kind} ${key.namespace ? `${key.namespace}/` : ""}${key.name}`;
}

function impersonation(o: Pick<WriteOptions, "impersonate">): Record<string, string | string[]> {
  if (!o.impersonate) return {};
  const { user, groups } = o.impersonate;
  return { "impersonate-user": user, ...(groups?.length ? { "impersonate-group": groups } : {}) };
}

/** Sends with the limit of rate, the time limit, repeats of 429, and metrics. */
function sender(transport: Transport, o: KubeClientOptions) {
  const clock = o.clock ?? systemClock;
  const limiter = o.qps ? new RateLimiter(o.qps, o.burst ?? o.qps * 2, clock) : undefined;
  const timeoutMs = o.requestTimeoutMs ?? 60_000;
  const maxRetries = o.maxRetries ?? 4;
  const maxWait = o.maxRetryWaitMs ?? 30_000;
  const labels = ["server", "verb", "code"];
  const requests = o.metrics?.counter("convoy_kube_requests_total", "API requests by server, verb and code", labels);
  const server = o.name ?? "convoy";

  return async function send<T>(
    request: TransportRequest,
    read: (response: TransportResponse, release: () => void) => Promise<T>,
    stream = false,
  ): Promise<T> {
    const headers = { accept: "application/json", "user-agent": o.userAgent ?? "convoy", ...request.headers };
    const verb = stream ? "WATCH" : request.method;
    for (let attempt = 0;; attempt++) {
      await limiter?.acquire(request.signal);
      request.signal?.throwIfAborted();
      const limit = timeLimit(clock, timeoutMs, request.signal, transport.server ?? "the API server");
      let watching = false;
      try {
        const response = await transport.request({ ...request, headers, signal: limit.signal });
        requests?.inc({ server, verb, code: String(response.status) });
        const wait = retryAfter(response, maxWait);
        if (wait !== undefined && attempt < maxRetries) {
          await response.text();
          limit.stop();
          await sleep(clock, wait, request.signal);
          continue;
        }
        const result = await read(response, limit.stop);
        watching = stream;
        return result;
      } catch (error) {
        if (error instanceof TransportError) requests?.inc({ server, verb, code: "none" });
        throw error;
      } finally {
        // A watch goes on under the caller's signal; only its time limit ends here.
        if (watching) limit.stopTimer();
        else limit.stop();
      }
    }
  };
}

/** A signal that follows the caller's and is aborted with a TransportError after `ms`. */
function timeLimit(clock: Clock, ms: number, signal: AbortSignal | undefined, server: string) {
  const abort = new AbortController();
  const onAbort = () => abort.abort(signal!.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  const stopTimer = clock.after(
    ms,
    () => abort.abort(new TransportError(`Cannot reach ${server}: no answer within ${ms / 1000} s`)),
  );
  return {
    signal: abort.signal,
    stopTimer,
    stop() {
      stopTimer();
      signal?.removeEventListener("abort", onAbort);
    },
  };
}

function retryAfter(response: TransportResponse, max: number): number | undefined {
  if (response.status !== 429 && response.status !== 503) return undefined;
  const value = response.headers["retry-after"];
  if (value === undefined || !/^\d+$/.test(value.trim())) return undefined;
  return Math.min(max, Number(value) * 1000);
}

async function* watchEvents<T extends KubeObject>(
  response: TransportResponse,
  what: string,
  signal: AbortSignal | undefined,
  release: () => void,
): AsyncIterable<WatchEvent<T>> {
  try {
    for await (const line of response.lines()) {
      let event: unknown;
      try {
        event = parseJson(line);
      } catch {
        throw new TransportError(`Cannot ${what}: the server sent an event that is not JSON`);
      }
      if (!isObject(event) || typeof event.type !== "string" || !isObject(event.object)) {
        throw new TransportError(`Cannot ${what}: the server sent something that is not an event`);
      }
      yield event as unknown as WatchEvent<T>;
    }
  } catch (error) {
    // The caller ended it: no error to the caller.
    if (!signal?.aborted) throw error;
  } finally {
    release();
  }
}

/** The transport without sockets: calls an API server's handler in the same process. @module */
import type { ApiHandler, ServerResponse, UserInfo } from "../server/contract.ts";
import { type Transport, TransportError, type TransportRequest, type TransportResponse } from "./contract.ts";
import { splitLines } from "./lines.ts";

/** A transport to `handler`; all its requests come from `user`. Closing it ends its watches, not the handler. */
export function inProcessTransport(handler: ApiHandler, user: UserInfo): Transport {
  const open = new Set<AbortController>();
  let closed = false;
  return {
    server: "the API server of this process",
    async request(request: TransportRequest): Promise<TransportResponse> {
      if (closed) throw new TransportError("Cannot reach the API server of this process: the connection is closed");
      request.signal?.throwIfAborted();
      const abort = new AbortController();
      const onAbort = () => abort.abort(request.signal!.reason);
      request.signal?.addEventListener("abort", onAbort, { once: true });
      open.add(abort);
      const done = () => {
        request.signal?.removeEventListener("abort", onAbort);
        open.delete(abort);
      };
      try {
        const answer = await orAbort(
          handler.handle({
            method: request.method,
            path: request.path,
            headers: joined(request.headers),
            ...(request.body === undefined ? {} : { body: request.body }),
            user,
            signal: abort.signal,
          }),
          abort.signal,
        );
        return responseOf(answer, abort, done);
      } catch (error) {
        done();
        throw error;
      }
    },
    close() {
      closed = true;
      for (const abort of open) abort.abort(new TransportError("The connection to the API server was closed"));
      open.clear();
    },
  };
}

/** As an HTTP server hands over a header that was repeated. */
function joined(headers: TransportRequest["headers"] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, typeof v === "string" ? v : v.join(", ")]));
}

function responseOf(answer: ServerResponse, abort: AbortController, done: () => void): TransportResponse {
  const { body } = answer;
  const stream = typeof body === "string" || body instanceof Uint8Array ? undefined : body;
  if (!stream) done();
  return {
    status: answer.status,
    headers: answer.headers,
    async text() {
      if (typeof body === "string") return body;
      if (body instanceof Uint8Array) return new TextDecoder().decode(body);
      let text = "";
      try {
        for await (const piece of abortable(body, abort)) text += piece;
      } finally {
        done();
      }
      return text;
    },
    async *lines() {
      try {
        yield* splitLines(stream ? abortable(stream, abort) : [await this.text()]);
      } finally {
        done();
      }
    },
  };
}

/** The stream, cut off at once on abort even when the producer is slow to notice; tells the producer when left early. */
async function* abortable(stream: AsyncIterable<string>, abort: AbortController): AsyncIterable<string> {
  const iterator = stream[Symbol.asyncIterator]();
  let ended = false;
  try {
    for (;;) {
      const next = await orAbort(iterator.next(), abort.signal);
      if (next.done) {
        ended = true;
        return;
      }
      yield next.value;
    }
  } finally {
    if (!ended) {
      abort.abort(new DOMException("The reader left", "AbortError"));
      // Not awaited: a generator that hangs in its own await would hold the reader.
      iterator.return?.().catch(() => {});
    }
  }
}

function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => {});
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

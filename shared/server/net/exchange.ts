/** Reading a request and writing an answer, on HTTP/1.1 and HTTP/2 alike. @module */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse as Http1Response } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type ApiStatus, failure, type StatusError } from "../../kube/status.ts";
import { stringifyJson } from "../../json/mod.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { ServerResponse } from "../contract.ts";

/** node:http2's compatibility objects have the same surface as node:http's, as far as it is used here. */
export type Incoming = IncomingMessage | Http2ServerRequest;
/** See {@link Incoming}. */
export type Outgoing = (Http1Response | Http2ServerResponse) & {
  write(chunk: string | Uint8Array): boolean;
  end(chunk?: string | Uint8Array): unknown;
};

/** Largest request body, bytes (ssa.md 61). */
export const MAX_BODY = 3 * 1024 * 1024;
/** Answers from this length on are compressed when the client takes gzip, as kube-apiserver does. */
const GZIP_FROM = 128 * 1024;

const compress = promisify(gzip);

/** The client is gone; there is nobody to answer. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";
}

/** Headers as one record, names in lower case, without HTTP/2's pseudo headers. */
export function headersOf(request: Incoming): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || name.startsWith(":")) continue;
    headers[name] = Array.isArray(value) ? value.join(", ") : String(value);
  }
  return headers;
}

/**
 * Reads the body.
 *
 * @throws StatusError 413 when it is larger than `limit`, 408 when it did not come within `ms`; ClientGone
 */
export function readBody(
  request: Incoming,
  o: { limit: number; ms: number; clock: Clock },
): Promise<Buffer | undefined> {
  const { headers, method } = request;
  const declared = headers["content-length"];
  if (declared === undefined && headers["transfer-encoding"] === undefined && (method === "GET" || method === "HEAD")) {
    return Promise.resolve(undefined);
  }
  if (Number(declared ?? 0) > o.limit) return Promise.reject(tooLarge(o.limit));
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let size = 0;
    const done = (settle: () => void) => {
      cancel();
      request.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onClose);
      settle();
    };
    const onData = (piece: Buffer) => {
      size += piece.length;
      if (size <= o.limit) pieces.push(piece);
      else done(() => reject(tooLarge(o.limit)));
    };
    const onEnd = () => done(() => resolve(pieces.length > 0 ? Buffer.concat(pieces) : undefined));
    const onClose = () => done(() => reject(new ClientGone("The client went away while it sent the request")));
    const cancel = o.clock.after(
      o.ms,
      () =>
        done(() =>
          reject(failure(408, "Timeout", `Timeout: the request body did not come within ${Math.round(o.ms / 1000)} s`))
        ),
    );
    request.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
  });
}

function tooLarge(limit: number): StatusError {
  return failure(413, "RequestEntityTooLarge", `Request entity too large: limit is ${limit}`);
}

/** A Status as an answer. */
export function statusAnswer(status: ApiStatus): ServerResponse {
  const headers: Record<string, string> = { "content-type": "application/json", "cache-control": "no-cache, private" };
  const wait = status.details?.retryAfterSeconds;
  if (wait !== undefined) headers["retry-after"] = String(wait);
  return { status: status.code, headers, body: stringifyJson(status) };
}

/** Writes an answer that is there as a whole. */
export async function writeWhole(
  response: Outgoing,
  answer: { status: number; headers: Record<string, string>; body: string | Uint8Array },
  o: { acceptEncoding: string | undefined; head: boolean },
): Promise<void> {
  const headers: Record<string, string> = { ...answer.headers };
  let body: string | Uint8Array = answer.body;
  const gzipped = headers["content-encoding"] === undefined && body.length >= GZIP_FROM &&
    acceptsGzip(o.acceptEncoding);
  if (gzipped) {
    body = await compress(body, { level: 1 });
    headers["content-encoding"] = "gzip";
    headers["vary"] = "Accept-Encoding";
  }
  if (response.destroyed) return;
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  headers["content-length"] = String(bytes.length);
  response.writeHead(answer.status, headers);
  if (o.head || bytes.length === 0) response.end();
  else response.end(bytes);
}

/** Whether an Accept-Encoding header takes gzip. */
export function acceptsGzip(header: string | undefined): boolean {
  for (const part of (header ?? "").split(",")) {
    const [name, ...parameters] = part.split(";").map((p) => p.trim().toLowerCase());
    if (name === "gzip" || name === "*") return !parameters.some((p) => /^q=0(\.0*)?$/.test(p));
  }
  return false;
}

/**
 * Writes a stream, as fast as the client reads and no faster. Ends when the stream ends, when `stop` is aborted or when
 * the client took nothing for `stallMs`.
 *
 * @throws ClientGone, or what the stream threw
 */
export async function writeStream(
  response: Outgoing,
  answer: { status: number; headers: Record<string, string>; body: AsyncIterable<string> },
  o: { stop: AbortSignal; stallMs: number; clock: Clock },
): Promise<void> {
  response.writeHead(answer.status, answer.headers);
  // The client learns at once that the watch is there, not with its first event.
  if ("flushHeaders" in response) response.flushHeaders();
  const pieces = answer.body[Symbol.asyncIterator]();
  let onStop = () => {};
  const stopped = new Promise<"stop">((resolve) => {
    onStop = () => resolve("stop");
    o.stop.addEventListener("abort", onStop, { once: true });
    if (o.stop.aborted) onStop();
  });
  try {
    for (;;) {
      const next = await Promise.race([pieces.next(), stopped]);
      if (next === "stop" || next.done) break;
      if (response.destroyed) throw new ClientGone("The client went away");
      if (!response.write(next.value)) await drained(response, stopped, o);
    }
  } finally {
    o.stop.removeEventListener("abort", onStop);
    // Not awaited: a generator that waits for its next event returns only when it is woken.
    pieces.return?.(undefined)?.then(undefined, () => {});
  }
  if (!response.destroyed) response.end();
}

function drained(response: Outgoing, stopped: Promise<unknown>, o: { stallMs: number; clock: Clock }): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (settle: () => void) => {
      cancel();
      response.off("drain", onDrain);
      response.off("close", onClose);
      settle();
    };
    const onDrain = () => done(resolve);
    const onClose = () => done(() => reject(new ClientGone("The client went away")));
    const cancel = o.clock.after(o.stallMs, () => done(() => reject(new ClientGone("The client reads nothing"))));
    stopped.then(() => done(resolve));
    response.on("drain", onDrain);
    response.on("close", onClose);
    if (response.destroyed) onClose();
  });
}

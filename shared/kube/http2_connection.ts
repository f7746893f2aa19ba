/** One HTTP/2 session as a client: streams counted against the peer's limit, pings, answers. @module */
import http2 from "node:http2";
import type { TransportRequest, TransportResponse } from "./contract.ts";
import { LostConnection, markNotProcessed } from "./http_errors.ts";
import type { PoolTiming } from "./http_pool.ts";
import { splitLines } from "./lines.ts";

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants;

/** Streams on one connection when the peer names no limit, as Go's client assumes. */
const DEFAULT_STREAMS = 100;
/** How long the first settings of a peer are waited for, ms. */
const SETTINGS_MS = 5_000;

/** One connection. */
export class Http2Connection {
  /** Resolves when the peer's limits are known; rejects when the session ends before. */
  readonly ready: Promise<void>;
  readonly #session: http2.ClientHttp2Session;
  readonly #authority: string;
  readonly #timing: PoolTiming;
  #streams = 0;
  #max = DEFAULT_STREAMS;
  #usable = true;
  #stopPing = () => {};
  #error: Error | undefined;

  constructor(session: http2.ClientHttp2Session, authority: string, timing: PoolTiming, onGone: () => void) {
    this.#session = session;
    this.#authority = authority;
    this.#timing = timing;
    this.ready = new Promise((resolve, reject) => {
      const stop = timing.clock.after(SETTINGS_MS, resolve);
      session.on("remoteSettings", (settings) => {
        this.#max = Math.max(1, Math.min(settings.maxConcurrentStreams ?? DEFAULT_STREAMS, 2 ** 31));
        stop();
        resolve();
      });
      session.on("error", (error) => this.#error ??= error);
      session.on("goaway", () => this.retire());
      session.on("close", () => {
        this.#usable = false;
        this.#stopPing();
        stop();
        onGone();
        reject(this.#error ?? new LostConnection("the server closed the connection"));
      });
    });
    this.ready.catch(() => {});
    this.#schedulePing();
  }

  /** Takes a place for one stream; false when there is none. */
  reserve(): boolean {
    if (!this.#usable || this.#session.closed || this.#session.destroyed || this.#streams >= this.#max) return false;
    this.#streams++;
    return true;
  }

  /** No new streams; the session ends with its last one. */
  retire(): void {
    this.#usable = false;
    if (this.#streams === 0 && !this.#session.destroyed) this.#session.close();
  }

  destroy(error: Error): void {
    this.#usable = false;
    this.#error ??= error;
    this.#stopPing();
    if (!this.#session.destroyed) this.#session.destroy(error);
  }

  /** Sends a request on the place that was reserved; the place is free again when its stream has ended. */
  request(request: TransportRequest): Promise<TransportResponse> {
    return new Promise((resolve, reject) => {
      let stream: http2.ClientHttp2Stream;
      try {
        stream = this.#session.request({
          ...request.headers,
          ":method": request.method,
          ":path": request.path,
          ":scheme": "https",
          ":authority": this.#authority,
        }, { endStream: request.body === undefined });
      } catch (error) {
        this.#freed();
        reject(markNotProcessed(error as Error));
        return;
      }
      let answered = false;
      let failure: Error | undefined;
      const onAbort = () => stream.close(NGHTTP2_CANCEL);
      request.signal?.addEventListener("abort", onAbort, { once: true });
      stream.on("error", (error) => failure ??= error);
      stream.once("close", () => {
        request.signal?.removeEventListener("abort", onAbort);
        this.#freed();
        if (answered) return;
        if (request.signal?.aborted) return reject(request.signal.reason);
        const error = new LostConnection(
          (failure ?? this.#error)?.message || "the server ended the request without an answer",
          { cause: failure },
        );
        reject(stream.rstCode === NGHTTP2_REFUSED_STREAM ? markNotProcessed(error) : error);
      });
      stream.once("response", (headers) => {
        answered = true;
        resolve(this.#responseOf(stream, headers, request.signal));
      });
      if (request.body !== undefined) stream.end(request.body);
      if (request.signal?.aborted) onAbort();
    });
  }

  #freed(): void {
    this.#streams--;
    if (!this.#usable) this.retire();
  }

  #responseOf(
    stream: http2.ClientHttp2Stream,
    headers: http2.IncomingHttpHeaders,
    signal: AbortSignal | undefined,
  ): TransportResponse {
    const lost = () => new LostConnection(this.#error?.message ?? "the connection broke in the middle of an answer");
    async function* pieces(): AsyncIterable<string> {
      let whole = false;
      stream.setEncoding("utf8");
      // A session that breaks also ends its streams: only an orderly end with no reset code is the server's own.
      stream.once("end", () => whole = true);
      try {
        if (stream.destroyed && !stream.readableEnded && stream.readableLength === 0) throw lost();
        for await (const piece of stream) yield piece as string;
        if (signal?.aborted) throw signal.reason;
        if (!whole || (stream.rstCode ?? 0) !== NGHTTP2_NO_ERROR) throw lost();
      } catch (error) {
        throw signal?.aborted ? signal.reason : error;
      } finally {
        if (!whole && !stream.closed) stream.close(NGHTTP2_CANCEL);
      }
    }
    const plain: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) if (!name.startsWith(":")) plain[name] = String(value);
    return {
      status: Number(headers[":status"]),
      headers: plain,
      async text() {
        let text = "";
        for await (const piece of pieces()) text += piece;
        return text;
      },
      lines: () => splitLines(pieces()),
    };
  }

  #schedulePing(): void {
    const { clock, pingIntervalMs, pingTimeoutMs } = this.#timing;
    this.#stopPing = clock.after(pingIntervalMs, () => {
      if (this.#session.destroyed) return;
      this.#stopPing = clock.after(
        pingTimeoutMs,
        () => this.destroy(new LostConnection(`no answer to a ping within ${pingTimeoutMs / 1000} s`)),
      );
      this.#session.ping((error) => {
        this.#stopPing();
        if (!error && !this.#session.destroyed) this.#schedulePing();
      });
    });
  }
}

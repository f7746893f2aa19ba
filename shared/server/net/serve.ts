/** Puts an {@link ApiHandler} on TLS: HTTP/1.1 and HTTP/2, tokens and client certificates. @module */
import { createSecureServer, type Http2SecureServer } from "node:http2";
import { failure, StatusError } from "../../kube/status.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import { type Logger, silentLogger } from "../../runtime/logger.ts";
import type { ApiHandler, Authorizer, ServerResponse, UserInfo } from "../contract.ts";
import { ANONYMOUS, type Authenticator } from "./authenticate.ts";
import { Connections, peerOf } from "./connections.ts";
import {
  ClientGone,
  headersOf,
  type Incoming,
  MAX_BODY,
  type Outgoing,
  readBody,
  statusAnswer,
  writeStream,
  writeWhole,
} from "./exchange.ts";
import { toJson } from "./transcode.ts";
import { impersonate } from "./impersonate.ts";
import type { KeyPair } from "./issue.ts";

/** Options of {@link serveHttps}. */
export interface HttpsOptions {
  handler: ApiHandler;
  authenticator: Authenticator;
  /** Asked whether a user may impersonate another; without it nobody may. */
  authorizer?: Authorizer;
  /** Certificate and key of the server. */
  server: KeyPair;
  /** Authorities of client certificates, PEM. */
  clientCaPem: string;
  /** @default "127.0.0.1" */
  hostname?: string;
  /** 0 takes a free port. @default 0 */
  port?: number;
  /** Paths that need no credentials. @default healthz, livez, readyz and what is below them, version */
  isOpen?(path: string): boolean;
  limits?: Partial<HttpsLimits>;
  /** @default systemClock */
  clock?: Clock;
  logger?: Logger;
}

/** What a client may take of the server. Times in ms. */
export interface HttpsLimits {
  /** Bytes of a request body. @default 3 MiB */
  body: number;
  /** For the body to arrive; on HTTP/1.1 also for the head. @default 30_000 */
  bodyMs: number;
  /** For the handler to answer (a watch answers at once). @default 60_000 */
  answerMs: number;
  /** For a client of a stream to take anything. @default 60_000 */
  stallMs: number;
  /** Requests at once on one HTTP/2 connection. @default 1_000 */
  streams: number;
}

/** A server that listens. */
export interface HttpsServer {
  hostname: string;
  port: number;
  /** `https://HOST:PORT` */
  url: string;
  /** Replaces the certificate for connections to come. */
  renew(server: KeyPair): void;
  /** Ends the watches, lets other requests end for `graceMs`, then cuts. Does not close the handler. */
  close(graceMs?: number): Promise<void>;
}

const DEFAULT_LIMITS: HttpsLimits = {
  body: MAX_BODY,
  bodyMs: 30_000,
  answerMs: 60_000,
  stallMs: 60_000,
  streams: 1_000,
};

/** Health and version. */
export function isHealthOrVersion(path: string): boolean {
  return path === "/version" || /^\/(healthz|livez|readyz)(\/|$)/.test(path);
}

/** Listens. @throws Error when the address cannot be had */
export async function serveHttps(options: HttpsOptions): Promise<HttpsServer> {
  const hostname = options.hostname ?? "127.0.0.1";
  const front = new Front(options);
  const server = createSecureServer({
    allowHTTP1: true,
    key: options.server.keyPem,
    cert: options.server.certPem,
    ca: [options.clientCaPem],
    requestCert: true,
    // A bad certificate gets a 401 that says so, not a broken handshake.
    rejectUnauthorized: false,
    handshakeTimeout: 10_000,
    settings: { maxConcurrentStreams: front.limits.streams, maxHeaderListSize: 64 * 1024 },
  }, (request, response) => void front.handle(request, response as Outgoing));
  const connections = front.connections = new Connections(server, front.logger, front.clock, front.limits.bodyMs);
  const port = await listen(server, hostname, options.port ?? 0);
  server.on("error", (error) => front.logger.error("The server's socket failed", error));
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  return {
    hostname,
    port,
    url: `https://${host}:${port}`,
    renew: ({ certPem, keyPem }) => server.setSecureContext({ cert: certPem, key: keyPem, ca: [options.clientCaPem] }),
    async close(graceMs = 5_000) {
      front.stop();
      await connections.close(graceMs);
    },
  };
}

function listen(server: Http2SecureServer, hostname: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error) =>
      reject(new Error(`Cannot listen on ${hostname}:${port}: ${error.message}`, { cause: error }));
    server.once("error", onError);
    server.listen(port, hostname, () => {
      server.off("error", onError);
      resolve((server.address() as { port: number }).port);
    });
  });
}

/** One request after the other, each to an answer. */
class Front {
  readonly limits: HttpsLimits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly #streams = new Set<AbortController>();
  #stopping = false;
  connections!: Connections;

  constructor(readonly options: HttpsOptions) {
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.clock = options.clock ?? systemClock;
    this.logger = options.logger ?? silentLogger;
  }

  /** Ends the streams; what is asked from now on gets 503. */
  stop(): void {
    this.#stopping = true;
    for (const stream of this.#streams) stream.abort();
  }

  /** Never throws: whatever happens is answered, or ends this one exchange. */
  async handle(request: Incoming, response: Outgoing): Promise<void> {
    const end = this.connections.begin(request);
    const abort = new AbortController();
    const onClose = () => abort.abort();
    response.on("close", onClose);
    response.on("error", onClose);
    request.on("error", onClose);
    try {
      const answer = await this.#answer(request, abort);
      if (response.destroyed) return;
      const { body } = answer;
      if (typeof body === "string" || body instanceof Uint8Array) {
        const acceptEncoding = request.headers["accept-encoding"]?.toString();
        if (answer.status === 413 || answer.status === 408 || this.#stopping) {
          this.#last(request, response);
        }
        await writeWhole(response, { ...answer, body }, { acceptEncoding, head: request.method === "HEAD" });
      } else {
        await this.#stream(response, { ...answer, body }, abort);
      }
    } catch (error) {
      if (!(error instanceof ClientGone)) this.logger.error("Cannot write an answer", error);
      abort.abort();
      response.destroy(error instanceof Error ? error : undefined);
    } finally {
      response.off("close", onClose);
      end();
    }
  }

  async #stream(
    response: Outgoing,
    answer: { status: number; headers: Record<string, string>; body: AsyncIterable<string> },
    abort: AbortController,
  ): Promise<void> {
    const stop = new AbortController();
    const onGone = () => stop.abort();
    abort.signal.addEventListener("abort", onGone, { once: true });
    this.#streams.add(stop);
    if (this.#stopping || abort.signal.aborted) stop.abort();
    try {
      await writeStream(response, answer, { stop: stop.signal, stallMs: this.limits.stallMs, clock: this.clock });
    } finally {
      this.#streams.delete(stop);
      // Wakes the source of the stream, which may wait for its next event.
      abort.abort();
    }
  }

  /** HTTP/1.1: the rest of this request is not wanted, and there is no other way to say so. */
  #last(request: Incoming, response: Outgoing): void {
    if (request.httpVersionMajor < 2) response.setHeader("connection", "close");
    else request.resume();
  }

  async #answer(request: Incoming, abort: AbortController): Promise<ServerResponse> {
    try {
      if (this.#stopping) throw failure(503, "ServiceUnavailable", "The server is shutting down");
      const path = request.url ?? "";
      if (!path.startsWith("/")) throw failure(400, "BadRequest", "The request target must be a path");
      const headers = headersOf(request);
      const user = await this.#user(request, headers, path);
      const { body: limit, bodyMs, answerMs } = this.limits;
      const body = await readBody(request, { limit, ms: bodyMs, clock: this.clock });
      const asJson = body && toJson(body, headers);
      for (const name of Object.keys(headers)) {
        if (name === "authorization" || name.startsWith("impersonate-")) delete headers[name];
      }
      return await this.#within(answerMs, abort, () =>
        this.options.handler.handle({
          method: request.method ?? "GET",
          path,
          headers,
          ...(body ? { body: asJson ?? body } : {}),
          user,
          signal: abort.signal,
        }));
    } catch (error) {
      if (error instanceof ClientGone) throw error;
      if (error instanceof StatusError) return statusAnswer(error.status);
      this.logger.error("Cannot handle a request", error, { method: request.method });
      return statusAnswer(failure(500, "InternalError", "Internal error occurred: the server's log says more").status);
    }
  }

  async #user(request: Incoming, headers: Record<string, string>, path: string): Promise<UserInfo> {
    const certificate = peerOf(request);
    const user = await this.options.authenticator.authenticate({
      headers,
      path,
      ...(certificate === "bad" ? { badCertificate: true } : certificate ? { certificate } : {}),
    });
    const mark = path.indexOf("?");
    const isOpen = this.options.isOpen ?? isHealthOrVersion;
    if (user === undefined && isOpen(mark < 0 ? path : path.slice(0, mark))) return ANONYMOUS;
    if (user === undefined || user === "invalid") throw failure(401, "Unauthorized", "Unauthorized");
    return impersonate(user, request.rawHeaders, this.options.authorizer ?? NOBODY);
  }

  /** Aborts and answers 504 when the time is over. */
  #within(ms: number, abort: AbortController, run: () => Promise<ServerResponse>): Promise<ServerResponse> {
    return new Promise((resolve, reject) => {
      const cancel = this.clock.after(ms, () => {
        reject(failure(504, "Timeout", "Timeout: request did not complete within the allotted timeout", {}));
        abort.abort();
      });
      run().then(resolve, reject).finally(cancel);
    });
  }
}

const NOBODY: Authorizer = { authorize: () => Promise.resolve({ allowed: false }) };

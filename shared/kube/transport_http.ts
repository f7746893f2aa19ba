/** The transport to a server over HTTP/2, HTTP/1.1 where the server speaks no HTTP/2, or plain HTTP. @module */
import { type Clock, systemClock } from "../runtime/clock.ts";
import { type Transport, TransportError, type TransportRequest, type TransportResponse } from "./contract.ts";
import { type ClientIdentity, ConnectionPool, type TlsOptions } from "./http_pool.ts";
import { Http1Agent } from "./http1.ts";
import { isLostConnection, wasNotProcessed } from "./http_errors.ts";

/** What proves who asks. Both parts may be there; neither is anonymous. */
export interface Credential extends ClientIdentity {
  /** Value of the Authorization header. */
  authorization?: string;
}

/** Where credentials come from; asked before each request, so it caches. */
export interface CredentialSource {
  get(signal?: AbortSignal): Promise<Credential>;
  /** The server said 401: forget what is cached. True when the next `get` may give something else. */
  invalidate(): boolean;
}

/** Options of {@link httpTransport}. */
export interface HttpTransportOptions {
  /** Base URL, `https:` or `http:`, with an optional path prefix. */
  server: string;
  tls?: TlsOptions;
  credentials?: CredentialSource;
  /** Sent with each request, e.g. Impersonate-User of a kubeconfig. Names in lower case. */
  headers?: Record<string, string | string[]>;
  /** @default 10_000 */
  connectTimeoutMs?: number;
  /** A quiet HTTP/2 connection is pinged this often, ms. @default 30_000 */
  pingIntervalMs?: number;
  /** A ping without answer ends the connection after this time, ms. @default 15_000 */
  pingTimeoutMs?: number;
  clock?: Clock;
}

/** Makes the transport; nothing is connected before the first request. @throws TypeError for a bad `server`. */
export function httpTransport(options: HttpTransportOptions): Transport {
  const base = parseServer(options.server);
  const server = `${base.protocol}//${base.host}`;
  const prefix = base.pathname.replace(/\/+$/, "");
  const clock = options.clock ?? systemClock;
  const http1 = new Http1Agent(base, options.tls ?? {}, options.connectTimeoutMs ?? 10_000);
  const pool = new ConnectionPool(base, options.tls ?? {}, {
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    pingIntervalMs: options.pingIntervalMs ?? 30_000,
    pingTimeoutMs: options.pingTimeoutMs ?? 15_000,
    clock,
  });
  let closed = false;

  async function once(request: TransportRequest, path: string): Promise<TransportResponse> {
    const credential = await options.credentials?.get(request.signal) ?? {};
    request.signal?.throwIfAborted();
    const headers = {
      ...options.headers,
      ...(credential.authorization ? { authorization: credential.authorization } : {}),
      ...request.headers,
    };
    const full = { ...request, path, headers };
    if (base.protocol === "http:") return await http1.request(full, {});
    const connection = await pool.acquire(credential, request.signal);
    if (connection !== "http/1.1") return await connection.request(full);
    try {
      return await http1.request(full, credential);
    } catch (error) {
      // The server may speak HTTP/2 when it is back.
      if (isLostConnection(error)) pool.forgetProtocol();
      throw error;
    }
  }

  return {
    server,
    async request(request) {
      const path = prefix + request.path;
      for (let attempt = 0;; attempt++) {
        if (closed) throw new TransportError(`Cannot reach ${server}: the connection was closed by Convoy`);
        try {
          const response = await once(request, path);
          if (response.status !== 401 || attempt > 0 || !options.credentials?.invalidate()) return response;
          await response.text();
        } catch (error) {
          if (request.signal?.aborted) throw request.signal.reason;
          // A request that the server did not take on, or a read whose connection broke, is safe to repeat once.
          const again = wasNotProcessed(error) || (request.method === "GET" && isLostConnection(error));
          if (attempt > 0 || closed || !again) throw transportError(server, error);
        }
      }
    },
    close() {
      closed = true;
      pool.close();
      http1.close();
    },
  };
}

function parseServer(server: string): URL {
  if (!URL.canParse(server)) throw new TypeError("Cannot connect: the server address is not a URL");
  const url = new URL(server);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new TypeError(`Cannot connect to ${url.host}: the address must start with https:// or http://`);
  }
  if (url.username || url.password) {
    throw new TypeError(`Cannot connect to ${url.host}: a user or password in the address is not allowed`);
  }
  return url;
}

function transportError(server: string, error: unknown): Error {
  if (error instanceof TransportError) return error;
  const why = error instanceof Error ? error.message || error.name : String(error);
  return new TransportError(`Cannot reach ${server}: ${why}`, { cause: error });
}

/** Connections to one server: TLS with ALPN, and HTTP/2 sessions up to the peer's limit of streams. @module */
import http2 from "node:http2";
import net from "node:net";
import tls from "node:tls";
import type { Clock } from "../runtime/clock.ts";
import { LostConnection } from "./http_errors.ts";
import { Http2Connection } from "./http2_connection.ts";

/** How the server is trusted. */
export interface TlsOptions {
  /** PEM of the authorities. @default those of the machine */
  ca?: string;
  /** No check of the server's certificate. @default false */
  insecure?: boolean;
  /** Name that the certificate must bear. @default the host of the server's URL */
  serverName?: string;
}

/** A client certificate, PEM. */
export interface ClientIdentity {
  cert?: string;
  key?: string;
}

/** Timing of the pool, ms. */
export interface PoolTiming {
  connectTimeoutMs: number;
  pingIntervalMs: number;
  pingTimeoutMs: number;
  clock: Clock;
}

/** The part of the options of `node:tls` and `node:https` that concerns trust and identity. */
export interface TlsConnectOptions {
  ca?: string;
  cert?: string;
  key?: string;
  servername?: string;
  rejectUnauthorized: boolean;
}

/** The options for `node:tls` that follow from a server's URL, trust and a client certificate. */
export function tlsConnectOptions(base: URL, trust: TlsOptions, identity: ClientIdentity): TlsConnectOptions {
  const host = base.hostname.replace(/^\[|\]$/g, "");
  const servername = trust.serverName ?? (net.isIP(host) ? undefined : host);
  return {
    ...(trust.ca ? { ca: trust.ca } : {}),
    ...(identity.cert ? { cert: identity.cert } : {}),
    ...(identity.key ? { key: identity.key } : {}),
    ...(servername ? { servername } : {}),
    rejectUnauthorized: trust.insecure !== true,
  };
}

/** A pool for one server. */
export class ConnectionPool {
  readonly #base: URL;
  readonly #tls: TlsOptions;
  readonly #timing: PoolTiming;
  #connections: { identity: string; connection: Http2Connection }[] = [];
  #opening = new Map<string, Promise<void>>();
  #protocol: "h2" | "http/1.1" | undefined;
  #closed = false;

  constructor(base: URL, trust: TlsOptions, timing: PoolTiming) {
    this.#base = base;
    this.#tls = trust;
    this.#timing = timing;
  }

  /**
   * A connection with a stream reserved on it, or the word that the server speaks HTTP/1.1 only. One connection is
   * opened at a time; another only when those there are full.
   */
  async acquire(identity: ClientIdentity, signal?: AbortSignal): Promise<Http2Connection | "http/1.1"> {
    const id = `${identity.cert ?? ""}\n${identity.key ?? ""}`;
    for (;;) {
      if (this.#closed) throw new LostConnection("the connection was closed by Convoy");
      if (this.#protocol === "http/1.1") return "http/1.1";
      for (const { identity, connection } of this.#connections) {
        if (identity === id && connection.reserve()) return connection;
      }
      // A certificate was renewed: connections with the old one end when their streams have.
      for (const c of this.#connections) if (c.identity !== id) c.connection.retire();
      let opening = this.#opening.get(id);
      if (!opening) {
        opening = this.#open(identity, id).finally(() => this.#opening.delete(id));
        this.#opening.set(id, opening);
      }
      await orAbort(opening, signal);
    }
  }

  /** The next request finds out again what the server speaks. */
  forgetProtocol(): void {
    this.#protocol = undefined;
  }

  close(): void {
    this.#closed = true;
    for (const { connection } of this.#connections) connection.destroy(new LostConnection("closed by Convoy"));
    this.#connections = [];
  }

  async #open(identity: ClientIdentity, id: string): Promise<void> {
    const socket = await this.#handshake(identity);
    if (socket.alpnProtocol !== "h2") {
      socket.destroy();
      this.#protocol = "http/1.1";
      return;
    }
    this.#protocol = "h2";
    const session = http2.connect(this.#base.origin, { createConnection: () => socket });
    const connection = new Http2Connection(session, this.#base.host, this.#timing, () => {
      this.#connections = this.#connections.filter((c) => c.connection !== connection);
    });
    if (this.#closed) return connection.destroy(new LostConnection("closed by Convoy"));
    await connection.ready;
    this.#connections.push({ identity: id, connection });
  }

  #handshake(identity: ClientIdentity): Promise<tls.TLSSocket> {
    return new Promise((resolve, reject) => {
      const socket = tls.connect({
        host: this.#base.hostname.replace(/^\[|\]$/g, ""),
        port: Number(this.#base.port) || 443,
        ALPNProtocols: ["h2", "http/1.1"],
        ...tlsConnectOptions(this.#base, this.#tls, identity),
      });
      const stop = this.#timing.clock.after(
        this.#timing.connectTimeoutMs,
        () => socket.destroy(new Error(`no connection within ${this.#timing.connectTimeoutMs / 1000} s`)),
      );
      const onError = (error: Error) => {
        stop();
        reject(error);
      };
      socket.once("error", onError);
      socket.once("close", () => onError(new LostConnection("the server closed the connection")));
      socket.once("secureConnect", () => {
        stop();
        socket.removeListener("error", onError);
        socket.setNoDelay(true);
        resolve(socket);
      });
    });
  }
}

function orAbort<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** The sockets and HTTP/2 sessions of one server, so that it can be closed within a known time. @module */
import type { Http2SecureServer, ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { PeerCertificate } from "./authenticate.ts";
import type { Incoming } from "./exchange.ts";

/** Keeps track of connections and swallows what broken peers do to them. */
export class Connections {
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  /** HTTP/1.1 connections on which no request is being handled: each may wait only so long for its next one. */
  readonly #waiting = new Map<Socket, () => void>();
  #active = 0;
  #idle: (() => void)[] = [];

  /** `headMs`: time for the head of a request to arrive on a connection of HTTP/1.1, ms. */
  constructor(
    readonly server: Http2SecureServer,
    readonly logger: Logger,
    readonly clock: Clock,
    readonly headMs: number,
  ) {
    const broken = (what: string) => (error: Error & { code?: string }, about?: Socket | ServerHttp2Session) => {
      logger.debug("A peer broke its connection", { what, error: error?.message });
      if (what === "http1" && about && "end" in about && about.writable) about.end(refusal(error.code));
      else about?.destroy?.();
    };
    server.on("connection", (socket: Socket) => this.#track(this.#sockets, socket));
    server.on("secureConnection", (socket: TLSSocket) => {
      this.#track(this.#sockets, socket);
      socket.on("close", () => this.#stopWaiting(socket));
      if (socket.alpnProtocol !== "h2") this.#wait(socket);
    });
    server.on("session", (session: ServerHttp2Session) => {
      this.#track(this.#sessions, session);
      session.on("frameError", () => session.destroy());
    });
    server.on("tlsClientError", broken("tls"));
    server.on("clientError", broken("http1"));
    server.on("sessionError", broken("http2"));
    server.on("unknownProtocol", (socket: Socket) => socket.destroy());
  }

  #track<T extends Socket | ServerHttp2Session>(set: Set<T>, member: T): void {
    set.add(member);
    member.on("error", (error: Error) => this.logger.debug("A connection failed", { error: error.message }));
    member.on("close", () => set.delete(member));
  }

  /** Requests that are being handled. */
  get active(): number {
    return this.#active;
  }

  #wait(socket: Socket): void {
    if (socket.destroyed) return;
    this.#stopWaiting(socket);
    this.#waiting.set(socket, this.clock.after(this.headMs, () => socket.destroy()));
  }

  #stopWaiting(socket: Socket): void {
    this.#waiting.get(socket)?.();
    this.#waiting.delete(socket);
  }

  /** Counts a request until the returned function is called. */
  begin(request: Incoming): () => void {
    this.#active++;
    const socket = "stream" in request ? undefined : request.socket;
    if (socket) this.#stopWaiting(socket);
    return () => {
      if (socket) this.#wait(socket);
      if (--this.#active === 0) { for (const done of this.#idle.splice(0)) done(); }
    };
  }

  /** Takes no new connections, lets running requests end for `graceMs`, then cuts what is left. */
  async close(graceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const session of this.#sessions) session.close();
    if (this.#active > 0) {
      await new Promise<void>((resolve) => {
        const cancel = this.clock.after(graceMs, resolve);
        this.#idle.push(() => {
          cancel();
          resolve();
        });
      });
    }
    // A last answer may still be on its way out: sessions close by themselves when it is; then the rest is cut.
    await this.#gone(Math.min(graceMs, 500));
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #gone(ms: number): Promise<void> {
    if (this.#sessions.size === 0) return;
    await new Promise<void>((resolve) => {
      const cancel = this.clock.after(ms, resolve);
      for (const session of this.#sessions) {
        session.once("close", () => {
          if (this.#sessions.size > 0) return;
          cancel();
          resolve();
        });
      }
    });
  }
}

/** What a peer of HTTP/1.1 is told whose request cannot be read. */
function refusal(code: string | undefined): string {
  const line = code === "HPE_HEADER_OVERFLOW" ? "431 Request Header Fields Too Large" : "400 Bad Request";
  return `HTTP/1.1 ${line}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`;
}

/** The verified certificate of the peer of a request; `"bad"` when it showed one that is not trusted. */
export function peerOf(request: Incoming): PeerCertificate | "bad" | undefined {
  const socket = ("stream" in request ? request.stream.session?.socket : request.socket) as TLSSocket | undefined;
  if (!socket) return undefined;
  const key = ("stream" in request ? request.stream.session : socket) as object;
  if (!peers.has(key)) peers.set(key, readPeer(socket));
  return peers.get(key);
}

/** By session or socket: reading a certificate costs more than handling a small request. */
const peers = new WeakMap<object, PeerCertificate | "bad" | undefined>();

function readPeer(socket: TLSSocket): PeerCertificate | "bad" | undefined {
  const certificate = socket.getPeerCertificate();
  if (!certificate?.raw) return undefined;
  if (!socket.authorized) return "bad";
  const { CN, O } = certificate.subject as { CN?: string | string[]; O?: string | string[] };
  return {
    commonName: typeof CN === "string" ? CN : "",
    organizations: O === undefined ? [] : Array.isArray(O) ? O : [O],
    notAfter: Date.parse(certificate.valid_to),
  };
}

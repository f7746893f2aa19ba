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
  #active = 0;
  #idle: (() => void)[] = [];

  constructor(readonly server: Http2SecureServer, readonly logger: Logger) {
    const broken = (what: string) => (error: Error, about?: { destroy?(): void }) => {
      logger.debug("A peer broke its connection", { what, error: error?.message });
      about?.destroy?.();
    };
    server.on("connection", (socket: Socket) => this.#track(this.#sockets, socket));
    server.on("secureConnection", (socket: Socket) => this.#track(this.#sockets, socket));
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

  /** Counts a request until the returned function is called. */
  begin(): () => void {
    this.#active++;
    return () => {
      if (--this.#active === 0) { for (const done of this.#idle.splice(0)) done(); }
    };
  }

  /** Takes no new connections, lets running requests end for `graceMs`, then cuts what is left. */
  async close(graceMs: number, clock: Clock): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const session of this.#sessions) session.close();
    if (this.#active > 0) {
      await new Promise<void>((resolve) => {
        const cancel = clock.after(graceMs, resolve);
        this.#idle.push(() => {
          cancel();
          resolve();
        });
      });
    }
    // A last answer may still be on its way out: sessions close by themselves when it is; then the rest is cut.
    await this.#gone(Math.min(graceMs, 500), clock);
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #gone(ms: number, clock: Clock): Promise<void> {
    if (this.#sessions.size === 0) return;
    await new Promise<void>((resolve) => {
      const cancel = clock.after(ms, resolve);
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

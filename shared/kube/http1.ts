/** HTTP/1.1 requests, for servers without HTTP/2 and for plain http. @module */
import http from "node:http";
import https from "node:https";
import type { TransportRequest, TransportResponse } from "./contract.ts";
import { type ClientIdentity, tlsConnectOptions, type TlsOptions } from "./http_pool.ts";
import { LostConnection } from "./http_errors.ts";
import { splitLines } from "./lines.ts";

/** Sends requests to one server, with kept connections. */
export class Http1Agent {
  readonly #base: URL;
  readonly #tls: TlsOptions;
  readonly #connectTimeoutMs: number;
  #agent: { identity: string; agent: http.Agent } | undefined;

  constructor(base: URL, tls: TlsOptions, connectTimeoutMs: number) {
    this.#base = base;
    this.#tls = tls;
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  request(request: TransportRequest, identity: ClientIdentity): Promise<TransportResponse> {
    const secure = this.#base.protocol === "https:";
    const options: https.RequestOptions = {
      host: this.#base.hostname.replace(/^\[|\]$/g, ""),
      port: Number(this.#base.port) || (secure ? 443 : 80),
      method: request.method,
      path: request.path,
      headers: {
        ...request.headers as http.OutgoingHttpHeaders,
        host: this.#base.host,
        ...(request.body === undefined
          ? {}
          : { "content-length": String(new TextEncoder().encode(request.body).length) }),
      },
      agent: this.#agentFor(identity, secure),
    };
    return new Promise((resolve, reject) => {
      const outgoing = secure ? https.request(options) : http.request(options);
      const onAbort = () => outgoing.destroy(new LostConnection("the request was ended"));
      request.signal?.addEventListener("abort", onAbort, { once: true });
      const forget = () => request.signal?.removeEventListener("abort", onAbort);
      outgoing.on("socket", (socket) => {
        if (!socket.connecting) return;
        const timer = setTimeout(
          () => outgoing.destroy(new Error(`no connection within ${this.#connectTimeoutMs / 1000} s`)),
          this.#connectTimeoutMs,
        );
        const stop = () => clearTimeout(timer);
        socket.once("connect", () => {
          stop();
          // Finds out a peer that vanished while a watch is quiet.
          socket.setKeepAlive(true, 30_000);
        });
        socket.once("close", stop);
        outgoing.once("close", stop);
      });
      outgoing.once("error", (error) => {
        forget();
        reject(request.signal?.aborted ? request.signal.reason : error);
      });
      outgoing.once("response", (incoming: http.IncomingMessage) => {
        incoming.once("close", forget);
        resolve(responseOf(incoming, request.signal));
      });
      outgoing.end(request.body);
    });
  }

  close(): void {
    this.#agent?.agent.destroy();
    this.#agent = undefined;
  }

  #agentFor(identity: ClientIdentity, secure: boolean): http.Agent {
    const id = `${identity.cert ?? ""}\n${identity.key ?? ""}`;
    if (this.#agent?.identity !== id) {
      this.#agent?.agent.destroy();
      const common = { keepAlive: true, maxSockets: Infinity };
      this.#agent = {
        identity: id,
        agent: secure
          ? new https.Agent({ ...common, ...tlsConnectOptions(this.#base, this.#tls, identity) })
          : new http.Agent(common),
      };
    }
    return this.#agent.agent;
  }
}

function responseOf(incoming: http.IncomingMessage, signal: AbortSignal | undefined): TransportResponse {
  async function* pieces(): AsyncIterable<string> {
    let whole = false;
    incoming.setEncoding("utf8");
    incoming.once("end", () => whole = incoming.complete);
    try {
      for await (const piece of incoming) yield piece as string;
      if (signal?.aborted) throw signal.reason;
      if (!whole && !incoming.complete) throw new LostConnection("the connection broke in the middle of an answer");
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    } finally {
      if (!whole) incoming.destroy();
    }
  }
  return {
    status: incoming.statusCode ?? 0,
    headers: Object.fromEntries(Object.entries(incoming.headers).map(([k, v]) => [k, String(v)])),
    async text() {
      let text = "";
      for await (const piece of pieces()) text += piece;
      return text;
    },
    lines: () => splitLines(pieces()),
  };
}

/** A server on TLS with a handler of the test's own, and clients to talk to it. @module */
import { Buffer } from "node:buffer";
import http2 from "node:http2";
import https from "node:https";
import { systemClock } from "../../runtime/clock.ts";
import type { ApiHandler, ServerRequest, ServerResponse } from "../contract.ts";
import { anyOf, certificateAuthenticator } from "./authenticate.ts";
import { type Certificates, makeCertificates } from "./certificates.ts";
import { type HttpsOptions, type HttpsServer, serveHttps } from "./serve.ts";
import { parseTokens, tokenAuthenticator } from "./token_file.ts";

/** One answer, read to its end. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** A running server. */
export interface Running {
  server: HttpsServer;
  certificates: Certificates;
  /** What the handler was asked, newest last. */
  asked: ServerRequest[];
  h2(o?: http2.SecureClientSessionOptions): http2.ClientHttp2Session;
  close(): Promise<void>;
}

let shared: Promise<Certificates> | undefined;

/** Starts a server whose tokens are `alice-token`, `root-token`. */
export async function start(
  handle: (request: ServerRequest) => Promise<ServerResponse> | ServerResponse,
  options: Partial<HttpsOptions> = {},
  certificates?: Certificates,
): Promise<Running> {
  const certs = certificates ?? await (shared ??= makeCertificates(["localhost", "127.0.0.1"], systemClock));
  const tokens = parseTokens(`alice-token,alice,1,"dev,ops"\nroot-token,root,2,system:masters`);
  const asked: ServerRequest[] = [];
  const handler: ApiHandler = {
    async handle(request) {
      asked.push(request);
      return handle(request);
    },
    close: () => Promise.resolve(),
  };
  const server = await serveHttps({
    handler,
    authenticator: anyOf([certificateAuthenticator(Date.now), tokenAuthenticator(() => tokens)]),
    server: certs.server,
    clientCaPem: certs.caPem,
    ...options,
  });
  const sessions = new Set<http2.ClientHttp2Session>();
  return {
    server,
    certificates: certs,
    asked,
    h2(o = {}) {
      const session = http2.connect(server.url, { ca: certs.caPem, ...o });
      session.on("error", () => {});
      sessions.add(session);
      return session;
    },
    async close() {
      for (const session of sessions) session.destroy();
      await server.close(1_000);
    },
  };
}

/** A request on an HTTP/2 session. Rejects when the stream breaks. */
export function ask(
  session: http2.ClientHttp2Session,
  headers: http2.OutgoingHttpHeaders,
  body?: string | Uint8Array,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ authorization: "Bearer alice-token", ...headers }, {
      endStream: body === undefined,
    });
    const pieces: Buffer[] = [];
    let head: http2.IncomingHttpHeaders = {};
    stream.on("response", (h) => head = h);
    stream.on("data", (piece: Buffer) => pieces.push(piece));
    stream.on("error", reject);
    session.once("error", reject);
    stream.on("close", () => {
      const status = Number(head[":status"]);
      if (!status) return reject(new Error("The stream closed without an answer"));
      resolve({ status, headers: head as Record<string, string>, body: Buffer.concat(pieces) });
    });
    if (body !== undefined) stream.end(body);
  });
}

/** A request on HTTP/1.1, on a connection of its own. */
export function ask1(
  running: Running,
  o: https.RequestOptions,
  body?: string | Uint8Array,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = https.request({
      host: "localhost",
      port: running.server.port,
      ca: running.certificates.caPem,
      agent: false,
      ...o,
      headers: { authorization: "Bearer alice-token", ...o.headers as Record<string, string> },
    }, (message) => {
      const pieces: Buffer[] = [];
      message.on("data", (piece: Buffer) => pieces.push(piece));
      message.on("error", reject);
      message.on("end", () =>
        resolve({
          status: message.statusCode!,
          headers: message.headers as Record<string, string>,
          body: Buffer.concat(pieces),
        }));
    });
    request.on("error", reject);
    request.end(body);
  });
}

/** A JSON answer of a handler. */
export function json(value: unknown, status = 200): ServerResponse {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}

/** A proxy before `git http-backend`, for what real servers do beside serving. @module */
import { request as send } from "node:http";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";

/** What a proxy does with a request before it is passed on; true = it was answered. */
export type Before = (request: IncomingMessage, response: ServerResponse) => boolean;

/** How a proxy works. */
export interface ProxyOptions {
  before?: Before;
  /** Stops sending after so many bytes of an answer, and leaves the connection open. */
  stallAfter?: number;
  tls?: { key: string; cert: string };
}

/** A running proxy. */
export interface Proxy {
  url: string;
  port: number;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a proxy on a free port of loopback. */
export async function startProxy(target: string, o: ProxyOptions = {}): Promise<Proxy> {
  const listener: RequestListener = (request, response) => {
    if (o.before?.(request, response)) return;
    const upstream = send(
      target + request.url,
      { method: request.method ?? "GET", headers: request.headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        let bytes = 0;
        answer.on("data", (chunk: Uint8Array) => {
          bytes += chunk.length;
          if (o.stallAfter === undefined || bytes <= o.stallAfter) response.write(chunk);
        });
        answer.on("end", () => {
          if (o.stallAfter === undefined || bytes <= o.stallAfter) response.end();
        });
      },
    );
    upstream.on("error", () => response.destroy());
    request.pipe(upstream);
  };
  const server = o.tls ? createTlsServer(o.tls, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${o.tls ? "https" : "http"}://127.0.0.1:${port}`,
    port,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

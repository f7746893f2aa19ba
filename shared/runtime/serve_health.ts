/** `/metrics`, `/healthz` and `/readyz` of a process, over plain HTTP. @module */
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Metrics } from "./metrics.ts";

/** Options of {@link serveHealth}. */
export interface HealthServerOptions {
  /** `HOST:PORT`; port 0 = a free one; an IPv6 host in brackets. */
  listen: string;
  metrics: Metrics;
  /** What is not ready yet, each with its reason; empty = ready. */
  notReady?: () => string[];
  /** What is broken; empty = alive. @default always alive */
  unhealthy?: () => string[];
  /** Further paths: each is asked first and resolves to whether it answered. */
  handlers?: ((request: IncomingMessage, response: ServerResponse) => Promise<boolean>)[];
}

/** A running server. */
export interface HealthServer {
  /** `HOST:PORT` as bound. */
  address: string;
  close(): Promise<void>;
}

/** Starts the server. @throws TypeError for a bad address; Error when it cannot be bound. */
export async function serveHealth(o: HealthServerOptions): Promise<HealthServer> {
  const { host, port } = parseListen(o.listen);
  const server = http.createServer(async (request, response) => {
    const path = (request.url ?? "/").split("?")[0];
    const answer = (code: number, text: string, type = "text/plain; charset=utf-8") => {
      response.writeHead(code, { "content-type": type, "content-length": new TextEncoder().encode(text).length });
      response.end(request.method === "HEAD" ? undefined : text);
    };
    try {
      for (const handler of o.handlers ?? []) if (await handler(request, response)) return;
      if (request.method !== "GET" && request.method !== "HEAD") return answer(405, "method not allowed\n");
      if (path === "/metrics") return answer(200, await o.metrics.text(), "text/plain; version=0.0.4; charset=utf-8");
      if (path === "/healthz" || path === "/livez") return answer(...verdict(o.unhealthy?.() ?? []));
      if (path === "/readyz") return answer(...verdict([...o.unhealthy?.() ?? [], ...o.notReady?.() ?? []]));
      answer(404, "not found\n");
    } catch {
      answer(500, "internal error\n");
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once(
      "error",
      (error) => reject(new Error(`Cannot listen on ${o.listen}: ${error.message}`, { cause: error })),
    );
    server.listen(port, host, resolve);
  });
  const bound = server.address() as AddressInfo;
  return {
    address: `${bound.family === "IPv6" ? `[${bound.address}]` : bound.address}:${bound.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function verdict(problems: string[]): [number, string] {
  return problems.length === 0 ? [200, "ok\n"] : [503, problems.map((p) => `not ok: ${p}\n`).join("")];
}

/** Splits `HOST:PORT`. @throws TypeError */
export function parseListen(listen: string): { host: string; port: number } {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]*):(\d{1,5})$/.exec(listen);
  const port = Number(match?.[2]);
  if (!match || port > 65535) throw new TypeError(`Cannot listen on "${listen}": it is not HOST:PORT`);
  return { host: match[1]!.replace(/^\[|\]$/g, "") || "127.0.0.1", port };
}

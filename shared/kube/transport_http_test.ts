import assert from "node:assert/strict";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import net, { type AddressInfo } from "node:net";
import { eventually, testAuthority } from "../testing/mod.ts";
import { createKubeClient, httpTransport, type HttpTransportOptions, StatusError, TransportError } from "./mod.ts";
import type { Credential } from "./mod.ts";

const authority = await testAuthority();
const serverCert = await authority.server("127.0.0.1", "api.example");
const alice = await authority.client("alice", ["ops", "dev"]);

type Handler = (request: http.IncomingMessage, response: http.ServerResponse, body: string) => void;

interface TestServer extends AsyncDisposable {
  url: string;
  port: number;
  sessions: Set<http2.ServerHttp2Session>;
}

async function serve(
  kind: "h2" | "h1" | "http",
  handler: Handler,
  options: { maxStreams?: number } = {},
): Promise<TestServer> {
  const sessions = new Set<http2.ServerHttp2Session>();
  const sockets = new Set<net.Socket>();
  const onRequest = (request: http.IncomingMessage, response: http.ServerResponse) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (piece) => body += piece);
    request.on("end", () => handler(request, response, body));
  };
  const tls = { ...serverCert, ca: authority.ca, requestCert: true, rejectUnauthorized: false };
  const server = kind === "http"
    ? http.createServer(onRequest)
    : kind === "h1"
    ? https.createServer(tls, onRequest)
    : http2.createSecureServer({
      ...tls,
      allowHTTP1: true,
      settings: { maxConcurrentStreams: options.maxStreams ?? 250 },
    }, onRequest as never);
  server.on("connection", (socket: net.Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });
  server.on("session", (session: http2.ServerHttp2Session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    session.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${kind === "http" ? "http" : "https"}://127.0.0.1:${port}`,
    port,
    sessions,
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const echo: Handler = (request, response, body) => {
  const peer = (request.socket as unknown as { getPeerCertificate?: () => { subject?: { CN?: string } } })
    .getPeerCertificate?.();
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({
    version: request.httpVersion,
    method: request.method,
    url: request.url,
    user: peer?.subject?.CN,
    authorization: request.headers.authorization,
    groups: request.headers["impersonate-group"],
    body,
  }));
};

function connect(url: string, options: Partial<HttpTransportOptions> = {}) {
  return httpTransport({ server: url, tls: { ca: authority.ca }, ...options });
}

const fixed = (credential: Credential) => ({ get: () => Promise.resolve(credential), invalidate: () => false });

for (const kind of ["h2", "h1", "http"] as const) {
  Deno.test(`httpTransport() over ${kind} sends method, prefix, headers, body and identity`, async () => {
    await using server = await serve(kind, echo);
    const transport = connect(server.url + "/prefix/", { credentials: fixed({ ...alice, authorization: "Bearer t" }) });
    const response = await transport.request({
      method: "PATCH",
      path: "/api/v1/x?y=%20z",
      headers: { "content-type": "application/json", "impersonate-group": ["a", "b"] },
      body: '{"ä":1}',
    });
    const got = JSON.parse(await response.text());
    transport.close();
    assert.deepEqual(got, {
      version: kind === "h2" ? "2.0" : "1.1",
      method: "PATCH",
      url: "/prefix/api/v1/x?y=%20z",
      ...(kind === "http" ? {} : { user: "alice" }),
      authorization: "Bearer t",
      groups: "a, b",
      body: '{"ä":1}',
    });
  });

  Deno.test(`httpTransport() over ${kind} streams lines, ends with the server, and is cut off by the reader`, async () => {
    let closed = 0;
    await using server = await serve(kind, (request, response) => {
      response.on("close", () => closed++);
      response.writeHead(200);
      response.write('{"a":"ü"}\n{"b"');
      setTimeout(() => {
        response.write(":2}\n");
        if (request.url === "/ends") response.end();
      }, 5);
    });
    const transport = connect(server.url);
    const lines: string[] = [];
    for await (const line of (await transport.request({ method: "GET", path: "/ends" })).lines()) lines.push(line);
    assert.deepEqual(lines, ['{"a":"ü"}', '{"b":2}']);
    for await (const line of (await transport.request({ method: "GET", path: "/stays" })).lines()) {
      assert.equal(line, '{"a":"ü"}');
      break;
    }
    await eventually(() => closed === 2, { on: "the server to see both streams closed" });
    transport.close();
  });

  Deno.test(`httpTransport() over ${kind}: a connection that breaks in a stream is an error, not an end`, async () => {
    const server = await serve(kind, (_request, response) => {
      response.writeHead(200);
      response.write("one\n");
    });
    const transport = connect(server.url);
    const response = await transport.request({ method: "GET", path: "/" });
    await assert.rejects(async () => {
      for await (const line of response.lines()) {
        assert.equal(line, "one");
        await server[Symbol.asyncDispose]();
      }
    });
    transport.close();
  });

  Deno.test(`httpTransport() over ${kind}: abort ends a request that hangs`, async () => {
    const abort = new AbortController();
    await using server = await serve(kind, () => abort.abort(new Error("enough")));
    const transport = connect(server.url);
    const request = transport.request({ method: "GET", path: "/", signal: abort.signal });
    await assert.rejects(request, /enough/);
    transport.close();
  });
}

Deno.test("httpTransport() uses one connection up to the peer's limit of streams, then another", async () => {
  let closed = 0;
  await using server = await serve("h2", (_request, response) => {
    response.on("close", () => closed++);
    response.writeHead(200);
    response.write("x\n");
  }, { maxStreams: 3 });
  const transport = connect(server.url);
  const responses = await Promise.all(
    Array.from({ length: 3 }, () => transport.request({ method: "GET", path: "/" })),
  );
  assert.equal(server.sessions.size, 1);
  responses.push(await transport.request({ method: "GET", path: "/" }));
  assert.equal(server.sessions.size, 2);
  // A place that is freed is used again.
  for await (const _ of responses[0]!.lines()) break;
  await eventually(() => closed === 1, { on: "the stream to be closed" });
  responses.push(await transport.request({ method: "GET", path: "/" }));
  assert.equal(server.sessions.size, 2);
  transport.close();
});

Deno.test("httpTransport() connects anew after the server was away", async () => {
  const first = await serve("h2", echo);
  const transport = connect(first.url);
  await (await transport.request({ method: "GET", path: "/1" })).text();
  await first[Symbol.asyncDispose]();
  await assert.rejects(transport.request({ method: "GET", path: "/2" }), TransportError);
  // The same port again.
  const server = http2.createSecureServer({ ...serverCert, allowHTTP1: true }, echo as never);
  await new Promise<void>((resolve) => server.listen(first.port, "127.0.0.1", resolve));
  assert.equal((await transport.request({ method: "GET", path: "/3" })).status, 200);
  transport.close();
  await new Promise((resolve) => server.close(resolve));
});

Deno.test("httpTransport() finds a peer that vanished by its pings", async () => {
  await using server = await serve("h2", (_request, response) => {
    response.writeHead(200);
    response.write("one\n");
  });
  // A relay that can stop to pass anything on without closing.
  let silent = false;
  const sockets: net.Socket[] = [];
  const relay = net.createServer((from) => {
    const to = net.connect(server.port, "127.0.0.1");
    sockets.push(from, to);
    from.on("data", (d) => void (silent || to.write(d)));
    to.on("data", (d) => void (silent || from.write(d)));
    for (const s of [from, to]) s.on("error", () => {});
  });
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
  const { port } = relay.address() as AddressInfo;
  const transport = connect(`https://127.0.0.1:${port}`, { pingIntervalMs: 30, pingTimeoutMs: 60 });
  const response = await transport.request({ method: "GET", path: "/" });
  await assert.rejects(async () => {
    for await (const _ of response.lines()) silent = true;
  }, /no answer to a ping/);
  transport.close();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => relay.close(resolve));
});

Deno.test("httpTransport() stays connected while pings are answered", async () => {
  await using server = await serve("h2", (_request, response) => {
    response.writeHead(200);
    response.write("one\n");
    setTimeout(() => response.end("two\n"), 200);
  });
  const transport = connect(server.url, { pingIntervalMs: 10, pingTimeoutMs: 100 });
  const lines: string[] = [];
  for await (const line of (await transport.request({ method: "GET", path: "/" })).lines()) lines.push(line);
  assert.deepEqual(lines, ["one", "two"]);
  transport.close();
});

Deno.test("httpTransport() trusts only the given authority, the given name, or anyone when told so", async () => {
  await using server = await serve("h2", echo);
  const get = async (options: Partial<HttpTransportOptions>) => {
    const transport = connect(server.url, options);
    try {
      return (await transport.request({ method: "GET", path: "/" })).status;
    } finally {
      transport.close();
    }
  };
  assert.equal(await get({}), 200);
  assert.equal(await get({ tls: { ca: authority.ca, serverName: "api.example" } }), 200);
  await assert.rejects(get({ tls: { ca: authority.ca, serverName: "other.example" } }), TransportError);
  const stranger = await testAuthority();
  await assert.rejects(get({ tls: { ca: stranger.ca } }), TransportError);
  assert.equal(await get({ tls: { insecure: true } }), 200);
});

Deno.test("httpTransport() asks for new credentials once when the server says 401", async () => {
  let calls = 0;
  await using server = await serve("h2", (request, response) => {
    calls++;
    response.writeHead(request.headers.authorization === "Bearer new" ? 200 : 401);
    response.end("{}");
  });
  let token = "old";
  const transport = connect(server.url, {
    credentials: {
      get: () => Promise.resolve({ authorization: `Bearer ${token}` }),
      invalidate() {
        token = "new";
        return true;
      },
    },
  });
  assert.equal((await transport.request({ method: "GET", path: "/" })).status, 200);
  assert.equal(calls, 2);
  transport.close();
});

Deno.test("httpTransport(): errors name the server and hold no credential", async () => {
  const transport = httpTransport({
    server: "https://127.0.0.1:1",
    credentials: fixed({ authorization: "Bearer s3cr3t" }),
  });
  await assert.rejects(transport.request({ method: "GET", path: "/x" }), (error: Error) => {
    assert(error instanceof TransportError);
    assert.match(error.message, /^Cannot reach https:\/\/127\.0\.0\.1:1: /);
    assert.doesNotMatch(error.message + String(error.cause), /s3cr3t/);
    return true;
  });
  transport.close();
  assert.throws(() => httpTransport({ server: "https://u:p4ss@host" }), (error: Error) => !/p4ss/.test(error.message));
});

Deno.test("createKubeClient() over HTTP/2: a plain page with an error code is told apart from a Status", async () => {
  await using server = await serve("h2", (_request, response) => {
    response.writeHead(404, { "content-type": "text/plain" });
    response.end("404 page not found\n");
  });
  const client = createKubeClient(connect(server.url));
  await assert.rejects(client.raw({ method: "GET", path: "/apis/x/v1" }), (error: unknown) => {
    assert(error instanceof StatusError);
    assert.equal(error.code, 404);
    assert.equal(error.status.details?.causes?.[0]?.reason, "UnexpectedServerResponse");
    return true;
  });
  client.close();
});

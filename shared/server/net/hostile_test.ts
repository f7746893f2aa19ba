import assert from "node:assert/strict";
import net from "node:net";
import tls from "node:tls";
import { ask, ask1, json, type Running, start } from "./test_kit.ts";

async function using(running: Promise<Running>, run: (r: Running) => Promise<void>): Promise<void> {
  const r = await running;
  try {
    await run(r);
    const after = await ask(r.h2(), { ":path": "/after" });
    assert.equal(after.status, 200, "the server still answers");
  } finally {
    await r.close();
  }
}

const ok = () => json({ ok: true });

/** Sends bytes on a TLS connection and reads until the server closes it. */
function exchange(r: Running, bytes: string | Uint8Array, alpn: string[] = ["http/1.1"]): Promise<string> {
  return new Promise((resolve) => {
    const socket = tls.connect({
      port: r.server.port,
      host: "localhost",
      ca: r.certificates.caPem,
      ALPNProtocols: alpn,
    });
    let text = "";
    socket.on("secureConnect", () => socket.write(bytes));
    socket.on("data", (piece) => text += piece.toString());
    socket.on("error", (error) => text += `<${error.message}>`);
    socket.on("close", () => resolve(text));
    socket.on("end", () => socket.end());
  });
}

/** Sends bytes without TLS, then closes. */
function plain(r: Running, bytes: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = net.connect({ port: r.server.port, host: "127.0.0.1" }, () => socket.end(bytes));
    socket.on("error", () => {});
    socket.on("data", () => {});
    socket.on("close", () => resolve());
  });
}

Deno.test("serveHttps: peers that do not speak TLS, or close at once, change nothing", () =>
  using(start(ok), async (r) => {
    for (const bytes of ["", "GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\xff\xff", "\x00".repeat(1000), "\x16\x03\x01"]) {
      await plain(r, bytes);
    }
    assert.equal(r.asked.length, 0);
  }));

Deno.test("serveHttps: an ALPN that is not spoken ends the handshake only", () =>
  using(start(ok), async (r) => {
    assert.match(await exchange(r, "hello", ["spdy/9"]), /NoApplicationProtocol|alert|ALPN|disconnected|ECONNRESET/i);
  }));

Deno.test("serveHttps: garbage inside TLS ends that connection only", () =>
  using(start(ok), async (r) => {
    const garbage = crypto.getRandomValues(new Uint8Array(5_000));
    await exchange(r, garbage);
    await exchange(r, "GET /x HTTP/9.9\r\n\r\n");
    await exchange(r, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\xff".repeat(500), ["h2"]);
    await exchange(r, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x04\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00", ["h2"]);
    assert.equal(r.asked.length, 0);
  }));

Deno.test("serveHttps: request lines, header lines and header counts beyond reason are refused", () =>
  using(start(ok), async (r) => {
    const huge = "x".repeat(200_000);
    const one = await exchange(
      r,
      `GET /x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer alice-token\r\nBig: ${huge}\r\n\r\n`,
    );
    assert.match(one, /^HTTP\/1.1 (431|400)/);
    const session = r.h2();
    await assert.rejects(
      ask(session, { ":path": "/x", big: huge }).then((a) => {
        if (a.status === 200) throw new assert.AssertionError({ message: "taken" });
        throw new Error(String(a.status));
      }),
      (e) => !(e instanceof assert.AssertionError),
    );
    assert.equal(r.asked.length, 0);
  }));

Deno.test("serveHttps: half a body, then nothing or a reset, reaches no handler", () =>
  using(start(ok), async (r) => {
    await new Promise<void>((resolve) => {
      const socket = tls.connect({ port: r.server.port, host: "localhost", ca: r.certificates.caPem }, () => {
        socket.write(
          "POST /x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer alice-token\r\nContent-Length: 100\r\n\r\n{",
        );
        setTimeout(() => socket.destroy(), 20);
      });
      socket.on("close", () => resolve());
    });
    const session = r.h2();
    const stream = session.request({ ":method": "POST", ":path": "/x", authorization: "Bearer alice-token" }, {
      endStream: false,
    });
    stream.on("error", () => {});
    stream.write("{");
    await new Promise<void>((resolve) => {
      stream.on("close", () => resolve());
      setTimeout(() => stream.close(8), 20);
    });
    assert.deepEqual(r.asked.map((q) => q.path), []);
  }));

Deno.test("serveHttps: odd request targets and methods are answered", () =>
  using(start(ok), async (r) => {
    const get = (target: string, more = "") =>
      exchange(
        r,
        `GET ${target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer alice-token\r\nConnection: close\r\n${more}\r\n`,
      );
    assert.match(await get("*"), /^HTTP\/1.1 400/);
    assert.match(await get("http://evil/x"), /^HTTP\/1.1 400/);
    assert.match(await get("/%zz/../.."), /^HTTP\/1.1 200/);
    assert.match(await get("/x", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"), /^HTTP\/1.1 400/);
    const odd = await ask1(r, { method: "PROPFIND", path: "/x" });
    assert.equal(odd.status, 200);
  }));

Deno.test("serveHttps: an Upgrade that nobody asked for does not take the connection away", () =>
  using(start(ok), async (r) => {
    const text = await exchange(
      r,
      "GET /x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer alice-token\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n",
    );
    assert.match(text, /^(HTTP\/1.1 (200|400|426|501)|$)/);
  }));

Deno.test("serveHttps: a thousand streams that are opened and reset do not stop the others", () =>
  using(start(ok), async (r) => {
    const session = r.h2();
    const closed: Promise<void>[] = [];
    for (let i = 0; i < 1_000; i++) {
      const stream = session.request({ ":path": "/x", authorization: "Bearer alice-token" });
      stream.on("error", () => {});
      closed.push(new Promise((resolve) => stream.on("close", () => resolve())));
      stream.close(8);
    }
    await Promise.all(closed);
  }));

Deno.test("serveHttps: connections cut in the middle of large answers leave nothing behind", () =>
  using(start(() => json({ text: "x".repeat(5_000_000) })), async (r) => {
    for (let i = 0; i < 5; i++) {
      const session = r.h2();
      const stream = session.request({ ":path": "/x", authorization: "Bearer alice-token" });
      stream.on("error", () => {});
      await new Promise<void>((resolve) => stream.once("data", () => resolve()));
      session.destroy();
    }
  }));

Deno.test("serveHttps: close within its grace although clients hold connections, streams and half requests", async () => {
  let reached = () => {};
  const handling = new Promise<void>((resolve) => reached = resolve);
  const r = await start(() => {
    reached();
    return new Promise(() => {});
  });
  const session = r.h2();
  const hanging = session.request({ ":path": "/never", authorization: "Bearer alice-token" });
  hanging.on("error", () => {});
  await handling;
  const sockets = await Promise.all([1, 2].map((i) =>
    new Promise<tls.TLSSocket>((resolve) => {
      const socket = tls.connect({ port: r.server.port, host: "localhost", ca: r.certificates.caPem }, () => {
        if (i === 2) socket.write("POST /x HTTP/1.1\r\nHost: a\r\n");
        resolve(socket);
      });
      socket.on("error", () => {});
    })
  ));
  const raw = net.connect({ port: r.server.port, host: "127.0.0.1" });
  raw.on("error", () => {});
  await new Promise((resolve) => raw.on("connect", resolve));
  const gone = [...sockets, raw].map((socket) => new Promise((resolve) => socket.on("close", resolve)));
  const started = performance.now();
  await r.server.close(200);
  const took = performance.now() - started;
  assert.ok(took > 150 && took < 3_000, `${took} ms`);
  await Promise.all(gone);
  session.destroy();
});

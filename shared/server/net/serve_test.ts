import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { FakeClock } from "../../runtime/clock.ts";
import { failure } from "../../kube/status.ts";
import type { ServerRequest, ServerResponse } from "../contract.ts";
import { ask, ask1, json, type Running, start } from "./test_kit.ts";

async function using(running: Promise<Running>, run: (r: Running) => Promise<void>): Promise<void> {
  const r = await running;
  try {
    await run(r);
  } finally {
    await r.close();
  }
}

/** A watch that sends `pieces`, then waits until it is aborted. */
function watch(pieces: Iterable<string>, onEnd = () => {}): (request: ServerRequest) => ServerResponse {
  return ({ signal }) => ({
    status: 200,
    headers: { "content-type": "application/json" },
    body: (async function* () {
      try {
        yield* pieces;
        await new Promise<void>((resolve) => {
          if (signal!.aborted) resolve();
          signal!.addEventListener("abort", () => resolve(), { once: true });
        });
      } finally {
        onEnd();
      }
    })(),
  });
}

Deno.test("serveHttps: method, path, headers, body and user reach the handler on HTTP/2 and HTTP/1.1", () =>
  using(start(() => json({ ok: true }, 201)), async (r) => {
    const session = r.h2();
    const two = await ask(
      session,
      { ":method": "POST", ":path": "/api/x?y=1", "content-type": "application/json" },
      "{}",
    );
    const one = await ask1(
      r,
      { method: "POST", path: "/api/x?y=1", headers: { "Content-Type": "application/json" } },
      "{}",
    );
    for (const answer of [one, two]) {
      assert.equal(answer.status, 201);
      assert.equal(answer.body.toString(), `{"ok":true}`);
      assert.equal(answer.headers["content-length"], "11");
    }
    for (const { method, path, headers, body, user } of r.asked) {
      assert.deepEqual([method, path, headers["content-type"]], ["POST", "/api/x?y=1", "application/json"]);
      assert.equal(new TextDecoder().decode(body as Uint8Array), "{}");
      assert.deepEqual(user, { name: "alice", uid: "1", groups: ["dev", "ops", "system:authenticated"] });
      assert.equal(headers["authorization"], undefined, "no credential goes further than the front");
    }
    const head = await ask(session, { ":method": "HEAD", ":path": "/x" });
    assert.deepEqual([head.status, head.body.length], [201, 0]);
  }));

Deno.test("serveHttps: large answers are compressed for clients that take gzip", () =>
  using(start(() => json({ text: "x".repeat(300_000) })), async (r) => {
    const session = r.h2();
    const packed = await ask(session, { ":path": "/x", "accept-encoding": "br, gzip" });
    assert.equal(packed.headers["content-encoding"], "gzip");
    assert.ok(packed.body.length < 10_000);
    assert.equal(JSON.parse(gunzipSync(packed.body).toString()).text.length, 300_000);
    for (const accept of ["identity", "gzip;q=0", ""]) {
      const plain = await ask(session, { ":path": "/x", "accept-encoding": accept });
      assert.equal(plain.headers["content-encoding"], undefined);
      assert.equal(plain.body.length, 300_011);
    }
  }));

Deno.test("serveHttps: rule 61 of ssa.md: a body over 3 MiB is 413, one of exactly 3 MiB is read", () =>
  using(start((request) => json({ size: (request.body as Uint8Array).length })), async (r) => {
    const limit = 3 * 1024 * 1024;
    const exact = await ask(r.h2(), { ":method": "POST", ":path": "/x" }, new Uint8Array(limit));
    assert.equal(JSON.parse(exact.body.toString()).size, limit);
    const wanted = {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "Request entity too large: limit is 3145728",
      reason: "RequestEntityTooLarge",
      code: 413,
    };
    const two = await ask(r.h2(), { ":method": "POST", ":path": "/x" }, new Uint8Array(limit + 1));
    assert.deepEqual([two.status, JSON.parse(two.body.toString())], [413, wanted]);
    const declared = await ask1(r, { method: "POST", path: "/x", headers: { "content-length": String(limit + 1) } });
    assert.deepEqual([declared.status, JSON.parse(declared.body.toString())], [413, wanted]);
    assert.equal(declared.headers["connection"], "close");
    assert.equal(r.asked.length, 1);
  }));

Deno.test("serveHttps: a body that does not come is 408, a handler that does not answer 504", async () => {
  const clock = new FakeClock();
  let aborted = false;
  let reached = () => {};
  const slow = ({ signal }: ServerRequest) =>
    new Promise<ServerResponse>(() => {
      signal!.addEventListener("abort", () => aborted = true);
      reached();
    });
  await using(start(slow, { clock }), async (r) => {
    const session = r.h2();
    const stream = session.request({ ":method": "POST", ":path": "/x", authorization: "Bearer alice-token" }, {
      endStream: false,
    });
    stream.on("error", () => {});
    stream.write("{");
    const status = new Promise((resolve) => stream.on("response", (h) => resolve(h[":status"])));
    while (clock.pending === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await clock.advance(30_000);
    assert.equal(await status, 408);
    const handling = new Promise<void>((resolve) => reached = resolve);
    const late = ask(session, { ":path": "/y" });
    await handling;
    await clock.advance(60_000);
    const answer = await late;
    assert.equal(answer.status, 504);
    assert.match(answer.body.toString(), /"reason":"Timeout"/);
    assert.equal(aborted, true);
    session.destroy();
  });
});

Deno.test("serveHttps: a connection of HTTP/1.1 whose request head does not come is closed", async () => {
  const clock = new FakeClock();
  await using(start(() => json({ ok: true }), { clock }), async (r) => {
    const connection = await Deno.connectTls({
      hostname: "localhost",
      port: r.server.port,
      caCerts: [r.certificates.caPem],
    });
    const send = (text: string) => connection.write(new TextEncoder().encode(text));
    const buffer = new Uint8Array(4096);
    const timers = async (n: number) => {
      while (clock.pending !== n) await new Promise((resolve) => setTimeout(resolve, 1));
    };
    await send("GET /x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\n\r\n");
    assert.match(new TextDecoder().decode(buffer.subarray(0, await connection.read(buffer) ?? 0)), /^HTTP\/1.1 200/);
    await send("GET /x HTTP/1.1\r\nHost:");
    await timers(1);
    await clock.advance(30_000);
    let n = 0;
    while (n !== null) n = (await connection.read(buffer).catch(() => null)) as number;
    connection.close();
    assert.equal(r.asked.length, 1);
  });
});

Deno.test("serveHttps: a handler that throws gives a Status and not its message", () =>
  using(
    start(({ path }) => {
      if (path === "/status") throw failure(429, "TooManyRequests", "slow down", { retryAfterSeconds: 3 });
      throw new Error("secret detail");
    }),
    async (r) => {
      const broken = await ask(r.h2(), { ":path": "/x" });
      assert.equal(broken.status, 500);
      assert.equal(JSON.parse(broken.body.toString()).reason, "InternalError");
      assert.doesNotMatch(broken.body.toString(), /secret/);
      const told = await ask(r.h2(), { ":path": "/status" });
      assert.deepEqual([told.status, told.headers["retry-after"]], [429, "3"]);
    },
  ));

Deno.test("serveHttps: a watch arrives piece by piece, and its source is woken when the client goes", async () => {
  for (const version of [1, 2]) {
    let ended = () => {};
    const end = new Promise<void>((resolve) => ended = resolve);
    await using(start(watch(["one\n", "two\n"], () => ended())), async (r) => {
      if (version === 2) {
        const session = r.h2();
        const stream = session.request({ ":path": "/w", authorization: "Bearer alice-token" });
        stream.on("error", () => {});
        let text = "";
        await new Promise<void>((resolve) =>
          stream.on("data", (piece) => (text += piece) === "one\ntwo\n" && resolve())
        );
        stream.close(8);
      } else {
        const connection = await Deno.connectTls({
          hostname: "localhost",
          port: r.server.port,
          caCerts: [r.certificates.caPem],
        });
        await connection.write(
          new TextEncoder().encode("GET /w HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\n\r\n"),
        );
        let text = "";
        const buffer = new Uint8Array(4096);
        while (!text.includes("two")) {
          text += new TextDecoder().decode(buffer.subarray(0, await connection.read(buffer) ?? 0));
        }
        connection.close();
      }
      await end;
      assert.equal(r.asked[0]!.signal!.aborted, true);
    });
  }
});

Deno.test("serveHttps: a client that does not read holds back its own stream only, and is cut after a while", async () => {
  const clock = new FakeClock();
  let sent = 0;
  const endless = function* () {
    for (;;) {
      sent++;
      yield "x".repeat(10_000);
    }
  };
  let ended = () => {};
  const end = new Promise<void>((resolve) => ended = resolve);
  const handle = (request: ServerRequest) =>
    request.path === "/w" ? watch(endless(), () => ended())(request) : json({ ok: true });
  await using(start(handle, { clock }), async (r) => {
    const slow = r.h2();
    const stream = slow.request({ ":path": "/w", authorization: "Bearer alice-token" });
    stream.on("error", () => {});
    // Nothing reads the stream: the flow control windows fill up.
    await new Promise((resolve) => stream.on("response", resolve));
    // The only timer left is the one that waits for the client to take something.
    while (clock.pending === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    assert.ok(sent < 2_000, `${sent} pieces were taken from the source`);
    assert.equal((await ask(r.h2(), { ":path": "/x" })).status, 200);
    await clock.advance(60_000);
    await end;
    slow.destroy();
  });
});

Deno.test("serveHttps: close ends watches, finishes what runs, and takes a bounded time", async () => {
  let release = () => {};
  let begun = () => {};
  const running = new Promise<void>((resolve) => begun = resolve);
  const gate = new Promise<void>((resolve) => release = resolve);
  const r = await start(async (request) => {
    if (request.path === "/w") return watch(["one\n"])(request);
    begun();
    await gate;
    return json({ done: true });
  });
  const session = r.h2();
  const stream = session.request({ ":path": "/w", authorization: "Bearer alice-token" });
  let text = "";
  const streamEnd = new Promise<void>((resolve) => stream.on("end", resolve));
  await new Promise<void>((resolve) => stream.on("data", (piece) => (text += piece) && resolve()));
  const write = ask(r.h2(), { ":path": "/x" });
  await running;
  const closed = r.server.close(5_000);
  await streamEnd;
  assert.equal(text, "one\n");
  release();
  assert.equal((await write).body.toString(), `{"done":true}`);
  await closed;
  await r.close();
});

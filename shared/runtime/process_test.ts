import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { captureLogger } from "../testing/mod.ts";
import { createMetrics, FakeClock, parseListen, serveHealth, stopOnSignals } from "./mod.ts";

Deno.test("createMetrics() declares a name once, counts, and prints the Prometheus text", async () => {
  const metrics = createMetrics();
  metrics.counter("convoy_x_total", "X", ["a"]).inc({ a: "1" });
  metrics.counter("convoy_x_total", "X", ["a"]).inc({ a: "1" }, 2);
  metrics.gauge("convoy_g", "G").set(4);
  metrics.histogram("convoy_h_seconds", "H", ["l"], [1, 2]).observe(1.5, { l: "z" });
  const text = await metrics.text();
  assert.match(text, /^convoy_x_total\{a="1"\} 3$/m);
  assert.match(text, /^convoy_g 4$/m);
  assert.match(text, /^convoy_h_seconds_bucket\{le="2",l="z"\} 1$/m);
  assert.match(text, /^process_resident_memory_bytes [1-9]/m);
  assert.throws(() => metrics.counter("convoy_x_total", "X", ["b"]), /with labels \[b\]: it has \[a\]/);
  // Two processes in one test do not share anything.
  assert.doesNotMatch(await createMetrics({ process: false }).text(), /convoy_x_total/);
});

Deno.test("serveHealth() tells metrics, life and readiness", async () => {
  const metrics = createMetrics({ process: false });
  metrics.gauge("convoy_g", "G").set(1);
  let waiting = ["informers have not synced"], broken: string[] = [];
  const server = await serveHealth({
    listen: "127.0.0.1:0",
    metrics,
    notReady: () => waiting,
    unhealthy: () => broken,
  });
  const get = async (path: string, method = "GET") => {
    const response = await fetch(`http://${server.address}${path}`, { method });
    return `${response.status} ${(await response.text()).trim()}`;
  };
  try {
    assert.equal(await get("/healthz"), "200 ok");
    assert.equal(await get("/readyz"), "503 not ok: informers have not synced");
    waiting = [];
    assert.equal(await get("/readyz?verbose"), "200 ok");
    broken = ["the store is gone"];
    assert.equal(await get("/healthz"), "503 not ok: the store is gone");
    assert.match(await get("/metrics"), /^200 [\s\S]*convoy_g 1/);
    assert.equal(await get("/x"), "404 not found");
    assert.equal(await get("/healthz", "POST"), "405 method not allowed");
    await assert.rejects(
      serveHealth({ listen: server.address, metrics }),
      new RegExp(`Cannot listen on ${server.address}: .*in use`, "i"),
    );
  } finally {
    await server.close();
  }
});

Deno.test("parseListen() takes HOST:PORT and nothing else", () => {
  assert.deepEqual(parseListen("0.0.0.0:80"), { host: "0.0.0.0", port: 80 });
  assert.deepEqual(parseListen(":0"), { host: "127.0.0.1", port: 0 });
  assert.deepEqual(parseListen("[::1]:8080"), { host: "::1", port: 8080 });
  for (const bad of ["", "80", "h:", "h:x", "h:99999", "::1:80", "http://h:1"]) {
    assert.throws(() => parseListen(bad), /it is not HOST:PORT/);
  }
});

function signals() {
  const source = new EventEmitter();
  const clock = new FakeClock();
  const exits: number[] = [];
  const logger = captureLogger();
  const stop = stopOnSignals({ logger, clock, exit: (code) => exits.push(code), source, limitMs: 10_000 });
  return { source, clock, exits, logger, stop };
}

Deno.test("stopOnSignals(): the first signal stops cleanly, a second one at once", () => {
  const { source, exits, stop } = signals();
  assert.equal(stop.signal.aborted, false);
  source.emit("SIGTERM");
  assert.equal(stop.signal.aborted, true);
  assert.deepEqual(exits, []);
  source.emit("SIGINT");
  assert.deepEqual(exits, [130]);
  stop.dispose();
});

Deno.test("stopOnSignals(): a stop that takes longer than its limit is cut off; dispose() takes all back", async () => {
  const late = signals();
  late.source.emit("SIGINT");
  await late.clock.advance(9_999);
  assert.deepEqual(late.exits, []);
  await late.clock.advance(1);
  assert.deepEqual(late.exits, [1]);
  const good = signals();
  good.source.emit("SIGINT");
  good.stop.dispose();
  await good.clock.advance(20_000);
  assert.deepEqual(good.exits, []);
  assert.equal(good.source.listenerCount("SIGTERM") + good.source.listenerCount("SIGINT"), 0);
});

Deno.test("stopOnSignals() hears real signals", async () => {
  const code = `
    import { stopOnSignals, silentLogger } from "${import.meta.resolve("./mod.ts")}";
    const stop = stopOnSignals({ logger: silentLogger });
    const hold = setInterval(() => {}, 1000);
    stop.signal.addEventListener("abort", () => { clearInterval(hold); stop.dispose(); console.log("clean"); });
    console.log("ready");
  `;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", "--config", new URL("../../deno.json", import.meta.url).pathname, code],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  let text = "";
  for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text === "ready\n") child.kill("SIGTERM");
  }
  assert.equal(text, "ready\nclean\n");
  assert.equal((await child.status).code, 0);
});

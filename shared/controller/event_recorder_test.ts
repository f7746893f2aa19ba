import assert from "node:assert/strict";
import { FakeClock } from "../runtime/clock.ts";
import { createMetrics } from "../runtime/mod.ts";
import { failure, type KubeObject, TransportError } from "../kube/mod.ts";
import { captureLogger, tinyServer } from "../testing/mod.ts";
import { type CoreEvent, createEventRecorder, type EventRecorderOptions } from "./mod.ts";

const shop: KubeObject = {
  apiVersion: "convoy.kumodo.io/v1alpha1",
  kind: "Release",
  metadata: { namespace: "team", name: "shop", uid: "u1", resourceVersion: "7" },
};

function make(options: Partial<EventRecorderOptions> = {}) {
  const clock = new FakeClock();
  const server = tinyServer();
  const metrics = createMetrics({ process: false });
  const recorder = createEventRecorder({
    client: server.client,
    clock,
    logger: captureLogger(),
    metrics,
    component: "convoy-controller-manager",
    instance: "host_1",
    ...options,
  });
  return { clock, server, metrics, recorder, events: () => [...server.objects.values()] as CoreEvent[] };
}

Deno.test("createEventRecorder() sends a core/v1 Event about the object", async () => {
  const { clock, recorder, events } = make();
  recorder.event(shop, "Warning", "ApplyFailed", "the server said no");
  await clock.advance(0);
  const [event] = events();
  assert.match(event!.metadata.name, /^shop\.[0-9a-f]{16}$/);
  assert.equal(event!.metadata.namespace, "team");
  assert.deepEqual(event!.involvedObject, {
    apiVersion: "convoy.kumodo.io/v1alpha1",
    kind: "Release",
    namespace: "team",
    name: "shop",
    uid: "u1",
    resourceVersion: "7",
  });
  assert.deepEqual(
    [event!.type, event!.reason, event!.message, event!.count, event!.firstTimestamp],
    ["Warning", "ApplyFailed", "the server said no", 1, "2026-01-01T00:00:00Z"],
  );
  await recorder.stop();
});

Deno.test("createEventRecorder() counts equal events in one Event and keeps different ones apart", async () => {
  const { clock, server, recorder, events } = make();
  recorder.event(shop, "Normal", "Applied", "v1");
  await clock.advance(60_000);
  recorder.event(shop, "Normal", "Applied", "v1");
  recorder.event(shop, "Normal", "Applied", "v1");
  recorder.event(shop, "Normal", "Applied", "v2");
  recorder.event({ ...shop, metadata: { ...shop.metadata, uid: "u2" } }, "Normal", "Applied", "v1");
  await clock.advance(0);
  assert.deepEqual(events().map((e) => [e.message, e.count]), [["v1", 3], ["v2", 1], ["v1", 1]]);
  assert.equal(events()[0]!.firstTimestamp, "2026-01-01T00:00:00Z");
  assert.equal(events()[0]!.lastTimestamp, "2026-01-01T00:01:00Z");
  assert.deepEqual(server.log.map((line) => line.split(" ")[0]), ["create", "patch", "create", "create"]);
  await recorder.stop();
});

Deno.test("createEventRecorder() makes an Event anew that the server has forgotten", async () => {
  const { clock, server, recorder, events } = make();
  recorder.event(shop, "Normal", "Applied", "v1");
  await clock.advance(0);
  server.objects.clear();
  recorder.event(shop, "Normal", "Applied", "v1");
  await clock.advance(0);
  assert.equal(events()[0]!.count, 2);
  await recorder.stop();
});

Deno.test("createEventRecorder() limits the rate of one object and no other's", async () => {
  const { clock, metrics, recorder, events } = make({ burst: 3, qps: 1 });
  for (let i = 0; i < 10; i++) recorder.event(shop, "Normal", "Applied", `v${i}`);
  recorder.event({ ...shop, metadata: { ...shop.metadata, name: "other", uid: "u3" } }, "Normal", "Applied", "x");
  await clock.advance(0);
  assert.equal(events().length, 4);
  assert.match(await metrics.text(), /convoy_events_total\{result="limited"\} 7/);
  await clock.advance(1000);
  recorder.event(shop, "Normal", "Applied", "later");
  await clock.advance(0);
  assert.equal(events().length, 5);
  await recorder.stop();
});

Deno.test("createEventRecorder() never blocks: what does not fit in its queue is dropped and counted", async () => {
  const { clock, server, metrics, recorder } = make({ queueSize: 5, burst: 100 });
  server.hang = new Promise(() => {});
  for (let i = 0; i < 20; i++) recorder.event(shop, "Normal", "Applied", `v${i}`);
  await clock.advance(0);
  assert.match(await metrics.text(), /convoy_events_total\{result="dropped"\} 1[45]/);
  const stopped = recorder.stop(1000);
  await clock.advance(1000);
  await stopped;
  assert.equal(clock.pending, 0);
});

Deno.test("createEventRecorder() tries again while the server does not answer, and not when it refuses", async () => {
  const { clock, server, metrics, recorder, events } = make();
  server.down = new TransportError("down");
  recorder.event(shop, "Normal", "Applied", "v1");
  await clock.advance(500);
  server.down = undefined;
  await clock.advance(2000);
  assert.equal(events().length, 1);
  server.down = failure(403, "Forbidden", "no");
  recorder.event(shop, "Normal", "Applied", "v2");
  await clock.advance(60_000);
  assert.equal(server.log.filter((line) => line.startsWith("create")).length, 3);
  assert.match(await metrics.text(), /convoy_events_total\{result="failed"\} 1/);
  await recorder.stop();
});

Deno.test("createEventRecorder() cuts long messages, never throws, and sends what waits when it is stopped", async () => {
  const { recorder, events } = make();
  recorder.event(shop, "Normal", "Applied", "x".repeat(5000));
  recorder.event({} as KubeObject, "Normal", "Applied", "no metadata at all");
  await recorder.stop();
  assert.equal(events()[0]!.message.length, 1024);
  recorder.event(shop, "Normal", "Applied", "too late");
  assert.equal(events().length, 1);
});

Deno.test("createEventRecorder() puts Events about cluster-scoped objects into the namespace default", async () => {
  const { clock, recorder, events } = make();
  recorder.event({ apiVersion: "v1", kind: "Node", metadata: { name: "n1" } }, "Normal", "Seen", "x");
  await clock.advance(0);
  assert.equal(events()[0]!.metadata.namespace, "default");
  await recorder.stop();
});

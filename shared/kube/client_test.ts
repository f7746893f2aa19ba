import assert from "node:assert/strict";
import type { ApiHandler, ServerRequest, ServerResponse } from "../server/contract.ts";
import { createMetrics, FakeClock } from "../runtime/mod.ts";
import {
  createKubeClient,
  failure,
  inProcessTransport,
  type KubeClientOptions,
  type KubeObject,
  type Resource,
  StatusError,
  type Transport,
  TransportError,
  type TransportRequest,
} from "./mod.ts";

const RELEASES: Resource = {
  group: "convoy.kumodo.io",
  version: "v1alpha1",
  plural: "releases",
  kind: "Release",
  namespaced: true,
};
const NODES: Resource = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };
const base = "/apis/convoy.kumodo.io/v1alpha1/namespaces/team";
const release: KubeObject = {
  apiVersion: "convoy.kumodo.io/v1alpha1",
  kind: "Release",
  metadata: { namespace: "team", name: "shop" },
};

/** A handler that answers from `answer` and keeps the requests. */
function handlerOf(answer: (request: ServerRequest) => Partial<ServerResponse> | Promise<Partial<ServerResponse>>) {
  const requests: ServerRequest[] = [];
  const handler: ApiHandler = {
    async handle(request) {
      requests.push(request);
      return { status: 200, headers: {}, body: "{}", ...await answer(request) };
    },
    close: () => Promise.resolve(),
  };
  return { handler, requests };
}

function clientOf(answer: Parameters<typeof handlerOf>[0], options: KubeClientOptions = {}) {
  const { handler, requests } = handlerOf(answer);
  const transport = inProcessTransport(handler, { name: "me", groups: ["g"] });
  return { client: createKubeClient(transport, options), requests };
}

Deno.test("createKubeClient(): each verb has its method, path, query, headers and body", async () => {
  const { client, requests } = clientOf(() => ({}));
  const key = release.metadata;
  await client.get(RELEASES, key);
  await client.get(NODES, { name: "n1" }, { subresource: "status" });
  await client.list(RELEASES);
  await client.list(RELEASES, { namespace: "team", labelSelector: "a in (b,c)", limit: 5, continue: "t/=" });
  await client.create(RELEASES, release, { fieldManager: "m", dryRun: true, fieldValidation: "Strict" });
  await client.update(RELEASES, release, { subresource: "status" });
  await client.patch(RELEASES, key, { type: "merge", body: { a: 2n ** 60n } });
  await client.patch(RELEASES, key, { type: "json", body: [{ op: "remove", path: "/a" }] });
  await client.apply(RELEASES, release, { fieldManager: "convoy", force: true, subresource: "status" });
  await client.delete(RELEASES, key, { preconditions: { uid: "u" }, propagationPolicy: "Orphan", dryRun: true });
  await client.raw({ method: "POST", path: `${base}/releases/shop/sync`, body: { reason: "x" } });
  await client.get(RELEASES, key);
  const seen = requests.map((r) => `${r.method} ${r.path} ${r.headers["content-type"] ?? ""} ${r.body ?? ""}`.trim());
  const json =
    '{"apiVersion":"convoy.kumodo.io/v1alpha1","kind":"Release","metadata":{"namespace":"team","name":"shop"}}';
  assert.deepEqual(seen, [
    `GET ${base}/releases/shop`,
    "GET /api/v1/nodes/n1/status",
    "GET /apis/convoy.kumodo.io/v1alpha1/releases",
    `GET ${base}/releases?labelSelector=a+in+%28b%2Cc%29&limit=5&continue=t%2F%3D`,
    `POST ${base}/releases?fieldManager=m&dryRun=All&fieldValidation=Strict application/json ${json}`,
    `PUT ${base}/releases/shop/status application/json ${json}`,
    `PATCH ${base}/releases/shop application/merge-patch+json {"a":1152921504606846976}`,
    `PATCH ${base}/releases/shop application/json-patch+json [{"op":"remove","path":"/a"}]`,
    `PATCH ${base}/releases/shop/status?fieldManager=convoy&force=true application/apply-patch+yaml ${json}`,
    `DELETE ${base}/releases/shop?dryRun=All application/json ` +
    '{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u"},"propagationPolicy":"Orphan"}',
    `POST ${base}/releases/shop/sync application/json {"reason":"x"}`,
    `GET ${base}/releases/shop`,
  ]);
  assert.equal(requests[0]!.user.name, "me");
  assert.equal(requests[0]!.headers.accept, "application/json");
});

Deno.test("createKubeClient(): impersonation travels as headers", async () => {
  const { client, requests } = clientOf(() => ({}));
  await client.apply(RELEASES, release, { fieldManager: "m", impersonate: { user: "sa", groups: ["a", "b"] } });
  assert.equal(requests[0]!.headers["impersonate-user"], "sa");
  assert.equal(requests[0]!.headers["impersonate-group"], "a, b");
});

Deno.test("createKubeClient(): a namespaced object without namespace or name is refused before anything is sent", async () => {
  const { client, requests } = clientOf(() => ({}));
  await assert.rejects(client.get(RELEASES, { name: "x" }), /Release "x": the kind is namespaced/);
  await assert.rejects(client.get(RELEASES, { namespace: "a", name: "" }), /its name is empty/);
  await assert.rejects(client.delete(RELEASES, { namespace: "a", name: "" }), TypeError);
  assert.equal(requests.length, 0);
});

Deno.test("createKubeClient(): integers beyond 2^53 keep their value", async () => {
  const { client } = clientOf(() => ({ body: '{"metadata":{"name":"x"},"serial":9007199254740993}' }));
  const got = await client.get<KubeObject & { serial: bigint }>(RELEASES, release.metadata);
  assert.equal(got.serial, 9007199254740993n);
});

Deno.test("createKubeClient(): a Status with an error code becomes a StatusError", async () => {
  const status = failure(409, "Conflict", "the object has been modified", { name: "shop", kind: "releases" }).status;
  const { client } = clientOf(() => ({ status: 409, body: JSON.stringify(status) }));
  await assert.rejects(client.update(RELEASES, release), (error: unknown) => {
    assert(error instanceof StatusError);
    assert.deepEqual(error.status, status);
    assert.equal(error.reason, "Conflict");
    return true;
  });
});

Deno.test("createKubeClient(): a good answer that is not JSON is a TransportError without its content", async () => {
  const { client } = clientOf(() => ({ body: "<html>s3cr3t</html>" }));
  await assert.rejects(
    client.get(RELEASES, release.metadata),
    (error: Error) => error instanceof TransportError && !error.message.includes("s3cr3t"),
  );
});

Deno.test("createKubeClient(): 429 with Retry-After is repeated after that time, at most so often and so long", async () => {
  const clock = new FakeClock();
  let left = 2;
  const { client, requests } = clientOf(
    () => left-- > 0 ? { status: 429, headers: { "retry-after": "7" }, body: "slow down" } : {},
    { clock, maxRetries: 3, maxRetryWaitMs: 5000 },
  );
  const got = client.get(RELEASES, release.metadata);
  await clock.advance(4999);
  assert.equal(requests.length, 1);
  await clock.advance(5001);
  await got;
  assert.equal(requests.length, 3);
  left = 100;
  const refused = client.get(RELEASES, release.metadata);
  refused.catch(() => {});
  await clock.advance(60_000);
  await assert.rejects(refused, (error: unknown) => error instanceof StatusError && error.code === 429);
  assert.equal(requests.length, 3 + 4);
});

Deno.test("createKubeClient(): 429 without Retry-After is the caller's", async () => {
  const { client, requests } = clientOf(() => ({ status: 429 }));
  await assert.rejects(client.get(RELEASES, release.metadata), { code: 429 });
  assert.equal(requests.length, 1);
});

Deno.test("createKubeClient(): a request without an answer ends with a TransportError after its time", async () => {
  const clock = new FakeClock();
  const { client } = clientOf(() => new Promise(() => {}), { clock, requestTimeoutMs: 3000 });
  const got = assert.rejects(
    client.get(RELEASES, release.metadata),
    (error: Error) => error instanceof TransportError && error.message.endsWith("no answer within 3 s"),
  );
  await clock.advance(3000);
  await got;
  assert.equal(clock.pending, 0);
});

Deno.test("createKubeClient(): the caller's abort is the caller's own reason", async () => {
  const { client } = clientOf(() => new Promise(() => {}));
  const abort = new AbortController();
  const got = client.get(RELEASES, release.metadata, { signal: abort.signal });
  abort.abort(new Error("enough"));
  await assert.rejects(got, /enough/);
});

Deno.test("createKubeClient(): qps and burst hold requests back", async () => {
  const clock = new FakeClock();
  const { client, requests } = clientOf(() => ({}), { clock, qps: 10, burst: 2 });
  const all = Promise.all(Array.from({ length: 5 }, () => client.get(RELEASES, release.metadata)));
  await clock.advance(0);
  assert.equal(requests.length, 2);
  await clock.advance(100);
  assert.equal(requests.length, 3);
  await clock.advance(200);
  await all;
  assert.equal(requests.length, 5);
});

Deno.test("createKubeClient(): requests are counted by server, verb and code, also those without an answer", async () => {
  const metrics = createMetrics({ process: false });
  const { client } = clientOf((request) => request.method === "PUT" ? { status: 409 } : {}, {
    metrics,
    name: "target",
  });
  await client.get(RELEASES, release.metadata);
  await assert.rejects(client.update(RELEASES, release));
  client.close();
  await assert.rejects(client.list(RELEASES));
  const lines = (await metrics.text()).split("\n").filter((line) => line.startsWith("convoy_kube_requests_total"));
  assert.deepEqual(lines, [
    'convoy_kube_requests_total{server="target",verb="GET",code="200"} 1',
    'convoy_kube_requests_total{server="target",verb="PUT",code="409"} 1',
    'convoy_kube_requests_total{server="target",verb="GET",code="none"} 1',
  ]);
});

/** A stream that ends when its request is aborted. */
async function* streamOf(request: ServerRequest, ...pieces: string[]): AsyncIterable<string> {
  yield* pieces;
  await new Promise<void>((resolve) => request.signal!.addEventListener("abort", () => resolve()));
}

Deno.test("watch(): events come as they are sent, whatever the pieces; the caller's abort ends it quietly", async () => {
  const { client, requests } = clientOf((request) => ({
    body: streamOf(
      request,
      '{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n{"type":"BOO',
      'KMARK","object":{}}\n',
    ),
  }));
  const abort = new AbortController();
  const types: string[] = [];
  const stream = await client.watch(RELEASES, {
    resourceVersion: "5",
    allowWatchBookmarks: true,
    signal: abort.signal,
  });
  for await (const event of stream) {
    types.push(event.type);
    if (event.type === "BOOKMARK") abort.abort();
  }
  assert.deepEqual(types, ["ADDED", "BOOKMARK"]);
  assert.equal(requests[0]!.signal!.aborted, true);
  assert.equal(
    requests[0]!.path,
    "/apis/convoy.kumodo.io/v1alpha1/releases?watch=true&resourceVersion=5&allowWatchBookmarks=true",
  );
});

Deno.test("watch(): leaving the loop ends the request", async () => {
  const { client, requests } = clientOf((request) => ({ body: streamOf(request, '{"type":"ADDED","object":{}}\n') }));
  for await (const _ of await client.watch(RELEASES)) break;
  assert.equal(requests[0]!.signal!.aborted, true);
});

Deno.test("watch(): the request's time limit does not end an open watch", async () => {
  const clock = new FakeClock();
  const { client } = clientOf((request) => ({ body: streamOf(request, '{"type":"ADDED","object":{}}\n') }), {
    clock,
    requestTimeoutMs: 1000,
  });
  const abort = new AbortController();
  const stream = (await client.watch(RELEASES, { signal: abort.signal }))[Symbol.asyncIterator]();
  assert.equal((await stream.next()).value.type, "ADDED");
  let ended = false;
  const next = stream.next().then(() => ended = true);
  await clock.advance(10_000);
  assert.equal(ended, false);
  abort.abort();
  await next;
});

Deno.test("watch(): a refusal, and events that are none, are errors", async () => {
  const gone = failure(410, "Expired", "too old").status;
  const refused = clientOf(() => ({ status: 410, body: JSON.stringify(gone) }));
  await assert.rejects(refused.client.watch(RELEASES), { code: 410 });
  for (const line of ["not json\n", '{"type":5}\n', "[]\n", '"x"\n']) {
    const { client } = clientOf(() => ({
      body: (async function* () {
        yield line;
      })(),
    }));
    await assert.rejects(async () => {
      for await (const _ of await client.watch(RELEASES));
    }, TransportError);
  }
});

Deno.test("inProcessTransport(): closing it ends open watches and refuses more", async () => {
  const { client } = clientOf((request) => ({ body: streamOf(request, '{"type":"ADDED","object":{}}\n') }));
  const stream = (await client.watch(RELEASES))[Symbol.asyncIterator]();
  await stream.next();
  const next = stream.next();
  client.close();
  await assert.rejects(next, TransportError);
  await assert.rejects(client.list(RELEASES), TransportError);
});

Deno.test("createKubeClient(): a rejection of the transport reaches the caller unchanged", async () => {
  const error = new TransportError("Cannot reach x");
  const transport: Transport = { request: (_: TransportRequest) => Promise.reject(error), close() {} };
  await assert.rejects(createKubeClient(transport).list(NODES), (e) => e === error);
});

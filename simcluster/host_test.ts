import assert from "node:assert/strict";
import { request } from "node:https";
import { FakeClock } from "../shared/runtime/clock.ts";
import { type SimClusters, startSimClusters } from "./mod.ts";

interface Call {
  method?: string;
  token?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
}

/** One HTTPS request over HTTP/1.1; rejects when the connection breaks. */
function call(sim: SimClusters, path: string, o: Call = {}): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(path, sim.url), {
      method: o.method ?? "GET",
      ca: sim.caPem,
      agent: false,
      headers: {
        ...(o.token ? { authorization: `Bearer ${o.token}` } : {}),
        ...(o.body === undefined ? {} : { "content-type": "application/json" }),
        ...o.headers,
      },
    }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => text += piece);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", reject);
    });
    outgoing.on("error", reject);
    outgoing.end(o.body === undefined ? undefined : JSON.stringify(o.body));
  });
}

const tokenIn = (kubeconfig: string) => /token: (\S+)/.exec(kubeconfig)![1]!;

async function withSim(o: Parameters<typeof startSimClusters>[0], test: (sim: SimClusters) => Promise<void>) {
  const sim = await startSimClusters(o);
  try {
    await test(sim);
  } finally {
    await sim.close();
  }
}

const PODS = "/clusters/a/api/v1/namespaces/default/pods";

Deno.test("startSimClusters: a cluster's token is good for that cluster alone, the admin token for all", () =>
  withSim({ names: ["a", "b"] }, async (sim) => {
    const token = tokenIn(sim.cluster("a").kubeconfig());
    assert.equal((await call(sim, PODS, { token })).status, 200);
    assert.equal((await call(sim, PODS.replace("/a/", "/b/"), { token })).status, 401);
    assert.equal((await call(sim, PODS, { token: sim.token })).status, 200);
    assert.equal((await call(sim, PODS)).status, 401);
    assert.equal((await call(sim, "/clusters/a/version")).status, 200);
    assert.equal((await call(sim, "/clusters/nope/api", { token: sim.token })).status, 404);
    assert.equal((await call(sim, "/control/clusters", { token })).status, 401);
  }));

Deno.test("startSimClusters: clusters are apart from each other and opened when first used", () =>
  withSim({ names: ["a", "b"] }, async (sim) => {
    assert.equal(sim.cluster("b").opened, false);
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m" } };
    const path = PODS.replace("pods", "configmaps");
    const made = await call(sim, path, { method: "POST", token: sim.token, body: map });
    assert.equal(made.status, 201, made.text);
    assert.equal((await call(sim, `${path}/m`, { token: sim.token })).status, 200);
    assert.equal((await call(sim, `${path.replace("/a/", "/b/")}/m`, { token: sim.token })).status, 404);
  }));

Deno.test("POST /control/faults: down resets connections, {} heals, bad faults are named", () =>
  withSim({ names: ["a", "b"] }, async (sim) => {
    const post = (body: unknown) => call(sim, "/control/faults", { method: "POST", token: sim.token, body });
    assert.equal((await post({ cluster: "a", faults: { down: true } })).status, 200);
    await assert.rejects(call(sim, PODS, { token: sim.token }));
    assert.equal((await call(sim, PODS.replace("/a/", "/b/"), { token: sim.token })).status, 200);
    const listed = JSON.parse((await call(sim, "/control/clusters", { token: sim.token })).text);
    assert.deepEqual(listed.map((c: { name: string; faults: unknown }) => [c.name, c.faults]), [
      ["a", { down: true }],
      ["b", {}],
    ]);
    assert.equal((await post({ cluster: "*", faults: {} })).status, 200);
    assert.equal((await call(sim, PODS, { token: sim.token })).status, 200);
    for (
      const [body, message] of [
        [{ cluster: "a", faults: { boom: 1 } }, /faults\.boom is unknown/],
        [{ faults: {} }, /send \{\\"cluster/],
        [{ cluster: "zzz" }, /Cannot find the simulated cluster/],
      ] as const
    ) assert.match((await post(body)).text, message);
  }));

Deno.test("impersonation: the admin acts as a user, who may do what the rules say", () =>
  withSim({ names: ["a"], impersonation: [{ user: "robot", namespace: "default", verbs: ["list"] }] }, async (sim) => {
    const as = (user: string, path: string) =>
      call(sim, path, { token: sim.token, headers: { "impersonate-user": user } });
    assert.equal((await as("robot", PODS)).status, 200);
    const no = await as("robot", PODS.replace("pods", "secrets").replace("default", "kube-system"));
    assert.equal(no.status, 403);
    assert.match(no.text, /User \\"robot\\" cannot list resource \\"secrets\\"/);
    assert.equal((await call(sim, PODS.replace("default", "kube-system"), { token: sim.token })).status, 200);
  }));

Deno.test("dataDir: a second start finds objects, certificates and tokens as they were", async () => {
  const dataDir = await Deno.makeTempDir();
  try {
    let kubeconfig = "";
    let port = 0;
    await withSim({ names: ["a"], dataDir }, async (sim) => {
      kubeconfig = sim.cluster("a").kubeconfig();
      port = Number(new URL(sim.url).port);
      const client = await sim.cluster("a").client();
      const maps = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };
      await client.create(maps, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m", namespace: "default" } });
      client.close();
    });
    await withSim({ names: ["a"], dataDir, listen: `127.0.0.1:${port}` }, async (sim) => {
      assert.equal(sim.cluster("a").kubeconfig(), kubeconfig);
      const path = PODS.replace("pods", "configmaps/m");
      assert.equal((await call(sim, path, { token: tokenIn(kubeconfig) })).status, 200);
    });
    for (const { name } of Deno.readDirSync(dataDir)) {
      if (name === "admin.token") assert.equal(Deno.statSync(`${dataDir}/${name}`).mode! & 0o077, 0);
    }
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("startSimClusters: bad names and addresses are refused with the mend", async () => {
  await assert.rejects(startSimClusters({ names: ["A!"], clock: new FakeClock() }), /a name is made of/);
  await assert.rejects(startSimClusters({ names: ["a", "a"] }), /twice/);
  await assert.rejects(startSimClusters({ listen: "nowhere" }), /HOST:PORT/);
});

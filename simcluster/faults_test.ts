import assert from "node:assert/strict";
import { ClusterDown } from "./cluster.ts";
import { FaultState, matches, parseFaults } from "./faults.ts";
import { withCluster, workload } from "./testkit.ts";

Deno.test("matches: * stands for any text", () => {
  assert.ok(matches("*", "x") && matches(undefined, "x") && matches("a*c", "abc") && matches("a*", "a"));
  assert.ok(!matches("a", "ab") && !matches("a*a", "a") && !matches("*x", "xy"));
});

Deno.test("parseFaults: refuses what it does not know, with the field", () => {
  assert.deepEqual(parseFaults({ slow: 5, down: false, crash: [{ name: "x" }] }), {
    slow: 5,
    down: false,
    crash: [{ name: "x" }],
  });
  for (
    const [faults, field] of [
      [{ slwo: 1 }, /faults\.slwo is unknown/],
      [{ slow: -1 }, /faults\.slow must be/],
      [{ crash: [{}] }, /faults\.crash\[0\] needs a name/],
      [{ refuse: [{ code: 418 }] }, /faults\.refuse\[0\] has the code 418/],
      [null, /faults must be an object/],
    ] as const
  ) assert.throws(() => parseFaults(faults), field);
});

Deno.test("FaultState: a refusal counts its times", () => {
  const state = new FaultState();
  state.set({ refuse: [{ verb: "write", resource: "pods", code: 403, times: 2 }] });
  const attributes = {
    verb: "create",
    isResourceRequest: true,
    path: "",
    group: "",
    version: "v1",
    resource: "pods",
    subresource: "",
    namespace: "a",
    name: "",
  };
  state.refuse({ ...attributes, verb: "get" });
  assert.throws(() => state.refuse(attributes), { code: 403 });
  assert.throws(() => state.refuse(attributes), { code: 403 });
  state.refuse(attributes);
});

const PATH = "/apis/apps/v1/namespaces/default/deployments/web";

Deno.test("refuse: matching requests get the code and the message, others go on, controllers are not hit", () =>
  withCluster(async (t) => {
    t.cluster.faults.set({
      refuse: [{ verb: "patch", resource: "deployments", name: "web", code: 422, message: "no" }],
    });
    const answer = await t.apply(PATH, workload("Deployment", "web"));
    assert.equal(answer.status, 422);
    assert.equal(answer.body["message"], "no");
    assert.equal(answer.body["reason"], "Invalid");
    t.cluster.faults.set({});
    assert.equal((await t.apply(PATH, workload("Deployment", "web"))).status, 201);
    t.cluster.faults.set({ refuse: [{ verb: "write", code: 500 }] });
    await t.pass(4_000);
    assert.match(JSON.stringify(await t.get(PATH)), /"availableReplicas":1/);
  }));

Deno.test("slow: a request waits as long as it was told", () =>
  withCluster(async (t) => {
    await t.get("/api/v1/namespaces/default");
    t.cluster.faults.set({ slow: 700 });
    let done = false;
    const answer = t.get("/api/v1/namespaces/default").then(() => done = true);
    await t.clock.advance(600);
    assert.equal(done, false);
    await t.clock.advance(200);
    await answer;
    assert.equal(done, true);
  }));

Deno.test("down: requests and open watches break; the state is there when the cluster comes back", () =>
  withCluster(async (t) => {
    await t.apply(PATH, workload("Deployment", "web"));
    const watch = await t.cluster.handle({
      method: "GET",
      path: "/apis/apps/v1/deployments?watch=true",
      headers: {},
      user: { name: "a", groups: ["system:masters"] },
    });
    const reading = (async () => {
      for await (const _ of watch.body as AsyncIterable<string>);
    })();
    t.cluster.faults.set({ down: true });
    await assert.rejects(reading, ClusterDown);
    await assert.rejects(t.get(PATH), ClusterDown);
    t.cluster.faults.set({});
    assert.equal((await t.get(PATH))["kind"], "Deployment");
  }));

Deno.test("impersonation rules: others than masters may do what a rule says", () =>
  withCluster(async (t) => {
    const as = async (method: string, path: string, name: string) =>
      (await t.cluster.handle({ method, path, headers: {}, user: { name, groups: ["system:authenticated"] } })).status;
    const robot = "system:serviceaccount:shop:convoy";
    assert.equal(await as("GET", "/api/v1/namespaces/shop/pods", robot), 200);
    assert.equal(await as("GET", "/api/v1/namespaces/default/pods", robot), 403);
    assert.equal(await as("GET", "/api/v1/namespaces/shop/pods", "other"), 403);
    assert.equal(await as("GET", "/api", "other"), 200);
  }, { impersonation: [{ user: "system:serviceaccount:shop:*", namespace: "shop" }] }));

import assert from "node:assert/strict";
import { captureLogger, tinyServer } from "../testing/mod.ts";
import { createMetrics, FakeClock, type Role, type RoleContext, runRoles, type RunRolesOptions } from "./mod.ts";

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function start(roles: Role[], options: RunRolesOptions = {}, server = tinyServer(), identity = "me") {
  const clock = new FakeClock();
  const logger = captureLogger();
  const metrics = createMetrics({ process: false });
  const abort = new AbortController();
  // Roles of these tests use no more of the world than this.
  const parts = {
    client: server.client,
    clock,
    logger,
    metrics,
    signal: abort.signal,
    options: { identity },
  } as unknown as RoleContext;
  const done = runRoles(roles, parts, { backoff: { minMs: 1000, random: () => 0 }, ...options });
  return {
    clock,
    logger,
    metrics,
    server,
    async stop() {
      abort.abort();
      for (let i = 0; i < 5; i++) await clock.advance(1000);
      await done;
      assert.equal(clock.pending, 0, "timers left");
    },
  };
}

function role(name: string, group: Role["group"], run: Role["run"]): Role {
  return { name, group, run };
}

Deno.test("runRoles(): a role that crashes is started again with backoff, the others live on", async () => {
  let crashes = 0, others = 0;
  const leftOver: boolean[] = [];
  const r = start([
    role("drift", "observer", (ctx) => {
      crashes++;
      ctx.signal.addEventListener("abort", () => leftOver.push(true));
      return Promise.reject(new Error("boom"));
    }),
    role("health", "observer", (ctx) => {
      others++;
      return untilAborted(ctx.signal);
    }),
  ]);
  await r.clock.advance(0);
  assert.equal(crashes, 1);
  await r.clock.advance(999);
  assert.equal(crashes, 1);
  await r.clock.advance(1);
  assert.equal(crashes, 2);
  await r.clock.advance(2000);
  assert.equal(crashes, 3);
  assert.equal(others, 1);
  assert.equal(leftOver.length, 3, "a crashed run's signal was not aborted");
  assert.match(await r.metrics.text(), /convoy_role_crashes_total\{role="drift"\} 3/);
  assert.match(await r.metrics.text(), /convoy_role_running\{role="health"\} 1/);
  assert.deepEqual(r.logger.lines[0]?.fields, { role: "drift", restartMs: 1000 });
  await r.stop();
});

Deno.test("runRoles(): a role that ends by itself is started again", async () => {
  let runs = 0;
  const r = start([role("x", "observer", () => {
    runs++;
    return Promise.resolve();
  })]);
  await r.clock.advance(1000);
  assert.equal(runs, 2);
  await r.stop();
});

Deno.test("runRoles(): a role that ran well for long is forgiven its earlier crashes", async () => {
  let runs = 0;
  const r = start([role("x", "observer", async (ctx) => {
    runs++;
    if (runs === 4) await new Promise<void>((resolve) => ctx.clock.after(120_000, resolve));
    throw new Error("boom");
  })]);
  await r.clock.advance(7000);
  assert.equal(runs, 4);
  await r.clock.advance(120_000);
  await r.clock.advance(1000);
  assert.equal(runs, 5);
  await r.stop();
});

Deno.test("runRoles(): with leader election each group has its own lease", async () => {
  const running = new Set<string>();
  const make = (name: string, group: Role["group"]) =>
    role(name, group, async (ctx) => {
      running.add(name);
      await untilAborted(ctx.signal);
      running.delete(name);
    });
  const roles = [
    make("release", "controller-manager"),
    make("cluster", "controller-manager"),
    make("drift", "observer"),
  ];
  const r = start(roles, { leaderElect: { namespace: "convoy" } });
  await r.clock.advance(0);
  assert.deepEqual([...running].sort(), ["cluster", "drift", "release"]);
  assert.deepEqual([...r.server.objects.keys()].sort(), [
    "leases/convoy/convoy-controller-manager",
    "leases/convoy/convoy-observer",
  ]);
  // Someone takes one of them: the roles of that group end, the other goes on.
  const lease = r.server.objects.get("leases/convoy/convoy-controller-manager") as unknown as {
    spec: { holderIdentity: string };
    metadata: { resourceVersion: string };
  };
  lease.spec.holderIdentity = "other";
  lease.metadata.resourceVersion = "999";
  await r.clock.advance(3000);
  assert.deepEqual([...running], ["drift"]);
  await r.stop();
  assert.equal(running.size, 0);
});

import assert from "node:assert/strict";
import { FakeClock } from "../runtime/clock.ts";
import { TransportError } from "../kube/mod.ts";
import { captureLogger, type TinyServer, tinyServer } from "../testing/mod.ts";
import { type Lease, runLeaderElection } from "./mod.ts";

interface Candidate {
  leading: boolean;
  terms: number;
  stop(): void;
  done: Promise<void>;
  /** Lets the work of a lost or ended lead finish. */
  finish: () => void;
}

function candidate(server: TinyServer, clock: FakeClock, identity: string, slowEnd = false): Candidate {
  const abort = new AbortController();
  const self: Candidate = { leading: false, terms: 0, stop: () => abort.abort(), done: Promise.resolve(), finish() {} };
  self.done = runLeaderElection({
    client: server.client,
    clock,
    logger: captureLogger(),
    namespace: "convoy",
    name: "convoy-observer",
    identity,
    signal: abort.signal,
    random: () => 0,
    async lead(signal) {
      self.leading = true;
      self.terms++;
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      if (slowEnd) await new Promise<void>((resolve) => self.finish = resolve);
      self.leading = false;
    },
  });
  return self;
}

const leaseOf = (server: TinyServer) => server.objects.get("leases/convoy/convoy-observer") as Lease;

async function world() {
  const clock = new FakeClock();
  const server = tinyServer();
  const a = candidate(server, clock, "a");
  await clock.advance(0);
  const b = candidate(server, clock, "b");
  await clock.advance(0);
  assert.deepEqual([a.leading, b.leading], [true, false]);
  return {
    clock,
    server,
    a,
    b,
    async end() {
      server.hang = undefined;
      a.stop();
      b.stop();
      for (let i = 0; i < 10; i++) await clock.advance(1000);
      await Promise.all([a.done, b.done]);
      assert.equal(clock.pending, 0, "timers left");
    },
  };
}

Deno.test("runLeaderElection(): one of two candidates leads, as long as it renews", async () => {
  const { clock, server, a, b, end } = await world();
  await clock.advance(120_000);
  assert.deepEqual([a.leading, b.leading], [true, false]);
  assert.equal(a.terms, 1);
  const { spec } = leaseOf(server);
  assert.equal(spec?.holderIdentity, "a");
  assert.equal(spec?.leaseDurationSeconds, 15);
  assert.equal(spec?.leaseTransitions, 0);
  assert.equal(spec?.acquireTime, "2026-01-01T00:00:00.000000Z");
  assert.match(spec?.renewTime ?? "", /^2026-01-01T00:0(1:58|2:00)\.000000Z$/);
  await end();
});

Deno.test("runLeaderElection(): a clean stop releases the lease, and the other takes it at its next try", async () => {
  const { clock, server, a, b, end } = await world();
  a.stop();
  await a.done;
  assert.equal(leaseOf(server).spec?.holderIdentity, "");
  await clock.advance(2_500);
  assert.equal(b.leading, true);
  assert.equal(leaseOf(server).spec?.leaseTransitions, 1);
  await end();
});

Deno.test("runLeaderElection(): after a crash the other leads when the lease has run out, not before", async () => {
  const clock = new FakeClock();
  const server = tinyServer();
  server.objects.set("leases/convoy/convoy-observer", {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { namespace: "convoy", name: "convoy-observer", resourceVersion: "0" },
    // The dead leader's clock was a day ahead: only what we see counts.
    spec: { holderIdentity: "dead", leaseDurationSeconds: 15, renewTime: "2026-01-02T00:00:00.000000Z" },
  } as Lease);
  const b = candidate(server, clock, "b");
  await clock.advance(14_000);
  assert.equal(b.leading, false);
  await clock.advance(3_000);
  assert.equal(b.leading, true);
  b.stop();
  await b.done;
});

Deno.test("runLeaderElection(): a leader that cannot renew gives up before the lease runs out for others", async () => {
  const { clock, server, a, b, end } = await world();
  await clock.advance(2_000);
  server.down = new TransportError("down");
  await clock.advance(9_000);
  assert.equal(a.leading, true);
  await clock.advance(3_000);
  assert.equal(a.leading, false, "still leading after the renew deadline");
  assert.equal(b.leading, false);
  server.down = undefined;
  await clock.advance(20_000);
  assert.equal(Number(a.leading) + Number(b.leading), 1);
  await end();
});

Deno.test("runLeaderElection(): a renewal that hangs counts as one that fails", async () => {
  const { clock, server, a, end } = await world();
  server.hang = new Promise(() => {});
  await clock.advance(12_000);
  assert.equal(a.leading, false);
  await end();
});

Deno.test("runLeaderElection(): a lease that someone else has taken ends the lead at the next renewal", async () => {
  const { clock, server, a, end } = await world();
  const lease = leaseOf(server);
  lease.spec = { ...lease.spec, holderIdentity: "thief" };
  lease.metadata.resourceVersion = "999";
  await clock.advance(2_000);
  assert.equal(a.leading, false);
  await end();
});

Deno.test("runLeaderElection(): two that find no holder at once: one write wins", async () => {
  const clock = new FakeClock();
  const server = tinyServer();
  const all = ["a", "b", "c"].map((identity) => candidate(server, clock, identity));
  await clock.advance(10_000);
  assert.equal(all.filter((c) => c.leading).length, 1);
  for (const c of all) c.stop();
  for (let i = 0; i < 5; i++) await clock.advance(1000);
  await Promise.all(all.map((c) => c.done));
});

Deno.test("runLeaderElection(): the lease is renewed until the work has ended, and only then released", async () => {
  const clock = new FakeClock();
  const server = tinyServer();
  const a = candidate(server, clock, "a", true);
  await clock.advance(0);
  a.stop();
  await clock.advance(6_000);
  assert.equal(leaseOf(server).spec?.holderIdentity, "a");
  assert.match(leaseOf(server).spec?.renewTime ?? "", /00:00:0[46]/);
  a.finish();
  await a.done;
  assert.equal(leaseOf(server).spec?.holderIdentity, "");
  assert.equal(clock.pending, 0);
});

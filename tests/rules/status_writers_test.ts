/** Rules 1 to 6 of design.md §3 with the real writers against the real API server. */
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { type Release, RELEASES, type ReleaseStatus } from "../../shared/api/mod.ts";
import { cloneJson } from "../../shared/json/mod.ts";
import { createMetrics } from "../../shared/runtime/mod.ts";
import { writeHealth, writeInSync, type WriterDeps, writerDeps, writeReleaseStatus } from "../../shared/status/mod.ts";
import { condition, NS, Server } from "./kit.ts";
import { ownersOf, statusOwner } from "./owners.ts";

const NOW = Date.UTC(2026, 0, 1, 12);
const summary = (healthy: number) => ({ healthy, progressing: 0, degraded: 0, suspended: 0, missing: 0, unknown: 0 });
const verdict = (status: "True" | "False" | "Unknown", message = "") => ({ status, reason: "Because", message });

function deps(server: Server): WriterDeps {
  return writerDeps({ client: server.client, metrics: createMetrics({ process: false }) });
}

/** What the controller would write: all its fields, told apart by `n`. */
function controllerStatus(base: Release, n: number, optional = true): ReleaseStatus {
  const status = cloneJson(base.status ?? {});
  const mine = (type: string) => ({
    type,
    status: n % 2 === 0 ? "True" as const : "False" as const,
    reason: "Because",
    message: `n${n}`,
    observedGeneration: 1,
    lastTransitionTime: "2026-01-01T00:00:00Z",
  });
  const types = ["Applied", "RolloutSucceeded", ...(optional ? ["LifecycleSucceeded"] : [])];
  const others = (status.conditions ?? []).filter((c) => c.type === "InSync" || c.type === "Healthy");
  status.conditions = [...types.map(mine), ...others];
  status.observedGeneration = 1;
  status.source = { revision: `main@${n}`, digest: `sha256:${n}` };
  status.renderRef = `r${n}`;
  status.waves = Array.from({ length: n % 3 + 1 }, (_, wave) => ({ wave, objects: n, applied: n, healthy: n }));
  status.renders = [{ renderRef: `r${n}`, revision: `main@${n}`, time: "2026-01-01T00:00:00Z", size: n, objects: n }];
  delete status.pin;
  delete status.lifecycle;
  if (optional) {
    status.pin = { renderRef: `r${n}`, reason: "hold" };
    status.lifecycle = { action: "Restart", id: `n${n}` };
  }
  status.resolvedRetentionPolicy = { count: n % 5 + 1 };
  return status;
}

Deno.test("rule 1: each writer owns its own fields of the status and no other's", async () => {
  await using server = await Server.start();
  const release = await server.addRelease("web");
  await writeReleaseStatus(deps(server), release, controllerStatus(release, 1), NOW);
  await writeInSync(deps(server), release, verdict("True"), NOW);
  await writeHealth(deps(server), release, verdict("True"), summary(1), NOW);
  // A second round from an old cache: force lets nobody take what is another's, since nobody sends it.
  await writeReleaseStatus(deps(server), release, controllerStatus(release, 2), NOW);
  await writeInSync(deps(server), release, verdict("False"), NOW);
  const owners = ownersOf(await server.release("web"));
  const status = [...owners].filter(([path]) => path.startsWith(".status"));
  assert.ok(status.length > 20);
  for (const [path, managers] of status) assert.deepEqual([path, [...managers]], [path, [statusOwner(path)]]);
});

Deno.test("rule 2: a controller with an old cache does not bring old InSync, Healthy and healthSummary back", async () => {
  await using server = await Server.start();
  const old = await server.addRelease("web");
  await writeInSync(deps(server), old, verdict("True"), NOW);
  await writeHealth(deps(server), old, verdict("True"), summary(1), NOW);
  const stale = await server.release("web");
  await writeInSync(deps(server), stale, verdict("False", "drifted"), NOW);
  await writeHealth(deps(server), stale, verdict("False", "broken"), summary(7), NOW);
  await writeReleaseStatus(deps(server), stale, controllerStatus(stale, 3), NOW);
  const now = await server.release("web");
  assert.equal(condition(now, "InSync")?.message, "drifted");
  assert.equal(condition(now, "Healthy")?.message, "broken");
  assert.deepEqual(now.status?.healthSummary, summary(7));
});

Deno.test("rule 3: leaving pin, lifecycle and LifecycleSucceeded out clears them, and nothing else", async () => {
  await using server = await Server.start();
  const d = deps(server);
  const release = await server.addRelease("web");
  await writeInSync(deps(server), release, verdict("True"), NOW);
  await writeReleaseStatus(d, release, controllerStatus(release, 1), NOW);
  const pinned = await server.release("web");
  assert.ok(pinned.status?.pin && pinned.status.lifecycle && condition(pinned, "LifecycleSucceeded"));
  await writeReleaseStatus(d, pinned, controllerStatus(pinned, 1, false), NOW);
  const unpinned = await server.release("web");
  assert.equal(unpinned.status?.pin, undefined);
  assert.equal(unpinned.status?.lifecycle, undefined);
  assert.equal(condition(unpinned, "LifecycleSucceeded"), undefined);
  assert.ok(condition(unpinned, "Applied") && condition(unpinned, "InSync"));
});

Deno.test("rule 3: resolvedRetentionPolicy is always sent", async () => {
  await using server = await Server.start();
  const release = await server.addRelease("web");
  await writeReleaseStatus(deps(server), release, { observedGeneration: 1 }, NOW);
  assert.deepEqual((await server.release("web")).status?.resolvedRetentionPolicy, { count: 10 });
});

Deno.test("rule 4: without a difference there is no write, and reconciledAt moves only with one", async () => {
  await using server = await Server.start();
  const d = deps(server);
  const release = await server.addRelease("web");
  assert.equal(await writeReleaseStatus(d, release, controllerStatus(release, 1), NOW), "written");
  const first = await server.release("web");
  assert.equal(await writeReleaseStatus(d, first, controllerStatus(first, 1), NOW + 60_000), "skipped");
  const second = await server.release("web");
  assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion);
  assert.equal(await writeReleaseStatus(d, second, controllerStatus(second, 2), NOW + 60_000), "written");
  assert.equal((await server.release("web")).status?.reconciledAt, "2026-01-01T12:01:00Z");
});

Deno.test("rule 5: the observers skip equal findings; lastTransitionTime moves only with the status", async () => {
  await using server = await Server.start();
  const drift = deps(server), health = deps(server);
  let release = await server.addRelease("web");
  await writeInSync(drift, release, verdict("True"), NOW);
  await writeHealth(health, release, verdict("True"), summary(1), NOW);
  release = await server.release("web");
  assert.equal(await writeInSync(drift, release, verdict("True"), NOW + 1000), "skipped");
  assert.equal(await writeHealth(health, release, verdict("True"), summary(1), NOW + 1000), "skipped");
  assert.equal(await writeHealth(health, release, verdict("True"), summary(2), NOW + 1000), "written");
  assert.equal(await writeInSync(drift, release, verdict("True", "other"), NOW + 1000), "written");
  release = await server.release("web");
  assert.equal(condition(release, "InSync")?.lastTransitionTime, "2026-01-01T12:00:00Z");
  assert.equal(condition(release, "Healthy")?.lastTransitionTime, "2026-01-01T12:00:00Z");
  await writeInSync(drift, release, verdict("False"), NOW + 2000);
  assert.equal(condition(await server.release("web"), "InSync")?.lastTransitionTime, "2026-01-01T12:00:02Z");
});

type Op =
  | { writer: "controller"; n: number; optional: boolean; lag: number }
  | { writer: "drift"; status: "True" | "False" | "Unknown"; message: string; lag: number }
  | { writer: "health"; status: "True" | "False" | "Unknown"; healthy: number; lag: number }
  | { writer: "user"; lag: number };

const lag = fc.nat({ max: 6 });
const status = fc.constantFrom("True" as const, "False" as const, "Unknown" as const);
const op: fc.Arbitrary<Op> = fc.oneof(
  fc.record({ writer: fc.constant("controller" as const), n: fc.nat({ max: 4 }), optional: fc.boolean(), lag }),
  fc.record({ writer: fc.constant("drift" as const), status, message: fc.constantFrom("a", "b"), lag }),
  fc.record({ writer: fc.constant("health" as const), status, healthy: fc.nat({ max: 3 }), lag }),
  fc.record({ writer: fc.constant("user" as const), lag }),
);

Deno.test("rule 1: in any interleaving, from caches of any age, no writer's fields are lost", async () => {
  await using server = await Server.start();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(op, { minLength: 1, maxLength: 14 }), async (ops) => {
      const name = `r${run++}`;
      const snapshots = [await server.addRelease(name)];
      const writers = { controller: deps(server), drift: deps(server), health: deps(server) };
      const want: { controller?: [number, boolean]; drift?: string; health?: string; summary?: number } = {};
      for (const o of ops) {
        // Each loop sees some version of the past.
        const cached = snapshots[Math.max(0, snapshots.length - 1 - o.lag)]!;
        if (o.writer === "controller") {
          const base = writers.controller.memory.fresher(cached);
          await writeReleaseStatus(writers.controller, base, controllerStatus(base, o.n, o.optional), NOW);
          want.controller = [o.n, o.optional];
        } else if (o.writer === "drift") {
          await writeInSync(writers.drift, cached, verdict(o.status, o.message), NOW);
          want.drift = `${o.status} ${o.message}`;
        } else if (o.writer === "health") {
          await writeHealth(writers.health, cached, verdict(o.status), summary(o.healthy), NOW);
          want.health = o.status;
          want.summary = o.healthy;
        } else {
          const body = { spec: { interval: `${snapshots.length}m` } };
          await server.client.patch(RELEASES, { namespace: NS, name }, { type: "merge", body });
        }
        const now = await server.release(name);
        snapshots.push(now);
        const text = (type: string) => {
          const c = condition(now, type);
          return c && `${c.status} ${c.message}`.trim();
        };
        if (want.drift) assert.equal(text("InSync"), want.drift);
        if (want.health) assert.equal(text("Healthy"), want.health);
        if (want.summary !== undefined) assert.deepEqual(now.status?.healthSummary, summary(want.summary));
        if (want.controller) {
          const [n, optional] = want.controller;
          assert.equal(now.status?.renderRef, `r${n}`);
          assert.equal(now.status.waves?.length, n % 3 + 1);
          assert.deepEqual(now.status.renders?.map((r) => r.renderRef), [`r${n}`]);
          assert.deepEqual(now.status.resolvedRetentionPolicy, { count: n % 5 + 1 });
          assert.equal(now.status.pin?.renderRef, optional ? `r${n}` : undefined);
          assert.equal(now.status.lifecycle?.id, optional ? `n${n}` : undefined);
          assert.equal(condition(now, "Applied")?.message, `n${n}`);
          assert.equal(condition(now, "LifecycleSucceeded") !== undefined, optional);
        }
      }
      for (const [path, managers] of ownersOf(snapshots.at(-1)!)) {
        if (path.startsWith(".status")) assert.deepEqual([path, [...managers]], [path, [statusOwner(path)]]);
      }
    }),
    { numRuns: 60 },
  );
});

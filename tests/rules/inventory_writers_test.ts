/** Rule 7 of design.md §3 with the real writers against the real API server. */
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { RELEASE_INVENTORIES, type ReleaseInventory } from "../../shared/api/mod.ts";
import {
  type AssessedEntry,
  type AssessedHook,
  type CheckedEntry,
  entryId,
  memberHooks,
  members,
  put,
  putDrift,
  type PutEntry,
  putHealth,
  type PutHook,
  putHooks,
} from "../../shared/inventory/mod.ts";
import { createMetrics } from "../../shared/runtime/mod.ts";
import { writerDeps } from "../../shared/status/mod.ts";
import { NS, Server } from "./kit.ts";
import { inventoryOwners, ownersOf } from "./owners.ts";

const deps = (server: Server) => writerDeps({ client: server.client, metrics: createMetrics({ process: false }) });
const key = (name: string) => ({ group: "apps", kind: "Deployment", namespace: "t1", name });
const entry = (name: string, renderRef = "r1", wave = 0): PutEntry => ({
  ...key(name),
  version: "v1",
  renderRef,
  wave,
});
const hook = (name: string, renderRef = "r1"): PutHook => ({
  name,
  phase: "PreApply",
  renderRef,
  startedAt: "2026-01-01T00:00:00Z",
});
const healthy = (name: string, ref = "r1"): AssessedEntry => ({
  ...key(name),
  state: "Healthy",
  assessedRenderRef: ref,
});
const drifted = (name: string): CheckedEntry => ({
  ...key(name),
  drift: { state: "Drifted", fields: ["/spec/replicas"], checkedRenderRef: "r1" },
});

Deno.test("rule 7: Put clears no hooks, and PutHooks clears no inventory", async () => {
  await using server = await Server.start();
  const release = await server.addRelease("web");
  const d = deps(server);
  await put(d, release, undefined, [entry("a"), entry("b")]);
  await putHooks(d, await server.inventory("web"), [hook("migrate")]);
  await put(d, release, await server.inventory("web"), [entry("b", "r2")]);
  let now = await server.inventory("web");
  assert.deepEqual(now.hooks?.map((h) => h.name), ["migrate"]);
  assert.deepEqual(members(now).map((m) => [m.name, m.renderRef]), [["b", "r2"]]);
  await putHooks(d, now, []);
  now = await server.inventory("web");
  assert.equal(now.hooks?.length ?? 0, 0);
  assert.deepEqual(members(now).map((m) => m.name), ["b"]);
});

Deno.test("rule 7: a finished hook stays finished when the health loop looks at another one", async () => {
  await using server = await Server.start();
  const release = await server.addRelease("web");
  const controller = deps(server), health = deps(server);
  await put(controller, release, undefined, [entry("a")]);
  await putHooks(controller, await server.inventory("web"), [hook("first"), hook("second")]);
  const done: AssessedHook = {
    name: "first",
    phase: "PreApply",
    state: "Succeeded",
    finishedAt: "2026-01-01T00:01:00Z",
  };
  await putHealth(health, await server.inventory("web"), { hooks: [done] });
  await putHealth(health, await server.inventory("web"), {
    hooks: [{ name: "second", phase: "PreApply", state: "Running" }],
    entries: [healthy("a")],
  });
  const now = await server.inventory("web");
  assert.deepEqual(now.hooks?.map((h) => [h.name, h.state, h.finishedAt]), [
    ["first", "Succeeded", "2026-01-01T00:01:00Z"],
    ["second", "Running", undefined],
  ]);
});

Deno.test("rule 7: an entry that left the membership lives until its observers' next patch, and counts for nobody", async () => {
  await using server = await Server.start();
  const release = await server.addRelease("web");
  const controller = deps(server), health = deps(server), drift = deps(server);
  await put(controller, release, undefined, [entry("a"), entry("b")]);
  await putHealth(health, await server.inventory("web"), { entries: [healthy("a"), healthy("b")] });
  await putDrift(drift, await server.inventory("web"), [drifted("b")]);
  await put(controller, release, await server.inventory("web"), [entry("a")]);
  let now = await server.inventory("web");
  assert.deepEqual(now.inventory?.map((e) => e.name), ["a", "b"]);
  assert.deepEqual(members(now).map((m) => m.name), ["a"]);
  await putHealth(health, now, {});
  await putDrift(drift, await server.inventory("web"), []);
  now = await server.inventory("web");
  assert.deepEqual(now.inventory?.map((e) => e.name), ["a"]);
});

Deno.test("C12: a late patch of an observer does not bring a deleted inventory back", async () => {
  await using server = await Server.start();
  const release = await server.addRelease("web");
  await put(deps(server), release, undefined, [entry("a")]);
  const cached = await server.inventory("web");
  await server.client.delete(RELEASE_INVENTORIES, { namespace: NS, name: "web" });
  assert.equal(await putHealth(deps(server), cached, { entries: [healthy("a")] }), "skipped");
  assert.equal(await putDrift(deps(server), cached, [drifted("a")]), "skipped");
  assert.equal(await putHooks(deps(server), cached, [hook("h")]), "skipped");
  await assert.rejects(server.inventory("web"), /not found/);
  // Nor does it write into one that was made anew.
  await put(deps(server), release, undefined, [entry("a")]);
  assert.equal(await putHealth(deps(server), cached, { entries: [healthy("a")] }), "skipped");
  assert.equal((await server.inventory("web")).inventory?.[0]?.state, undefined);
});

const NAMES = ["a", "b", "c", "d"];
const HOOKS = ["h1", "h2", "h3"];
type Op =
  | { writer: "put"; names: string[]; ref: string; lag: number }
  | { writer: "hooks"; names: string[]; ref: string; lag: number }
  | { writer: "health"; names: string[]; hooks: string[]; state: "Healthy" | "Degraded"; lag: number }
  | { writer: "drift"; names: string[]; state: "InSync" | "Drifted"; lag: number };

const lag = fc.nat({ max: 5 });
const ref = fc.constantFrom("r1", "r2", "r3");
const op: fc.Arbitrary<Op> = fc.oneof(
  fc.record({ writer: fc.constant("put" as const), names: fc.subarray(NAMES), ref, lag }),
  fc.record({ writer: fc.constant("hooks" as const), names: fc.subarray(HOOKS), ref, lag }),
  fc.record({
    writer: fc.constant("health" as const),
    names: fc.subarray(NAMES),
    hooks: fc.subarray(HOOKS),
    state: fc.constantFrom("Healthy" as const, "Degraded" as const),
    lag,
  }),
  fc.record({
    writer: fc.constant("drift" as const),
    names: fc.subarray(NAMES),
    state: fc.constantFrom("InSync" as const, "Drifted" as const),
    lag,
  }),
);

Deno.test("rule 7: in any interleaving, from caches of any age, no inventory writer's fields are lost", async () => {
  await using server = await Server.start();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(op, { minLength: 1, maxLength: 16 }), async (ops) => {
      const release = await server.addRelease(`r${run++}`);
      const { name } = release.metadata;
      const writers = { put: deps(server), hooks: deps(server), health: deps(server), drift: deps(server) };
      await put(writers.put, release, undefined, [entry("a")]);
      const snapshots = [await server.inventory(name)];
      let wantMembers = ["a r1"], wantHooks: string[] = [];
      // What each observer owns, by entry: what it found last, as far as it was a member in what it saw.
      let states = new Map<string, string>(),
        drifts = new Map<string, string>(),
        hookStates = new Map<string, string>();
      for (const o of ops) {
        const cached = snapshots[Math.max(0, snapshots.length - 1 - o.lag)]!;
        const seen: ReleaseInventory = writers[o.writer].memory.fresher(cached);
        const isMember = (id: string) => members(seen).some((m) => m.name === id);
        if (o.writer === "put") {
          await put(writers.put, release, cached, o.names.map((n) => entry(n, o.ref)));
          wantMembers = o.names.map((n) => `${n} ${o.ref}`);
        } else if (o.writer === "hooks") {
          await putHooks(writers.hooks, cached, o.names.map((n) => hook(n, o.ref)));
          wantHooks = o.names.map((n) => `${n} ${o.ref}`);
        } else if (o.writer === "health") {
          const isHook = (id: string) => memberHooks(seen).some((h) => h.name === id);
          states = new Map([...states, ...o.names.map((n) => [n, o.state] as const)].filter(([n]) => isMember(n)));
          hookStates = new Map(
            [...hookStates, ...o.hooks.map((n) => [n, "Succeeded"] as const)].filter(([n]) => isHook(n)),
          );
          await putHealth(writers.health, cached, {
            entries: o.names.map((n) => ({ ...key(n), state: o.state, assessedRenderRef: "r1" })),
            hooks: o.hooks.map((n) => ({
              name: n,
              phase: "PreApply",
              state: "Succeeded",
              finishedAt: "2026-01-01T00:01:00Z",
            })),
          });
        } else {
          drifts = new Map([...drifts, ...o.names.map((n) => [n, o.state] as const)].filter(([n]) => isMember(n)));
          await putDrift(writers.drift, cached, o.names.map((n) => ({ ...key(n), drift: { state: o.state } })));
        }
        const now = await server.inventory(name);
        snapshots.push(now);
        assert.deepEqual(members(now).map((m) => `${m.name} ${m.renderRef}`).sort(), [...wantMembers].sort());
        assert.deepEqual(memberHooks(now).map((h) => `${h.name} ${h.renderRef}`).sort(), [...wantHooks].sort());
        const owned = (pick: (e: NonNullable<ReleaseInventory["inventory"]>[number]) => string | undefined) =>
          Object.fromEntries((now.inventory ?? []).flatMap((e) => pick(e) ? [[e.name, pick(e)]] : []));
        assert.deepEqual(owned((e) => e.state), Object.fromEntries(states));
        assert.deepEqual(owned((e) => e.drift?.state), Object.fromEntries(drifts));
        assert.deepEqual(
          Object.fromEntries((now.hooks ?? []).flatMap((h) => h.state ? [[h.name, h.finishedAt && h.state]] : [])),
          Object.fromEntries(hookStates),
        );
      }
      for (const [path, managers] of ownersOf(snapshots.at(-1)!)) {
        const allowed = inventoryOwners(path);
        assert.ok(allowed && [...managers].every((m) => allowed.includes(m)), `${path} is owned by ${[...managers]}`);
      }
    }),
    { numRuns: 60 },
  );
});

Deno.test("rule 7: entries of one object kind are told apart by all four keys", async () => {
  await using server = await Server.start();
  const release = await server.addRelease("web");
  const d = deps(server);
  const cluster = { group: "", kind: "Namespace", namespace: "", name: "t1", version: "v1", renderRef: "r1", wave: 0 };
  await put(d, release, undefined, [cluster, entry("t1"), { ...entry("t1"), namespace: "t2" }]);
  const now = await server.inventory("web");
  assert.deepEqual(members(now).map(entryId), ["|Namespace||t1", "apps|Deployment|t1|t1", "apps|Deployment|t2|t1"]);
});

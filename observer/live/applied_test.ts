import assert from "node:assert/strict";
import type { Release, ReleaseInventory, ReleaseStatus } from "../../shared/api/mod.ts";
import type { Member } from "../../shared/inventory/mod.ts";
import { isApplied, isRollingOut, membershipChanged, Poll, stayingMembers } from "./mod.ts";

const member = (renderRef: string, more: Partial<Member> = {}): Member => ({
  group: "",
  kind: "ConfigMap",
  namespace: "t1",
  name: "a",
  renderRef,
  ...more,
});
const release = (status: Partial<ReleaseStatus> & { applied?: string }): Release => ({
  apiVersion: "convoy.kumodo.io/v1alpha1",
  kind: "Release",
  metadata: { name: "r", namespace: "t1" },
  spec: {} as Release["spec"],
  status: {
    ...status,
    renders: (status.renders ?? []).map((r) => ({ ...r, revision: "x", time: "", size: 1, objects: 1 })),
    ...(status.applied
      ? {
        conditions: [{
          type: "Applied",
          status: status.applied.split("/")[0] as "True",
          reason: status.applied.split("/")[1]!,
          message: "",
          lastTransitionTime: "",
        }],
      }
      : {}),
  },
});
const renders = (...refs: string[]) =>
  refs.map((renderRef) => ({ renderRef, revision: "x", time: "", size: 1, objects: 1 }));
const wave = (wave: number, objects: number, applied: number) => ({ wave, objects, applied, healthy: 0 });

Deno.test("isApplied is true when all of the member's render is applied", () => {
  const r = release({ applied: "True/Applied", renderRef: "R1", renders: renders("R1") });
  assert.equal(isApplied(r, member("R1")), true);
  assert.equal(isApplied(r, member("R2")), false, "a Put that the status has not caught up with");
});

Deno.test("isApplied is true when the member's wave of the render under way is applied, and only that wave", () => {
  const r = release({
    applied: "Unknown/Progressing",
    renderRef: "R1",
    renders: renders("R1", "R2"),
    waves: [wave(0, 2, 2), wave(1, 1, 0)],
  });
  assert.equal(isApplied(r, member("R2", { wave: 0 })), true);
  assert.equal(isApplied(r, member("R2", { wave: 1 })), false);
  assert.equal(isApplied(r, member("R1", { wave: 0 })), false, "the waves are about R2");
});

Deno.test("isApplied is false for a wave that is applied in part, and without any status", () => {
  const r = release({ applied: "False/ApplyFailed", renders: renders("R1"), waves: [wave(0, 3, 2)] });
  assert.equal(isApplied(r, member("R1")), false);
  const { status: _, ...bare } = r;
  assert.equal(isApplied(bare, member("R1")), false);
});

Deno.test("stayingMembers drops what left the render and waits to be deleted", () => {
  const old = member("R1", { name: "old", assessedRenderRef: "R1" });
  const kept = member("R2", { assessedRenderRef: "R1" });
  const r = release({ renderRef: "R1", renders: renders("R1", "R2") });
  assert.deepEqual(stayingMembers(r, [kept, old]), [kept]);
});

Deno.test("stayingMembers keeps all while the status has not caught up with a Put, and before any status", () => {
  const old = member("R1", { name: "old", assessedRenderRef: "R1" }), kept = member("R2", { assessedRenderRef: "R1" });
  const all = [kept, old];
  assert.deepEqual(stayingMembers(release({ renderRef: "R1", renders: renders("R1") }), all), all);
  assert.deepEqual(stayingMembers(release({}), all), all);
});

Deno.test("isRollingOut: what is not applied yet will be", () => {
  for (
    const [applied, rolling] of [
      ["True/Applied", true],
      ["Unknown/Progressing", true],
      ["Unknown/Suspended", false],
      ["Unknown/WaitingForClusterWave", false],
      ["False/ApplyFailed", false],
    ] as const
  ) assert.equal(isRollingOut(release({ applied })), rolling, applied);
});

const inventory = (entries: Partial<Member>[], hooks: ReleaseInventory["hooks"] = []): ReleaseInventory => ({
  apiVersion: "convoy.kumodo.io/v1alpha1",
  kind: "ReleaseInventory",
  metadata: { name: "r", namespace: "t1" },
  inventory: entries.map((e) => ({ group: "", kind: "ConfigMap", namespace: "t1", name: "a", ...e })),
  hooks,
});

Deno.test("rule 11: membershipChanged is true for members and their renderRef, not for the observer's own fields", () => {
  const one = inventory([{ renderRef: "R1" }]);
  assert.equal(membershipChanged(one, inventory([{ renderRef: "R2" }])), true);
  assert.equal(membershipChanged(one, inventory([{ renderRef: "R1" }, { name: "b", renderRef: "R1" }])), true);
  assert.equal(membershipChanged(one, inventory([])), true);
  assert.equal(membershipChanged(one, inventory([{}])), true, "it is no member any more: its keys have to be dropped");
  const own = { state: "Healthy", message: "m", assessedRenderRef: "R1", drift: { state: "InSync" } } as const;
  assert.equal(membershipChanged(one, inventory([{ renderRef: "R1", ...own }])), false);
});

Deno.test("membershipChanged is true for a hook that is started, not for what the observer says of it", () => {
  const hook = { name: "h", phase: "PreApply", renderRef: "R1" } as const;
  const idle = inventory([], [hook]);
  const started = inventory([], [{ ...hook, startedAt: "2026-01-01T00:00:00Z" }]);
  assert.equal(membershipChanged(idle, started), true);
  assert.equal(
    membershipChanged(started, inventory([], [{ ...hook, startedAt: "2026-01-01T00:00:00Z", state: "Running" }])),
    false,
  );
});

Deno.test("Poll begins at 250 ms, doubles up to 30 s and begins anew", () => {
  const poll = new Poll();
  assert.deepEqual([poll.next(), poll.next(), poll.next()], [250, 500, 1000]);
  for (let i = 0; i < 20; i++) poll.next();
  assert.equal(poll.next(), 30_000);
  poll.reset();
  assert.equal(poll.next(), 250);
});

import assert from "node:assert/strict";
import type { Cluster, GitRepository, Release, ReleaseInventory } from "../../shared/api/mod.ts";
import { appliedOrHealthyChanged, clusterChanged, inventoryChanged, sourceChanged } from "./predicates.ts";

const condition = (type: string, status: string, message = "") => ({
  type,
  status,
  message,
  reason: "X",
  lastTransitionTime: "",
});
const release = (...conditions: unknown[]) => ({ status: { conditions } }) as unknown as Release;
const inventory = (...entries: object[]) =>
  ({
    inventory: entries.map((e) => ({ group: "", kind: "ConfigMap", namespace: "t", name: "a", ...e })),
  }) as ReleaseInventory;

Deno.test("rule 11: only a change of the status of Applied or Healthy wakes higher waves", () => {
  const before = release(condition("Applied", "True"), condition("Healthy", "True"), condition("InSync", "True"));
  assert.equal(
    appliedOrHealthyChanged(
      before,
      release(condition("Applied", "True", "other"), condition("Healthy", "True"), condition("InSync", "False")),
    ),
    false,
  );
  assert.equal(
    appliedOrHealthyChanged(before, release(condition("Applied", "True"), condition("Healthy", "False"))),
    true,
  );
  assert.equal(appliedOrHealthyChanged(before, release(condition("Healthy", "True"))), true);
});

Deno.test("rule 11: state, assessedRenderRef and the number of entries wake a Release; renderRef and wave do not", () => {
  const before = inventory({ renderRef: "1", wave: 0, state: "Healthy", assessedRenderRef: "1" });
  const change = (more: object) => inventoryChanged(before, inventory({ ...before.inventory![0], ...more }), false);
  assert.equal(change({ renderRef: "2", wave: 3, message: "m" }), false);
  assert.equal(change({ drift: { state: "Drifted" } }), false);
  assert.equal(change({ state: "Degraded" }), true);
  assert.equal(change({ assessedRenderRef: "2" }), true);
  assert.equal(inventoryChanged(before, inventory(), false), true);
  assert.equal(inventoryChanged(before, inventory({}, { name: "b" }), false), true);
});

Deno.test("inventoryChanged() counts drift for a Release that corrects it", () => {
  const before = inventory({ drift: { state: "InSync" } });
  assert.equal(inventoryChanged(before, inventory({ drift: { state: "Drifted", fields: ["/data/a"] } }), true), true);
  assert.equal(inventoryChanged(before, before, true), false);
});

Deno.test("sourceChanged() sees another artifact and another readiness, not a later fetch", () => {
  const source = (digest: string, lastFetchTime: string, ...conditions: unknown[]) =>
    ({ status: { artifact: { digest, revision: digest }, lastFetchTime, conditions } }) as unknown as GitRepository;
  assert.equal(sourceChanged(source("1", "a"), source("1", "b")), false);
  assert.equal(sourceChanged(source("1", "a"), source("2", "a")), true);
  assert.equal(
    sourceChanged(source("1", "a", condition("Ready", "True")), source("1", "a", condition("Ready", "False"))),
    true,
  );
});

Deno.test("clusterChanged() sees a changed spec and a changed reachability, not another probe", () => {
  const cluster = (generation: number, status: string, lastProbeTime = "") =>
    ({
      metadata: { generation },
      status: { lastProbeTime, conditions: [condition("Reachable", status)] },
    }) as unknown as Cluster;
  assert.equal(clusterChanged(cluster(1, "True"), cluster(1, "True", "later")), false);
  assert.equal(clusterChanged(cluster(1, "True"), cluster(1, "False")), true);
  assert.equal(clusterChanged(cluster(1, "True"), cluster(2, "True")), true);
});

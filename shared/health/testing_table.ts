/** Table tests of `assess`: rows, object makers, a fixed time. Used by tests only. @module */
import assert from "node:assert/strict";
import { assess } from "./mod.ts";
import type { Assessment, HealthContext } from "./types.ts";

/** The time of all rows. */
export const NOW = Date.UTC(2026, 0, 2);

/** RFC 3339 of so many ms before. */
export const ago = (ms: number) => new Date(NOW - ms).toISOString().replace(/\.\d+Z$/, "Z");

/** ms */
export const MINUTE = 60_000;

/** One row. */
export type Row = [
  name: string,
  object: unknown,
  state: Assessment["state"],
  message?: string | RegExp | undefined,
  ctx?: HealthContext,
];

/** A test for each row. */
export function table(title: string, rows: Row[]) {
  for (const [name, object, state, message, ctx] of rows) {
    Deno.test(`assess ${title}: ${name}`, () => {
      const before = structuredClone(object);
      const got = assess(object as object, { now: NOW, ...ctx });
      assert.equal(got.state, state, got.message);
      if (typeof message === "string") assert.equal(got.message, message);
      else if (message) assert.match(got.message, message);
      assert.deepEqual(object, before, "the object is only read");
    });
  }
}

/** An object. */
export const make = (apiVersion: string, kind: string, parts: object, metadata: object = {}) => ({
  apiVersion,
  kind,
  metadata: { name: "x", namespace: "t1", ...metadata },
  ...parts,
});

/** A Deployment. */
export const deploy = (generation: number, status: object, spec: object = { replicas: 2 }) =>
  make("apps/v1", "Deployment", { spec, status }, { generation });

/** Its rollout failed. */
export const exceeded = {
  type: "Progressing",
  status: "False",
  reason: "ProgressDeadlineExceeded",
  message: "too long",
};

/** Its rollout is complete. */
export const complete = { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" };

/** Two of two are up. */
export const fine = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };

/** A StatefulSet whose generation 2 was observed. */
export const sts = (spec: object, status: object, generation = 2) =>
  make("apps/v1", "StatefulSet", { spec, status: { observedGeneration: 2, ...status } }, { generation });

/** A condition that is True. */
export const yes = (type: string, more: object = {}) => ({ type, status: "True", ...more });

/** Three of three ready, with an update to r2 under way. */
export const rolled = { replicas: 3, readyReplicas: 3, currentRevision: "r1", updateRevision: "r2" };

import assert from "node:assert/strict";
import type { HealthState, Release } from "../../shared/api/mod.ts";
import { judge, type StatedMember, summarize } from "./summary.ts";

const release = (status: "True" | "False" | "Unknown", reason: string): Release => ({
  apiVersion: "convoy.kumodo.io/v1alpha1",
  kind: "Release",
  metadata: { name: "r", namespace: "t1" },
  spec: {} as Release["spec"],
  status: { conditions: [{ type: "Applied", status, reason, message: "", lastTransitionTime: "" }] },
});
const APPLIED = release("True", "Applied");
const of = (state: HealthState | undefined, current = true, name = "a"): StatedMember => ({
  member: { group: "apps", kind: "Deployment", namespace: "t1", name, renderRef: "R1" },
  state,
  message: state === "Healthy" ? "" : "why",
  current,
});
const told = (r: Release, ...members: StatedMember[]) => {
  const { status, reason, message } = judge(r, members);
  return `${status}/${reason}: ${message}`;
};

Deno.test("judge: Healthy only when every object is Healthy or Suspended", () => {
  assert.equal(told(APPLIED, of("Healthy"), of("Healthy")), "True/Healthy: 2 objects healthy");
  assert.equal(told(APPLIED, of("Healthy"), of("Suspended")), "True/Healthy: 2 objects healthy, of these 1 suspended");
});

Deno.test("judge: Degraded and Missing make it False, with the first three by name", () => {
  assert.equal(told(APPLIED, of("Healthy"), of("Degraded")), "False/Degraded: 1 of 2 objects: Deployment t1/a (why)");
  assert.match(told(APPLIED, of("Missing"), of("Progressing")), /^False\/Degraded: 1 of 2/);
  const many = ["a", "b", "c", "d", "e"].map((name) => of("Degraded", true, name));
  assert.match(told(APPLIED, ...many), /5 of 5 objects: .*t1\/a .*t1\/b .*t1\/c \(why\); and 2 more$/);
});

Deno.test("judge: Progressing and Unknown make it Unknown", () => {
  assert.equal(told(APPLIED, of("Progressing")), "Unknown/Progressing: 1 of 1 object: Deployment t1/a (why)");
  assert.match(told(APPLIED, of("Healthy"), of("Unknown")), /^Unknown\/NotAssessed: 1 of 2/);
  assert.match(told(APPLIED), /^Unknown\/NotAssessed/);
});

Deno.test("judge: what was not seen at the new render is not healthy yet while the rollout goes on", () => {
  assert.match(told(APPLIED, of("Healthy"), of("Healthy", false)), /^Unknown\/Progressing/);
  assert.match(told(release("Unknown", "Progressing"), of("Healthy", false)), /^Unknown\/Progressing/);
});

Deno.test("judge: a rollout that stands still leaves the word to the live objects", () => {
  for (const [status, reason] of [["False", "ApplyFailed"], ["Unknown", "Suspended"]] as const) {
    assert.match(told(release(status, reason), of("Healthy", false)), /^True\/Healthy/);
    assert.match(told(release(status, reason), of("Degraded", false)), /^False\/Degraded/);
    assert.match(
      told(release(status, reason), of("Healthy"), of(undefined, false)),
      /^Unknown\/NotAssessed: 1 object of 2/,
    );
  }
});

Deno.test("summarize counts objects per state, those never assessed as unknown", () => {
  assert.deepEqual(summarize([of("Healthy"), of("Degraded"), of("Missing"), of(undefined), of("Healthy")]), {
    healthy: 2,
    progressing: 0,
    degraded: 1,
    suspended: 0,
    missing: 1,
    unknown: 1,
  });
});

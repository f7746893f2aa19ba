import assert from "node:assert/strict";
import type { Release } from "../../shared/api/mod.ts";
import type { Finding } from "./memory.ts";
import { judge } from "./verdict.ts";

const release = (status: "True" | "False" | "Unknown", reason: string): Release => ({
  apiVersion: "convoy.kumodo.io/v1alpha1",
  kind: "Release",
  metadata: { name: "r", namespace: "t1" },
  spec: {} as Release["spec"],
  status: { conditions: [{ type: "Applied", status, reason, message: "", lastTransitionTime: "" }] },
});
const told = (r: Release, ...findings: (Finding | undefined)[]) => {
  const members = findings.map((finding, i) => ({
    member: { group: "", kind: "ConfigMap", namespace: "t1", name: `c${i}`, renderRef: "R1" },
    finding,
  }));
  const { status, reason, message } = judge(r, members);
  return `${status}/${reason}: ${message}`;
};
const APPLIED = release("True", "Applied");
const good: Finding = { state: "InSync" }, off: Finding = { state: "Drifted", fields: ["/data/a"] };

Deno.test("judge: InSync when every object matches", () => {
  assert.equal(told(APPLIED, good, good), "True/InSync: 2 objects match the render");
  assert.equal(told(APPLIED, good), "True/InSync: 1 object matches the render");
});

Deno.test("judge: Drifted tells how many and the first three; a missing object counts", () => {
  assert.equal(told(APPLIED, good, off), "False/Drifted: 1 of 2 objects differs from the render: ConfigMap t1/c1");
  assert.match(told(APPLIED, { state: "Missing" }), /ConfigMap t1\/c0 \(missing\)$/);
  assert.match(told(APPLIED, off, off, off, off), /^False\/Drifted: 4 of 4 .*c0; .*c1; .*c2; and 1 more$/);
});

Deno.test("judge: a failed check is Unknown with its reason, unless drift is known", () => {
  const failed: Finding = { state: "Unknown", why: "refused" };
  assert.equal(
    told(APPLIED, good, failed),
    "Unknown/CheckFailed: 1 of 2 objects not checked: ConfigMap t1/c1: refused",
  );
  assert.match(told(APPLIED, off, failed), /^False\/Drifted/);
});

Deno.test("judge: a render under way is NotChecked, never False", () => {
  assert.match(told(release("Unknown", "Progressing"), good, undefined), /^Unknown\/NotChecked: A new render/);
  assert.match(
    told(release("False", "ApplyFailed"), good, undefined),
    /^Unknown\/NotChecked: 1 of 2 objects not applied/,
  );
  assert.match(told(APPLIED), /^Unknown\/NotChecked/);
});

import assert from "node:assert/strict";
import type { Release } from "../../shared/api/mod.ts";
import { Draft } from "./draft.ts";
import { recordRequests } from "./step_requests.ts";

function draftOf(spec: object, status: object = {}): Draft {
  return new Draft(
    { metadata: { name: "a", generation: 1 }, spec, status } as unknown as Release,
    Date.UTC(2026, 0, 1),
  );
}

Deno.test("recordRequests() records a pin, and clears it when it is gone", () => {
  const draft = draftOf({ pin: { renderRef: "r1", reason: "hold", by: "ann", at: "2026-01-01T00:00:00Z" } });
  recordRequests(draft);
  assert.deepEqual(draft.status.pin, { renderRef: "r1", reason: "hold", by: "ann", since: "2026-01-01T00:00:00Z" });
  const unpinned = draftOf({}, draft.status);
  recordRequests(unpinned);
  assert.equal("pin" in unpinned.status, false);
});

Deno.test("recordRequests() records a lifecycle action without claiming that it was done", () => {
  const draft = draftOf({ lifecycle: { action: "Restart", id: "7", by: "ann", at: "2026-01-01T00:00:00Z" } });
  recordRequests(draft);
  assert.deepEqual(draft.status.lifecycle, {
    action: "Restart",
    id: "7",
    by: "ann",
    requestedAt: "2026-01-01T00:00:00Z",
  });
  const condition = draft.condition("LifecycleSucceeded");
  assert.deepEqual([condition?.status, condition?.reason], ["Unknown", "Progressing"]);
  const without = draftOf({}, draft.status);
  recordRequests(without);
  assert.equal(without.condition("LifecycleSucceeded"), undefined);
  assert.equal("lifecycle" in without.status, false);
});

Deno.test("recordRequests() resolves the retention policy", () => {
  const draft = draftOf({ retentionPolicy: { count: 3, maxAge: "24h" } });
  recordRequests(draft);
  assert.deepEqual(draft.status.resolvedRetentionPolicy, { count: 3, maxAge: "24h" });
});

/** Records what the requests /pin and /lifecycle asked for, and the retention in force. @module */
import { resolveRetention } from "../../shared/status/mod.ts";
import type { Draft } from "./draft.ts";

/** Copies `spec.pin` and `spec.lifecycle` into the status; what is no longer in spec is cleared by leaving it out. */
export function recordRequests(draft: Draft): void {
  const { spec } = draft.release;
  const { status } = draft;
  status.resolvedRetentionPolicy = resolveRetention(spec);
  if (spec.pin) {
    const { at, ...pin } = spec.pin;
    status.pin = { ...pin, ...(at === undefined ? {} : { since: at }) };
  } else delete status.pin;
  if (spec.lifecycle) {
    const { action, id, by, at } = spec.lifecycle;
    status.lifecycle = {
      action,
      id,
      ...(by === undefined ? {} : { by }),
      ...(at === undefined ? {} : { requestedAt: at }),
    };
    draft.set(
      "LifecycleSucceeded",
      "Unknown",
      "Progressing",
      `${action} (${id}) is recorded; this version of Convoy does not carry it out`,
    );
  } else {
    delete status.lifecycle;
    draft.remove("LifecycleSucceeded");
  }
}

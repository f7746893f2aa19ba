/** `POST …/releases/NAME/lifecycle`: Restart, Suspend, Resume, Rollback, Retire. @module */
import { isObject, type JsonObject } from "../../shared/json/mod.ts";
import { rfc3339 } from "../../shared/runtime/clock.ts";
import type { ActionHandler } from "../../shared/server/contract.ts";
import { readBody } from "./body.ts";
import { markRequested, specOf } from "./requested_at.ts";

const ACTIONS = ["Restart", "Suspend", "Resume", "Rollback", "Retire"] as const;

/**
 * `{action, id?, reason?}` is recorded in `spec.lifecycle`. `id` names the request: one that is sent twice with the same
 * id and action counts once. Suspend and Resume also move `spec.suspend`, in the same write.
 */
export const lifecycle: ActionHandler = {
  methods: ["POST"],
  run(ctx) {
    const { action, id, reason } = readBody(ctx, (fields) => ({
      action: fields.word("action", ACTIONS)!,
      id: fields.text("id", { max: 128 }),
      reason: fields.text("reason"),
    }));
    const request: JsonObject = {
      action,
      id: id ?? crypto.randomUUID(),
      ...(reason === undefined ? {} : { reason }),
      by: ctx.user.name,
      at: rfc3339(ctx.now),
    };
    return ctx.modify((release) => {
      const spec = specOf(release);
      const last = isObject(spec["lifecycle"]) ? spec["lifecycle"] : {};
      if (id === undefined || last["id"] !== id || last["action"] !== action) {
        spec["lifecycle"] = request;
        if (action === "Suspend" || action === "Resume") spec["suspend"] = action === "Suspend";
      }
      markRequested(release, ctx.now);
    });
  },
};

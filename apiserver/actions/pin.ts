/** `PUT|DELETE …/releases/NAME/pin`: hold a Release at a render or a revision, and let it go again. @module */
import type { JsonObject } from "../../shared/json/mod.ts";
import { rfc3339 } from "../../shared/runtime/clock.ts";
import type { ActionHandler } from "../../shared/server/contract.ts";
import { readBody } from "./body.ts";
import { markRequested, specOf } from "./requested_at.ts";

/** PUT `{renderRef | revision, reason?, expiresAt?}` replaces `spec.pin`; DELETE removes it. */
export const pin: ActionHandler = {
  methods: ["PUT", "DELETE"],
  run(ctx) {
    if (ctx.method === "DELETE") {
      return ctx.modify((release) => {
        delete specOf(release)["pin"];
        markRequested(release, ctx.now);
      });
    }
    const asked = readBody(ctx, (fields) => {
      fields.oneOf("renderRef", "revision");
      const renderRef = fields.text("renderRef");
      const revision = fields.text("revision");
      const reason = fields.text("reason");
      const expiresAt = fields.future("expiresAt", ctx.now);
      return { renderRef, revision, reason, expiresAt };
    });
    const spec: JsonObject = { by: ctx.user.name, at: rfc3339(ctx.now) };
    for (const [name, value] of Object.entries(asked)) if (value !== undefined) spec[name] = value;
    return ctx.modify((release) => {
      specOf(release)["pin"] = spec;
      markRequested(release, ctx.now);
    });
  },
};

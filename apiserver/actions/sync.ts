/** `POST …/releases/NAME/sync`: apply again now. @module */
import type { ActionHandler } from "../../shared/server/contract.ts";
import { readBody } from "./body.ts";
import { markRequested } from "./requested_at.ts";

/** Reads the Release, sets the annotation, stores it. The body may be left out. */
export const sync: ActionHandler = {
  methods: ["POST"],
  run(ctx) {
    if (ctx.body !== undefined) readBody(ctx, (fields) => void fields.text("reason"));
    return ctx.modify((release) => markRequested(release, ctx.now));
  },
};

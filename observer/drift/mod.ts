/** Role `drift`: the only writer of `InSync` and the inventory's per-object drift. @module */
import type { Role } from "../../shared/runtime/role.ts";
import { runDrift } from "./run.ts";

/** The role. */
export const driftRole: Role = { name: "drift", group: "observer", run: runDrift };

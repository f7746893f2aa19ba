/** Role `health`: the only writer of `Healthy`, `healthSummary` and the inventory's per-object states. @module */
import type { Role } from "../../shared/runtime/role.ts";
import { runHealth } from "./run.ts";

/** The role. */
export const healthRole: Role = { name: "health", group: "observer", run: runHealth };

/** Kind ReleaseInventory: per object what a Release applied and what the observer saw. No status subresource. @module */
import * as z from "zod";
import { atomicList, int, listMap, time } from "./building_blocks.ts";
import { healthStates } from "./release.ts";

/** Words of per-object drift. */
export const driftStates = ["InSync", "Drifted", "Missing", "Unknown"] as const;

const entry = z.object({
  group: z.string().default(""),
  kind: z.string().min(1),
  namespace: z.string().default("").describe("Empty for objects of the cluster."),
  name: z.string().min(1),
  version: z.string().optional(),
  renderRef: z.string().optional().describe("An entry without it is no member."),
  wave: int().optional(),
  state: z.enum(healthStates).optional(),
  message: z.string().optional(),
  assessedRenderRef: z.string().optional(),
  drift: z.object({
    state: z.enum(driftStates),
    fields: atomicList(z.string()).optional(),
    checkedRenderRef: z.string().optional(),
  }).optional(),
});

const hook = z.object({
  name: z.string().min(1),
  phase: z.enum(["PreApply", "PostApply", "PreDelete", "PostDelete", "OnFailure"]),
  renderRef: z.string().optional(),
  startedAt: time().optional(),
  state: z.enum(["Running", "Succeeded", "Failed", "Unknown"]).optional(),
  finishedAt: time().optional(),
  message: z.string().optional(),
});

/** The fields of a ReleaseInventory beside metadata. */
export const releaseInventoryFields = {
  inventory: listMap(entry, "group", "kind", "namespace", "name").optional(),
  hooks: listMap(hook, "name", "phase").optional(),
};

/** One inventory entry. */
export type InventoryEntry = z.output<typeof entry>;
/** One hook record. */
export type HookRecord = z.output<typeof hook>;

/** The four requests on a Release. @module */
import type { ActionHandler } from "../../shared/server/contract.ts";
import { lifecycle } from "./lifecycle.ts";
import { mutations } from "./mutations.ts";
import { pin } from "./pin.ts";
import { sync } from "./sync.ts";

/** By the name of the subresource. */
export const releaseActions: Readonly<Record<string, ActionHandler>> = { sync, pin, mutations, lifecycle };

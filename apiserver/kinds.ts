/** The kinds that a standalone server serves. @module */
import { kindDefinitions } from "../shared/api/mod.ts";
import { builtinKinds } from "../shared/facts/mod.ts";
import type { KindDefinition } from "../shared/server/contract.ts";
import { releaseActions } from "./actions/mod.ts";

/** `group/Kind` of the built-in kinds that Convoy's own loops need. */
const BUILTIN = new Set(["/Namespace", "/Secret", "/ConfigMap", "/Event", "coordination.k8s.io/Lease"]);

/** Convoy's kinds with the four requests on Release; Namespace, Secret, ConfigMap, Event, Lease. */
export function servedKinds(): KindDefinition[] {
  const own = kindDefinitions().map((kind) => kind.kind === "Release" ? { ...kind, actions: releaseActions } : kind);
  return [...builtinKinds(({ group, kind }) => BUILTIN.has(`${group}/${kind}`)), ...own];
}

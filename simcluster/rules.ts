/** What impersonated users may do on a simulated cluster. @module */
import type { RequestAttributes, UserInfo } from "../shared/server/contract.ts";
import { matches } from "./faults.ts";
import type { ImpersonationRule } from "./types.ts";

/**
 * The message of a 403, or undefined when the request is allowed. Without rules everything is; with rules, members of
 * `system:masters` may do everything and others what some rule says. Discovery is open to all.
 */
export function denied(
  rules: readonly ImpersonationRule[] | undefined,
  user: UserInfo,
  a: RequestAttributes,
): string | undefined {
  if (!rules || user.groups.includes("system:masters") || !a.isResourceRequest) return undefined;
  const allowed = rules.some((r) =>
    matches(r.user, user.name) && matches(r.namespace, a.namespace) && matches(r.group, a.group) &&
    matches(r.resource, a.resource) && (!r.verbs || r.verbs.includes("*") || r.verbs.includes(a.verb))
  );
  if (allowed) return undefined;
  const resource = a.group ? `${a.resource}.${a.group}` : a.resource;
  const scope = a.namespace ? `in the namespace "${a.namespace}"` : "at the cluster scope";
  return `${resource}${a.name ? ` "${a.name}"` : ""} is forbidden: User "${user.name}" cannot ${a.verb} resource ` +
    `"${a.resource}" in API group "${a.group}" ${scope}`;
}

/** The authorizer over the table of {@link ./rbac_rules.ts}. @module */
import type { Authorizer, RequestAttributes, UserInfo } from "../shared/server/contract.ts";
import { type Grant, GRANTS, type PathRule, type ResourceRule } from "./rbac_rules.ts";

/** Allows what one of the user's groups is granted. */
export function rbacAuthorizer(grants: Readonly<Record<string, Grant>> = GRANTS): Authorizer {
  return { authorize: async (user, attributes) => ({ allowed: isGranted(grantsOf(user, grants), attributes) }) };
}

/** The grants of a user's groups. */
export function grantsOf(user: UserInfo, grants: Readonly<Record<string, Grant>> = GRANTS): Grant[] {
  return user.groups.filter((group) => Object.hasOwn(grants, group)).map((group) => grants[group]!);
}

function isGranted(grants: readonly Grant[], a: RequestAttributes): boolean {
  return a.isResourceRequest
    ? grants.some((grant) => grant.resources.some((rule) => coversResource(rule, a)))
    : grants.some((grant) => grant.paths.some((rule) => coversPath(rule, a)));
}

function coversResource(rule: ResourceRule, a: RequestAttributes): boolean {
  const resource = a.subresource ? `${a.resource}/${a.subresource}` : a.resource;
  return covers(rule.groups, a.group) && covers(rule.resources, resource) && covers(rule.verbs, a.verb) &&
    (rule.namespaces === undefined || rule.namespaces.includes(a.namespace));
}

function coversPath(rule: PathRule, a: RequestAttributes): boolean {
  return covers(rule.verbs, a.verb) &&
    rule.paths.some((path) => path.endsWith("*") ? a.path.startsWith(path.slice(0, -1)) : path === a.path);
}

function covers(allowed: readonly string[], asked: string): boolean {
  return allowed.includes("*") || allowed.includes(asked);
}

/** Impersonate-User and Impersonate-Group: acting as somebody else, for those who may. @module */
import type { Authorizer, RequestAttributes, UserInfo } from "../contract.ts";
import { failure } from "../../kube/status.ts";
import { authenticated } from "./authenticate.ts";

/** Raw header pairs: name, value, name, value… A repeated header stays repeated. */
export type RawHeaders = readonly string[];

/**
 * The user that the request acts as: `user` itself without impersonation headers.
 *
 * @throws StatusError 400 for groups without a user and for headers that are not supported, 403 when `user` may not
 */
export async function impersonate(user: UserInfo, raw: RawHeaders, authorizer: Authorizer): Promise<UserInfo> {
  const asked = headersOf(raw);
  if (!asked) return user;
  const { name, groups } = asked;
  await demand(user, "users", name, authorizer);
  for (const group of groups) await demand(user, "groups", group, authorizer);
  if (name === "system:anonymous") return { name, groups: ["system:unauthenticated"] };
  return authenticated({ name, groups });
}

function headersOf(raw: RawHeaders): { name: string; groups: string[] } | undefined {
  let name: string | undefined;
  const groups: string[] = [];
  let any = false;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const header = raw[i]!.toLowerCase();
    if (!header.startsWith("impersonate-")) continue;
    any = true;
    if (header === "impersonate-user") name = raw[i + 1]!;
    else if (header === "impersonate-group") groups.push(raw[i + 1]!);
    else throw failure(400, "BadRequest", `Cannot impersonate: the header ${header} is not supported`);
  }
  if (!any) return undefined;
  if (!name) throw failure(400, "BadRequest", "requested impersonation without impersonating a user");
  return { name, groups };
}

async function demand(user: UserInfo, resource: string, name: string, authorizer: Authorizer): Promise<void> {
  const attributes: RequestAttributes = {
    verb: "impersonate",
    isResourceRequest: true,
    path: "",
    group: "",
    version: "v1",
    resource,
    subresource: "",
    namespace: "",
    name,
  };
  const { allowed, reason } = await authorizer.authorize(user, attributes);
  if (allowed) return;
  const why = `User "${user.name}" cannot impersonate resource "${resource}" in API group "" at the cluster scope`;
  const message = `${resource} "${name}" is forbidden: ${why}${reason ? `: ${reason}` : ""}`;
  throw failure(403, "Forbidden", message, { name, kind: resource });
}

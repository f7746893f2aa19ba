/** Authorization of requests, with the words of a 403. @module */
import type { Authorizer, RequestAttributes, UserInfo } from "./contract.ts";
import { failure, forbidden } from "./errors.ts";

/** Throws 403 unless the user may. */
export async function authorize(
  authorizer: Authorizer | undefined,
  user: UserInfo,
  attributes: RequestAttributes,
): Promise<void> {
  if (!authorizer || user.groups.includes("system:masters")) return;
  const { allowed, reason } = await authorizer.authorize(user, attributes);
  if (allowed) return;
  const why = reason ? `: ${reason}` : "";
  const { verb, path, group, resource, subresource, namespace, name } = attributes;
  if (!attributes.isResourceRequest) {
    throw failure(403, "Forbidden", `forbidden: User "${user.name}" cannot ${verb} path "${path}"${why}`, {});
  }
  const full = subresource ? `${resource}/${subresource}` : resource;
  const scope = namespace ? `in the namespace "${namespace}"` : "at the cluster scope";
  throw forbidden(
    { group, resource },
    name,
    `User "${user.name}" cannot ${verb} resource "${full}" in API group "${group}" ${scope}${why}`,
  );
}

/** The Status errors of an API server, worded as kube-apiserver words them. @module */
import { type ApiStatus, failure, type StatusCause, StatusError } from "../kube/status.ts";
import type { FieldError } from "./contract.ts";

export { failure, StatusError };

/** Where an error belongs: the group and plural (or kind) of what was asked for. */
export interface GroupResource {
  group: string;
  resource: string;
}

/** `plural.group`, or `plural` in the core group. */
export function qualified(group: string, name: string): string {
  return group === "" ? name : `${name}.${group}`;
}

function details(r: GroupResource, name: string, causes?: StatusCause[]): NonNullable<ApiStatus["details"]> {
  return {
    ...(name ? { name } : {}),
    ...(r.group ? { group: r.group } : {}),
    ...(r.resource ? { kind: r.resource } : {}),
    ...(causes?.length ? { causes } : {}),
  };
}

/** 404 of an object. */
export function notFound(r: GroupResource, name: string): StatusError {
  return failure(404, "NotFound", `${qualified(r.group, r.resource)} "${name}" not found`, details(r, name));
}

/** 404 of a path that nothing is served at. */
export function unknownPath(): StatusError {
  return failure(404, "NotFound", "the server could not find the requested resource", {});
}

/** 409 of a create. */
export function alreadyExists(r: GroupResource, name: string): StatusError {
  return failure(409, "AlreadyExists", `${qualified(r.group, r.resource)} "${name}" already exists`, details(r, name));
}

/** 409 `Operation cannot be fulfilled on …`. */
export function conflict(r: GroupResource, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${qualified(r.group, r.resource)} "${name}": ${why}`;
  return failure(409, "Conflict", message, details(r, name));
}

/** Why a write with an old resourceVersion fails. */
export const OBJECT_MODIFIED =
  "the object has been modified; please apply your changes to the latest version and try again";

/** 403. `name` may be empty. */
export function forbidden(r: GroupResource, name: string, why: string, causes?: StatusCause[]): StatusError {
  const subject = r.resource === "" ? "" : `${qualified(r.group, r.resource)}${name ? ` "${name}"` : ""} is `;
  return failure(403, "Forbidden", `${subject}forbidden: ${why}`, details(r, name, causes));
}

/** 400. */
export function badRequest(message: string, causes?: StatusCause[]): StatusError {
  return failure(400, "BadRequest", message, causes?.length ? { causes } : undefined);
}

/** 500 `Internal error occurred: …`, as the scale subresource answers. */
export function internal(message: string): StatusError {
  return failure(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });
}

/** 410 of a list or watch whose history is gone. */
export function gone(message: string): StatusError {
  return failure(410, "Expired", message);
}

/** 504 of a read at a revision that is not there yet. */
export function tooLargeResourceVersion(asked: number, current: number): StatusError {
  const message = `Too large resource version: ${asked}, current: ${current}`;
  return failure(504, "Timeout", `Timeout: ${message}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}

/** 415 that names what would be accepted. */
export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  return failure(
    415,
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  );
}

/** 406. */
export function notAcceptable(accepted: readonly string[]): StatusError {
  return failure(
    406,
    "NotAcceptable",
    `only the following media types are accepted: ${accepted.join(", ")}`,
  );
}

/** 413. */
export function tooLarge(what: string): StatusError {
  return failure(413, "RequestEntityTooLarge", `Request entity too large: ${what}`);
}

/** 405. */
export function methodNotAllowed(): StatusError {
  return failure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});
}

/**
 * 422 with one cause for each error. As upstream, the message lists each text once while the causes repeat.
 * `kind` is the kind (or, where upstream does so, the plural).
 */
export function invalid(group: string, kind: string, name: string, errors: readonly FieldError[]): StatusError {
  const texts = [...new Set(errors.map((e) => `${e.field}: ${e.message}`))];
  const list = texts.length === 1 ? texts[0]! : `[${texts.join(", ")}]`;
  return failure(
    422,
    "Invalid",
    `${qualified(group, kind)} "${name}" is invalid: ${list}`,
    details(
      { group, resource: kind },
      name,
      errors.map((e) => ({ reason: e.type, message: e.message, field: e.field })),
    ),
  );
}

/** 422 of a patch that cannot be used on this object. */
export function unprocessablePatch(): StatusError {
  return failure(422, "Invalid", "the server rejected our request due to an error in our request", {});
}

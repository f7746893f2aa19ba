/** Actions: requests of a kind's own on one object, e.g. POST releases/x/sync. @module */
import { cloneJson, isObject, type JsonObject } from "../json/mod.ts";
import { rfc3339 } from "../runtime/clock.ts";
import { bodyFormat, parseJsonBody, parseYamlBody } from "./body.ts";
import type { ServerRequest, ServerResponse } from "./contract.ts";
import { decodeObject } from "./decode.ts";
import { badRequest, methodNotAllowed } from "./errors.ts";
import { GoJsonError } from "./go_json.ts";
import type { RequestInfo } from "./request_info.ts";
import { jsonResponse } from "./resource_handler.ts";
import { track, updateObject, type WriteHost, type WriteRequest } from "./write.ts";

/** Runs an action. @throws StatusError */
export async function runAction(
  host: WriteHost,
  req: WriteRequest,
  name: string,
  info: RequestInfo,
  request: ServerRequest,
  text: string,
): Promise<ServerResponse> {
  const action = req.served.kind.def.actions![name]!;
  if (!action.methods.includes(request.method)) throw methodNotAllowed();
  const answer = await action.run({
    method: request.method,
    namespace: req.namespace,
    name: req.name,
    query: info.query,
    body: text === "" ? undefined : bodyOf(text, request.headers["content-type"]),
    user: request.user,
    now: host.clock.now(),
    modify: (change) => modify(host, req, change),
  });
  return jsonResponse(200, answer);
}

async function modify(host: WriteHost, req: WriteRequest, change: (object: JsonObject) => void): Promise<JsonObject> {
  const written = await updateObject(host, req, {
    change(live) {
      const next = cloneJson(live);
      change(next);
      const decoded = decodeObject(req.served, next, live, (error) => badRequest(error.message));
      return { next: track(req, live, decoded.object, rfc3339(host.clock.now())), mayDropTracking: true };
    },
  });
  return written.object;
}

function bodyOf(text: string, contentType: string | undefined): JsonObject {
  try {
    const { value } = bodyFormat(contentType, true) === "yaml" ? parseYamlBody(text) : parseJsonBody(text);
    if (isObject(value)) return value;
    throw badRequest("Cannot read the body: it must be an object");
  } catch (error) {
    if (error instanceof GoJsonError) throw badRequest(`Cannot read the body: ${error.message}`);
    throw error;
  }
}

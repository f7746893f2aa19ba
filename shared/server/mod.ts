/**
 * The API server as a library: {@link createApiHandler} makes a handler from request to response that serves any kind
 * described by an OpenAPI schema, on any {@link Storage}. `net/` puts it on TLS.
 *
 * @module
 */
export type * from "./contract.ts";
export { createApiHandler } from "./handler.ts";
export { isTrue, parseRequest, type RequestInfo } from "./request_info.ts";
export { kindFromCrd } from "./crd_kind.ts";
export { jsonPath } from "./jsonpath.ts";
export { matchesFields, matchesLabels, parseFieldSelector, parseLabelSelector, type Requirement } from "./selectors.ts";

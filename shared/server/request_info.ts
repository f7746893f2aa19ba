/** From method and path to what is asked: kube-apiserver's RequestInfo. @module */
import type { RequestAttributes } from "./contract.ts";

/** A parsed request target. */
export interface RequestInfo extends RequestAttributes {
  method: string;
  query: URLSearchParams;
  /** Path segments after the version: `["namespaces", "a", "pods", "b"]`. */
  rest: string[];
  /** What is left of the path below the subresource. */
  extra: string[];
}

/** Subresources that `/namespaces/NAME/…` may carry; any other word there is a resource in the namespace. */
const NAMESPACE_SUBRESOURCES = new Set(["status", "finalize"]);

/** Parses `method` and `path` (with query). Undefined when the path is not well-formed. */
export function parseRequest(method: string, path: string): RequestInfo | undefined {
  const mark = path.indexOf("?");
  const rawPath = mark < 0 ? path : path.slice(0, mark);
  const query = new URLSearchParams(mark < 0 ? "" : path.slice(mark + 1));
  const parts: string[] = [];
  for (const part of rawPath.split("/")) {
    if (part === "") continue;
    try {
      parts.push(decodeURIComponent(part));
    } catch {
      return undefined;
    }
  }
  const info: RequestInfo = {
    method,
    query,
    verb: method.toLowerCase(),
    isResourceRequest: false,
    path: rawPath,
    group: "",
    version: "",
    resource: "",
    subresource: "",
    namespace: "",
    name: "",
    rest: [],
    extra: [],
  };
  let rest: string[];
  if (parts[0] === "api" && parts.length >= 3) {
    info.version = parts[1]!;
    rest = parts.slice(2);
  } else if (parts[0] === "apis" && parts.length >= 4) {
    info.group = parts[1]!;
    info.version = parts[2]!;
    rest = parts.slice(3);
  } else return info;
  info.isResourceRequest = true;
  info.rest = rest;
  if (rest[0] === "namespaces" && rest.length > 1) {
    info.namespace = rest[1]!;
    if (rest.length > 2 && !NAMESPACE_SUBRESOURCES.has(rest[2]!)) rest = rest.slice(2);
  }
  info.resource = rest[0]!;
  info.name = rest[1] ?? "";
  info.subresource = rest[2] ?? "";
  info.extra = rest.slice(3);
  info.verb = verbOf(info);
  return info;
}

function verbOf(info: RequestInfo): string {
  const { query, name } = info;
  switch (info.method) {
    case "GET":
    case "HEAD":
      if (isTrue(query.get("watch"))) return "watch";
      return name ? "get" : "list";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return name ? "delete" : "deletecollection";
    default:
      return info.method.toLowerCase();
  }
}

/** A boolean query parameter as Kubernetes reads it: absent, "0" and "false" (any case) are false, all else is true. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
}

/** What a standalone server answers beside the API itself: /metrics and reviews of oneself; and it measures everything. @module */
import { stringifyJson } from "../shared/json/mod.ts";
import { failure, StatusError } from "../shared/kube/status.ts";
import type { Metrics } from "../shared/runtime/mod.ts";
import type {
  ApiHandler,
  Authorizer,
  KindDefinition,
  RequestAttributes,
  ServerRequest,
  ServerResponse,
} from "../shared/server/contract.ts";
import { parseRequest } from "../shared/server/mod.ts";
import { answerReview } from "./access_reviews.ts";

/** Options of {@link frontOf}. */
export interface FrontOptions {
  api: ApiHandler;
  authorizer: Authorizer;
  metrics: Metrics;
  kinds: readonly KindDefinition[];
}

/** Wraps the API. Labels of metrics come from a fixed set, whatever clients ask for. */
export function frontOf({ api, authorizer, metrics, kinds }: FrontOptions): ApiHandler {
  const measure = measureRequests(metrics, kinds);
  return {
    async handle(request) {
      const info = parseRequest(request.method, request.path);
      const done = measure(info);
      let response: ServerResponse;
      try {
        response = (info && await answerHere(request, info, authorizer, metrics)) ?? await api.handle(request);
      } catch (error) {
        response = failed(error);
      }
      return done(response);
    },
    close: () => api.close(),
  };
}

async function answerHere(
  request: ServerRequest,
  info: RequestAttributes,
  authorizer: Authorizer,
  metrics: Metrics,
): Promise<ServerResponse | undefined> {
  if (info.path === "/metrics") {
    await demand(request, info, authorizer, `User "${request.user.name}" cannot ${info.verb} path "/metrics"`);
    const headers = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
    return { status: 200, headers, body: await metrics.text() };
  }
  if (info.group !== "authorization.k8s.io" && info.group !== "authentication.k8s.io" && info.isResourceRequest) {
    return undefined;
  }
  const response = await answerReview(request, info.path, authorizer);
  if (response && info.isResourceRequest) {
    await demand(request, info, authorizer, `User "${request.user.name}" cannot ${info.verb} ${info.resource}`);
  }
  return response;
}

async function demand(
  { user }: ServerRequest,
  info: RequestAttributes,
  authorizer: Authorizer,
  why: string,
): Promise<void> {
  const { allowed } = await authorizer.authorize(user, info);
  if (!allowed) throw failure(403, "Forbidden", `forbidden: ${why}`, {});
}

function failed(error: unknown): ServerResponse {
  const { status } = error instanceof StatusError
    ? error
    : failure(500, "InternalError", "Internal error occurred: the request could not be handled");
  return { status: status.code, headers: { "content-type": "application/json" }, body: stringifyJson(status) };
}

/** Starts the measuring of one request; what it returns is called with the answer and gives it back. */
function measureRequests(metrics: Metrics, kinds: readonly KindDefinition[]) {
  const known = new Set(kinds.map((kind) => `${kind.group}/${kind.plural}`));
  const requests = metrics.counter("convoy_apiserver_requests_total", "Requests answered", [
    "verb",
    "resource",
    "code",
  ]);
  const seconds = metrics.histogram(
    "convoy_apiserver_request_seconds",
    "Time from a request to its answer; watches are left out",
    ["verb", "resource"],
    [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
  );
  const watches = metrics.gauge("convoy_apiserver_watches", "Watches open", ["resource"]);
  const open = new Map<string, number>();
  const count = (resource: string, by: number) => {
    open.set(resource, (open.get(resource) ?? 0) + by);
    watches.set(open.get(resource)!, { resource });
  };
  return (info: RequestAttributes | undefined) => {
    const started = performance.now();
    const isKnown = info?.isResourceRequest && known.has(`${info.group}/${info.resource}`);
    const resource = isKnown
      ? (info.subresource ? `${info.resource}/${subresourceLabel(info.subresource)}` : info.resource)
      : "";
    const verb = info && VERBS.has(info.verb) ? info.verb : "other";
    return (response: ServerResponse): ServerResponse => {
      requests.inc({ verb, resource, code: String(response.status) });
      const { body } = response;
      if (typeof body === "string" || body instanceof Uint8Array) {
        seconds.observe((performance.now() - started) / 1000, { verb, resource });
        return response;
      }
      return { ...response, body: counted(body, resource, count) };
    };
  };
}

const VERBS = new Set(["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"]);
const SUBRESOURCES = new Set(["status", "sync", "pin", "mutations", "lifecycle", "finalize"]);

function subresourceLabel(subresource: string): string {
  return SUBRESOURCES.has(subresource) ? subresource : "other";
}

async function* counted(
  body: AsyncIterable<string>,
  resource: string,
  count: (resource: string, by: number) => void,
): AsyncGenerator<string> {
  count(resource, 1);
  try {
    yield* body;
  } finally {
    count(resource, -1);
  }
}

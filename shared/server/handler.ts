/** The API server's handler: dispatch, and the requests that are about no resource. @module */
import { type JsonObject, parseJson, stringifyJson } from "../json/mod.ts";
import { systemClock } from "../runtime/clock.ts";
import { silentLogger } from "../runtime/logger.ts";
import { authorize } from "./authorize.ts";
import { MAX_BODY_BYTES } from "./body.ts";
import type { ApiServer, ApiServerOptions, KindDefinition, ServerRequest, ServerResponse } from "./contract.ts";
import { aggregated, apiGroupList, apiGroupOf, apiResourceList, apiVersions } from "./discovery.ts";
import { badRequest, failure, methodNotAllowed, StatusError, unknownPath } from "./errors.ts";
import { EventCache } from "./event_cache.ts";
import { htmlEscape } from "./go_text.ts";
import { namespaceCheck } from "./namespace_check.ts";
import { negotiate, wantsAggregated } from "./negotiate.ts";
import { OpenApi } from "./openapi.ts";
import { Registry } from "./registry.ts";
import { isTrue, parseRequest, type RequestInfo } from "./request_info.ts";
import { handleResource, jsonResponse, type ResourceHost } from "./resource_handler.ts";
import { StorageClosed } from "./storage/contract.ts";
import { versionInfo } from "./version_info.ts";
import { Workers } from "./workers.ts";

/** Makes an API server on a store. Close it before the store. */
export function createApiHandler(options: ApiServerOptions): ApiServer {
  return new Server(options);
}

class Server implements ApiServer {
  readonly #registry = new Registry();
  readonly #host: ResourceHost;
  readonly #openapi: OpenApi;
  readonly #workers: Workers;
  readonly #enders = new Set<() => void>();
  #closed = false;

  constructor(private readonly options: ApiServerOptions) {
    const { storage, clock = systemClock, logger = silentLogger } = options;
    this.#registry.setBase(options.kinds);
    this.#openapi = new OpenApi(this.#registry, versionInfo(options.version).gitVersion);
    this.#host = {
      storage,
      clock,
      registry: this.#registry,
      authorizer: options.authorizer,
      admit: options.admit,
      events: new EventCache(),
      maxBodyBytes: options.maxBodyBytes ?? MAX_BODY_BYTES,
      maxObjectBytes: options.maxObjectBytes ?? Infinity,
      bookmarkMs: options.bookmarkMs ?? 60_000,
      cleansCrds: (options.serveCrds ?? false) && options.workers !== false,
      checkNamespace: namespaceCheck(storage, this.#registry, options.checkNamespaces),
      track: (end) => {
        this.#enders.add(end);
        return () => this.#enders.delete(end);
      },
    };
    this.#workers = new Workers({
      host: this.#host,
      logger,
      serveCrds: options.serveCrds ?? false,
      on: options.workers ?? true,
      kindsChanged: () => this.#openapi.reset(),
    });
  }

  setKinds(kinds: KindDefinition[]): void {
    this.#registry.setBase(kinds);
    this.#openapi.reset();
  }

  kinds(): KindDefinition[] {
    return this.#registry.all().map((k) => k.def);
  }

  settled(): Promise<void> {
    return this.#workers.settled();
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const end of [...this.#enders]) end();
    await this.#workers.close();
  }

  async handle(request: ServerRequest): Promise<ServerResponse> {
    const info = parseRequest(request.method, request.path);
    let response: ServerResponse;
    try {
      if (!info) throw badRequest("Cannot read the path: it has an invalid escape");
      if (this.#closed) throw failure(503, "ServiceUnavailable", "the server is shutting down");
      await this.#workers.ready();
      response = info.isResourceRequest
        ? await handleResource(this.#host, request, info)
        : await this.#nonResource(request, info);
    } catch (error) {
      response = this.#failed(error, request);
    }
    return pretty(response, info?.query);
  }

  #failed(error: unknown, request: ServerRequest): ServerResponse {
    let status: StatusError;
    if (error instanceof StatusError) status = error;
    else if (error instanceof StorageClosed) {
      status = failure(503, "ServiceUnavailable", "the server's store is closed");
    } else {
      // The cause stays in the log: it may hold what the client must not see.
      const logger = this.options.logger ?? silentLogger;
      logger.error("Request failed", error, { method: request.method, path: request.path.split("?")[0] });
      status = failure(500, "InternalError", "Internal error occurred: the request could not be handled", {
        causes: [{ message: "the request could not be handled" }],
      });
    }
    const headers: Record<string, string> = { "content-type": "application/json" };
    const retry = status.status.details?.retryAfterSeconds;
    if (retry !== undefined) headers["retry-after"] = String(retry);
    return { status: status.code, headers, body: htmlEscape(stringifyJson(status.status)) };
  }

  async #nonResource(request: ServerRequest, info: RequestInfo): Promise<ServerResponse> {
    await authorize(this.options.authorizer, request.user, info);
    if (request.method !== "GET" && request.method !== "HEAD") {
      if (/^\/apis?(\/|$)/.test(info.path)) throw methodNotAllowed();
      throw unknownPath();
    }
    const path = info.path.replace(/\/+$/, "") || "/";
    const accept = request.headers["accept"];
    const json = (value: JsonObject) => jsonResponse(200, value, negotiate(accept, false, false));
    if (path === "/api" || path === "/apis") {
      const core = path === "/api";
      const version = wantsAggregated(accept);
      if (version) {
        return {
          status: 200,
          headers: {
            "content-type": `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
            "vary": "Accept",
          },
          body: stringifyJson(aggregated(this.#registry, core, version)),
        };
      }
      const host = request.headers["host"] ?? request.headers[":authority"] ?? "";
      return json(core ? apiVersions(this.#registry, host) : apiGroupList(this.#registry));
    }
    const parts = path.split("/").slice(1).map(decodeURIComponent);
    if (parts[0] === "api" && parts.length === 2) {
      return json(found(apiResourceList(this.#registry, "", parts[1]!)));
    }
    if (parts[0] === "apis" && parts.length === 2) return json(found(apiGroupOf(this.#registry, parts[1]!)));
    if (parts[0] === "apis" && parts.length === 3) {
      return json(found(apiResourceList(this.#registry, parts[1]!, parts[2]!)));
    }
    if (parts[0] === "openapi") return this.#openapiDocument(path, request);
    if (path === "/version") return json({ ...versionInfo(this.options.version) });
    if (path === "/healthz" || path === "/livez" || path === "/readyz" || /^\/(healthz|livez|readyz)\//.test(path)) {
      return await this.#health(path.split("/")[1]!, info);
    }
    if (path === "/") return json({ paths: this.#rootPaths() });
    throw unknownPath();
  }

  #openapiDocument(path: string, request: ServerRequest): ServerResponse {
    const answer = (text: string, hash: string): ServerResponse => {
      const etag = `"${hash}"`;
      const headers = { "content-type": "application/json", etag, "cache-control": "no-cache, private" };
      if (request.headers["if-none-match"] === etag) return { status: 304, headers, body: "" };
      return { status: 200, headers, body: text };
    };
    if (path === "/openapi/v2") {
      const { text, hash } = this.#openapi.v2();
      return answer(text, hash);
    }
    if (path === "/openapi/v3") return jsonResponse(200, this.#openapi.index());
    const document = this.#openapi.v3(path.slice("/openapi/v3/".length));
    if (!path.startsWith("/openapi/v3/") || !document) throw unknownPath();
    return answer(document.text, document.hash);
  }

  async #health(which: string, info: RequestInfo): Promise<ServerResponse> {
    const lines: string[] = ["[+]ping ok"];
    let failed = false;
    const checks: Record<string, () => Promise<void>> = which === "livez" ? {} : {
      storage: async () => void await this.#host.storage.currentRevision(),
      ...(which === "readyz" ? this.options.readyChecks : {}),
    };
    for (const [name, check] of Object.entries(checks)) {
      try {
        await check();
        lines.push(`[+]${name} ok`);
      } catch {
        failed = true;
        lines.push(`[-]${name} failed: reason withheld`);
      }
    }
    const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-cache, private" };
    if (failed) return { status: 500, headers, body: [...lines, `${which} check failed`, ""].join("\n") };
    const body = info.query.has("verbose") ? [...lines, `${which} check passed`, ""].join("\n") : "ok";
    return { status: 200, headers, body };
  }

  #rootPaths(): string[] {
    const paths = new Set(["/api", "/apis", "/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"]);
    for (const { def } of this.#registry.all()) {
      for (const { name, served } of def.versions) {
        if (!served) continue;
        if (def.group === "") paths.add(`/api/${name}`);
        else paths.add(`/apis/${def.group}`).add(`/apis/${def.group}/${name}`);
      }
    }
    return [...paths].sort();
  }
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw unknownPath();
  return value;
}

/** `?pretty`: indented JSON for people. */
function pretty(response: ServerResponse, query: URLSearchParams | undefined): ServerResponse {
  if (!query?.has("pretty") || !isTrue(query.get("pretty")) || typeof response.body !== "string") return response;
  if (response.headers["content-type"]?.startsWith("application/json") && response.body !== "") {
    response.body = stringifyJson(parseJson(response.body), 2) + "\n";
  }
  return response;
}

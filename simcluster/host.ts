/** Many clusters behind one server: paths, tokens, the control requests. @module */
import { createHmac } from "node:crypto";
import { failure } from "../shared/kube/status.ts";
import { isObject, type JsonValue, parseJson, stringifyJson } from "../shared/json/mod.ts";
import type { ApiHandler, ServerRequest, ServerResponse } from "../shared/server/contract.ts";
import { type Authenticator, ClientGone, tokenAuthenticator, type TokenEntry } from "../shared/server/net/mod.ts";
import { ADMIN, ClusterDown, type SimCluster } from "./cluster.ts";
import { parseFaults } from "./faults.ts";

const PREFIX = /^\/clusters\/([^/?]+)/;

/** Name of the cluster that a path is about. */
export function clusterIn(path: string): string | undefined {
  const match = PREFIX.exec(path);
  return match ? decode(match[1]!) : undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The token of one cluster, made from the admin token: nothing but that one has to be kept. */
export function tokenOf(adminToken: string, cluster: string): string {
  return createHmac("sha256", adminToken).update(`cluster/${cluster}`).digest("base64url");
}

/** A cluster's token is good for that cluster alone; the admin token for `/control` and for all clusters. */
export function hostAuthenticator(adminToken: string, clusters: ReadonlyMap<string, SimCluster>): Authenticator {
  const admin = tokenAuthenticator(fixed([{ token: adminToken, user: ADMIN }]));
  const byCluster = new Map<string, Authenticator>();
  for (const name of clusters.keys()) {
    byCluster.set(name, tokenAuthenticator(fixed([{ token: tokenOf(adminToken, name), user: ADMIN }])));
  }
  return {
    async authenticate(credentials) {
      const one = byCluster.get(clusterIn(credentials.path ?? "") ?? "");
      const user = await one?.authenticate(credentials);
      return user === undefined || user === "invalid" ? await admin.authenticate(credentials) : user;
    },
  };
}

function fixed(entries: TokenEntry[]): () => TokenEntry[] {
  return () => entries;
}

/** Sends each request to its cluster. */
export class Host implements ApiHandler {
  constructor(readonly clusters: ReadonlyMap<string, SimCluster>) {}

  async handle(request: ServerRequest): Promise<ServerResponse> {
    const name = clusterIn(request.path);
    if (name !== undefined) {
      const cluster = this.#find(name);
      const path = request.path.replace(PREFIX, "") || "/";
      try {
        const answer = await cluster.handle({ ...request, path: path.startsWith("/") ? path : `/${path}` });
        const { body } = answer;
        return typeof body === "string" || body instanceof Uint8Array ? answer : { ...answer, body: resetting(body) };
      } catch (error) {
        // The connection is reset, as with a host that is not there.
        throw asReset(error);
      }
    }
    const url = new URL(request.path, "https://sim");
    if (/^\/(healthz|livez|readyz)$/.test(url.pathname)) {
      return { status: 200, headers: { "content-type": "text/plain" }, body: "ok" };
    }
    if (url.pathname.startsWith("/control/")) return this.#control(request, url);
    throw failure(404, "NotFound", `Cannot find ${url.pathname}: known are /clusters/NAME/… and /control/…`);
  }

  async close(): Promise<void> {
    await Promise.all([...this.clusters.values()].map((c) => c.close()));
  }

  #find(name: string): SimCluster {
    const cluster = this.clusters.get(name);
    if (!cluster) throw failure(404, "NotFound", `Cannot find the simulated cluster "${name}"`);
    return cluster;
  }

  #control(request: ServerRequest, url: URL): ServerResponse {
    if (!request.user.groups.includes("system:masters")) {
      throw failure(403, "Forbidden", "Cannot control simulated clusters without the admin token");
    }
    const what = `${request.method} ${url.pathname}`;
    if (what === "GET /control/clusters") {
      return json([...this.clusters.values()].map((c) => ({
        name: c.name,
        opened: c.opened,
        faults: c.faults.current as unknown as JsonValue,
      })));
    }
    if (what === "GET /control/faults") {
      return json(this.#find(url.searchParams.get("cluster") ?? "").faults.current as unknown as JsonValue);
    }
    if (what === "POST /control/faults") return this.#setFaults(request);
    const kubeconfig = /^GET \/control\/kubeconfigs\/([^/]+)$/.exec(what);
    if (kubeconfig) {
      const body = this.#find(decode(kubeconfig[1]!)).kubeconfig();
      return { status: 200, headers: { "content-type": "application/yaml" }, body };
    }
    throw failure(
      404,
      "NotFound",
      `Cannot do ${what}: known are GET clusters, GET and POST faults, GET kubeconfigs/NAME below /control`,
    );
  }

  #setFaults(request: ServerRequest): ServerResponse {
    let body: JsonValue;
    try {
      const text = typeof request.body === "string" ? request.body : new TextDecoder().decode(request.body);
      body = parseJson(text);
    } catch (error) {
      throw failure(400, "BadRequest", `Cannot set faults: the body is not JSON: ${(error as Error).message}`);
    }
    if (!isObject(body) || typeof body["cluster"] !== "string") {
      throw failure(400, "BadRequest", 'Cannot set faults: send {"cluster": NAME or "*", "faults": {…}}');
    }
    const faults = parseFaults(body["faults"] ?? {});
    const name = body["cluster"];
    const hit = name === "*" ? [...this.clusters.values()] : [this.#find(name)];
    for (const cluster of hit) {
      if (body["keep"] === true) cluster.faults.update(faults);
      else cluster.faults.set(faults);
    }
    return json({ clusters: hit.map((c) => c.name), faults: hit[0]?.faults.current as unknown as JsonValue ?? {} });
  }
}

function asReset(error: unknown): unknown {
  return error instanceof ClusterDown ? new ClientGone(error.message) : error;
}

/** A stream whose connection is reset when its cluster goes down. */
async function* resetting(body: AsyncIterable<string>): AsyncIterable<string> {
  try {
    yield* body;
  } catch (error) {
    throw asReset(error);
  }
}

function json(value: JsonValue): ServerResponse {
  return { status: 200, headers: { "content-type": "application/json" }, body: stringifyJson(value) };
}

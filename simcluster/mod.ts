/**
 * Simulated target clusters: the Kubernetes API of hundreds of clusters in one process, with workloads that become
 * ready after a delay and faults that can be told to them.
 *
 * @module
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, systemClock } from "../shared/runtime/clock.ts";
import { type Logger, silentLogger } from "../shared/runtime/logger.ts";
import { loadCertificates, makeCertificates, serveHttps, writeFileAtomic } from "../shared/server/net/mod.ts";
import { SimCluster } from "./cluster.ts";
import { clusterIn, Host, hostAuthenticator, tokenOf } from "./host.ts";
import { kubeconfigOf } from "./kubeconfig.ts";
import { DEFAULT_DELAYS, type Delays, type ImpersonationRule } from "./types.ts";

export { type SimCluster } from "./cluster.ts";
export type { FaultState } from "./faults.ts";
export type { CrashFault, Delays, Faults, ImpersonationRule, RefuseFault } from "./types.ts";

/** Options of {@link startSimClusters}. Give `names` or `count`. */
export interface SimClustersOptions {
  /** Names of the clusters. */
  names?: readonly string[];
  /** So many clusters `sim-001`, `sim-002`, … @default 1 */
  count?: number;
  /** `HOST:PORT`; port 0 takes a free one. @default "127.0.0.1:0" */
  listen?: string;
  /** Folder for certificates, the admin token and one SQLite file for each cluster; absent = nothing is kept. */
  dataDir?: string;
  clock?: Clock;
  logger?: Logger;
  delays?: Partial<Delays>;
  /** The admin token, for `/control` and all clusters. @default a random one, kept in `dataDir` */
  token?: string;
  /** Whether workloads get ReplicaSets, Pods and claims. @default true */
  children?: boolean;
  /** Nodes of each cluster. @default 2 */
  nodes?: number;
  /** What impersonated users may do. @default everything */
  impersonation?: ImpersonationRule[];
}

/** Simulated clusters that run. */
export interface SimClusters {
  /** `https://HOST:PORT` of the server; a cluster is below `/clusters/NAME`. */
  url: string;
  /** Authority of the server's certificate, PEM. */
  caPem: string;
  /** The admin token. */
  token: string;
  clusters: ReadonlyMap<string, SimCluster>;
  /** The cluster of that name. @throws Error when there is none */
  cluster(name: string): SimCluster;
  close(): Promise<void>;
}

/** Starts simulated clusters behind one TLS server. @throws Error when the address or the folder cannot be used */
export async function startSimClusters(options: SimClustersOptions): Promise<SimClusters> {
  const clock = options.clock ?? systemClock;
  const logger = options.logger ?? silentLogger;
  const { hostname, port } = addressOf(options.listen ?? "127.0.0.1:0");
  const hosts = [...new Set([hostname, "127.0.0.1", "localhost"])];
  const { dataDir } = options;
  if (dataDir) await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // Certificates live in real time, also where the clusters' clock is a test's.
  const certificates = dataDir
    ? await loadCertificates(join(dataDir, "tls"), hosts, systemClock)
    : await makeCertificates(hosts, systemClock);
  const token = options.token ?? (dataDir ? await keptToken(join(dataDir, "admin.token")) : randomToken());
  let url = "";
  const clusters = new Map<string, SimCluster>();
  for (const name of namesOf(options)) {
    clusters.set(
      name,
      new SimCluster({
        name,
        ...(dataDir ? { file: join(dataDir, `${name}.sqlite`) } : {}),
        clock,
        logger: logger.with({ cluster: name }),
        delays: { ...DEFAULT_DELAYS, ...options.delays },
        children: options.children ?? true,
        nodes: options.nodes ?? 2,
        ...(options.impersonation ? { impersonation: options.impersonation } : {}),
        kubeconfig: () =>
          kubeconfigOf({
            name,
            server: `${url}/clusters/${name}`,
            caPem: certificates.caPem,
            token: tokenOf(token, name),
          }),
      }),
    );
  }
  const host = new Host(clusters);
  const server = await serveHttps({
    handler: host,
    authenticator: hostAuthenticator(token, clusters),
    // The admin of a cluster may act as anybody on it; what that user may do is said by the rules.
    authorizer: { authorize: (user) => Promise.resolve({ allowed: user.groups.includes("system:masters") }) },
    server: certificates.server,
    clientCaPem: certificates.caPem,
    hostname,
    port,
    isOpen: (path) => /^\/(healthz|livez|readyz)$/.test(path) || openIn(path),
    logger,
  });
  url = server.url;
  return {
    url,
    caPem: certificates.caPem,
    token,
    clusters,
    cluster(name) {
      const found = clusters.get(name);
      if (!found) {
        throw new Error(`Cannot find the simulated cluster "${name}": there are ${[...clusters.keys()].join(", ")}`);
      }
      return found;
    },
    async close() {
      // First the clusters: their watches end, and the server has nothing to wait for.
      await host.close();
      await server.close(500);
    },
  };
}

/** Health and version of a cluster need no credentials. */
function openIn(path: string): boolean {
  return clusterIn(path) !== undefined && /^\/clusters\/[^/]+\/(version|healthz|livez|readyz)$/.test(path);
}

function namesOf(o: SimClustersOptions): string[] {
  const names = o.names
    ? [...o.names]
    : Array.from({ length: o.count ?? 1 }, (_, i) => `sim-${String(i + 1).padStart(3, "0")}`);
  for (const name of names) {
    if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) {
      throw new Error(`Cannot start the simulated cluster "${name}": a name is made of a-z, 0-9 and -, at most 63`);
    }
  }
  if (new Set(names).size !== names.length) throw new Error("Cannot start simulated clusters: a name is there twice");
  return names;
}

function addressOf(listen: string): { hostname: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(listen);
  if (!match) throw new Error(`Cannot listen on "${listen}": it must be HOST:PORT`);
  return { hostname: match[1] ?? (match[2] || "127.0.0.1"), port: Number(match[3]) };
}

function randomToken(): string {
  return crypto.getRandomValues(new Uint8Array(24)).toBase64({ alphabet: "base64url" });
}

async function keptToken(file: string): Promise<string> {
  try {
    const kept = (await Deno.readTextFile(file)).trim();
    if (kept) return kept;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) {
      throw new Error(`Cannot read the token file ${file}: ${(error as Error).message}`, { cause: error });
    }
  }
  const token = randomToken();
  await writeFileAtomic(file, `${token}\n`);
  return token;
}

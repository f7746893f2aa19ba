/** Starts a standalone API server: store, certificates, kinds, TLS. @module */
import { hostname } from "node:os";
import { join } from "node:path";
import {
  type Clock,
  createMetrics,
  type Logger,
  type Metrics,
  parseListen,
  silentLogger,
  systemClock,
} from "../shared/runtime/mod.ts";
import type { ApiHandler, ApiServer } from "../shared/server/contract.ts";
import { createApiHandler } from "../shared/server/mod.ts";
import {
  anyOf,
  type Authenticator,
  certificateAuthenticator,
  type Certificates,
  type HttpsServer,
  loadCertificates,
  makeCertificates,
  serveHttps,
  tokenAuthenticator,
  tokenFile,
  writeFileAtomic,
} from "../shared/server/net/mod.ts";
import { openStorage, type Storage } from "../shared/server/storage/mod.ts";
import { expireEvents } from "./expire_events.ts";
import { frontOf } from "./front.ts";
import { kubeconfig } from "./kubeconfig.ts";
import { servedKinds } from "./kinds.ts";
import { createNamespaces } from "./namespaces.ts";
import { rbacAuthorizer } from "./rbac.ts";

/** Options of {@link startApiServer}. */
export interface StartApiServerOptions {
  /** `HOST:PORT`; port 0 takes a free one. @default "127.0.0.1:0" */
  listen?: string;
  /** `memory`, `sqlite:FILE` or `sqlite::memory:`. @default "memory" */
  storage?: string;
  /** Token file, see {@link tokenFile}. @default only client certificates */
  tokenFile?: string;
  /** Certificates are kept in `DATA-DIR/pki`. @default certificates that live as long as the process */
  dataDir?: string;
  /** Further names and addresses in the server's certificate. */
  hosts?: readonly string[];
  /** Time of objects and of Events' expiry. Sockets use the machine's clock. @default systemClock */
  clock?: Clock;
  /** @default silentLogger */
  logger?: Logger;
  /** @default metrics of its own */
  metrics?: Metrics;
}

/** A running server. */
export interface RunningApiServer {
  /** `https://HOST:PORT`, with an address that clients on this machine can use. */
  url: string;
  /** What clients trust. */
  caPem: string;
  /** The server without sockets, for clients in the same process. They say who they are in `request.user`. */
  handler: ApiHandler;
  /** Kubeconfig of a user that may do everything. It holds a credential: write it with mode 0600. */
  adminKubeconfig(): Promise<string>;
  /** Kubeconfig with a client certificate, valid for a year. */
  kubeconfigFor(user: string, groups: readonly string[]): Promise<string>;
  /** Writes such a kubeconfig: whole or not at all, mode 0600. The user's certificate is made for it. */
  writeKubeconfig(file: string, who: { user: string; groups: readonly string[] }): Promise<void>;
  /** Resolves when background workers have caught up with all writes made so far. */
  settled(): Promise<void>;
  /** Ends watches and requests, workers, then the store. */
  close(): Promise<void>;
}

/** How often the server's certificate is looked at, ms. */
const RENEW_EVERY = 12 * 3_600_000;

/** Starts. @throws Error that says what cannot be used: address, store, certificates, token file */
export async function startApiServer(options: StartApiServerOptions = {}): Promise<RunningApiServer> {
  const started: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (let end = started.pop(); end; end = started.pop()) await end();
  };
  try {
    return await start(options, started, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  options: StartApiServerOptions,
  started: (() => Promise<void>)[],
  stop: () => Promise<void>,
): Promise<RunningApiServer> {
  const { clock = systemClock, logger = silentLogger, metrics = createMetrics({ process: false }) } = options;
  const { host, port } = parseListen(options.listen ?? "127.0.0.1:0");
  const authorizer = rbacAuthorizer();
  const authenticator = authenticatorOf(options, logger);

  const storage = openMeasured(options.storage ?? "memory", clock, metrics);
  started.push(() => storage.close());
  const kinds = servedKinds();
  const readyChecks = { storage: async () => void await storage.currentRevision() };
  const api: ApiServer = createApiHandler({ kinds, storage, authorizer, clock, logger, readyChecks });
  started.push(() => api.close());
  await createNamespaces(api);
  started.push(await expireEvents({ storage, clock, logger }));

  const hosts = hostsOf(host, options.hosts ?? []);
  const load = () =>
    options.dataDir === undefined
      ? makeCertificates(hosts, systemClock)
      : loadCertificates(join(options.dataDir, "pki"), hosts, systemClock);
  const certificates = await load();
  const handler = frontOf({ api, authorizer, metrics, kinds });
  const https = await serveHttps({
    handler,
    authenticator,
    authorizer,
    server: certificates.server,
    clientCaPem: certificates.caPem,
    hostname: host,
    port,
    logger,
  });
  started.push(() => https.close());
  if (options.dataDir !== undefined) started.push(renewInTime(https, load, logger));

  const url = `https://${reachable(host)}:${https.port}`;
  const kubeconfigFor = async (user: string, groups: readonly string[]) =>
    kubeconfig({
      server: url,
      caPem: certificates.caPem,
      user,
      credential: await certificates.issueClient(user, groups),
    });
  logger.info("The API server listens", { url });
  return {
    url,
    caPem: certificates.caPem,
    handler,
    adminKubeconfig: () => kubeconfigFor("convoy-admin", ["system:masters"]),
    kubeconfigFor,
    writeKubeconfig: async (file, who) => writeFileAtomic(file, await kubeconfigFor(who.user, who.groups)),
    settled: () => api.settled(),
    close: stop,
  };
}

function authenticatorOf(options: StartApiServerOptions, logger: Logger): Authenticator {
  const all = [certificateAuthenticator(() => Date.now())];
  // Without a token file every token is wrong, not merely unknown.
  const tokens = options.tokenFile === undefined ? () => NO_TOKENS : tokenFile(options.tokenFile, systemClock, logger);
  all.push(tokenAuthenticator(tokens));
  return anyOf(all);
}

const NO_TOKENS: never[] = [];

function openMeasured(url: string, clock: Clock, metrics: Metrics): Storage {
  const writes = metrics.counter("convoy_storage_writes_total", "Writes that are durable");
  const seconds = metrics.histogram(
    "convoy_storage_commit_seconds",
    "Time of one transaction, which may hold many writes",
    [],
    [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1],
  );
  return openStorage(url, {
    clock,
    onCommit(count, took) {
      writes.inc({}, count);
      seconds.observe(took);
    },
  });
}

const WILDCARDS = new Set(["0.0.0.0", "::"]);

/** Names that the certificate is for. */
function hostsOf(host: string, more: readonly string[]): string[] {
  const names = ["localhost", "127.0.0.1", "::1", hostname(), ...more];
  if (!WILDCARDS.has(host)) names.push(host);
  return [...new Set(names.filter((name) => name !== ""))];
}

/** A server on all addresses is reached on the loopback one. */
function reachable(host: string): string {
  if (WILDCARDS.has(host)) return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

/** Looks at the certificate twice a day; returns the stopper. */
function renewInTime(https: HttpsServer, load: () => Promise<Certificates>, logger: Logger): () => Promise<void> {
  let cancel = () => {};
  const again = () => {
    cancel = systemClock.after(RENEW_EVERY, async () => {
      try {
        https.renew((await load()).server);
      } catch (error) {
        logger.error("Cannot renew the server's certificate", error);
      }
      again();
    });
  };
  again();
  return async () => cancel();
}

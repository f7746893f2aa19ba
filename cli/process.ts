/** Puts one process together: an API server when it has that role, a client, and the loops over both. @module */
import { join } from "node:path";
import { startApiServer } from "../apiserver/mod.ts";
import { LOOP_ROLES } from "../roles.ts";
import { artifactHandler, cachedAccessKey, DiskArtifactStore } from "../shared/artifact/mod.ts";
import { createEventRecorder } from "../shared/controller/mod.ts";
import {
  createInformerFactory,
  createKubeClient,
  dropManagedFields,
  inProcessTransport,
  type KubeClient,
  kubeconfigFileTransport,
  type Transport,
} from "../shared/kube/mod.ts";
import {
  type Clock,
  createMetrics,
  type Logger,
  type Metrics,
  type Role,
  type RoleContext,
  runRoles,
  serveHealth,
  systemClock,
} from "../shared/runtime/mod.ts";
import type { ApiHandler } from "../shared/server/contract.ts";
import { createTargets } from "../shared/target/mod.ts";
import { startSimClusters } from "../simcluster/mod.ts";
import { IDENTITIES, type RunOptions } from "./run_options.ts";

/** The line that a process prints when it is ready. */
export interface ReadyLine {
  ready: true;
  roles: string[];
  /** Address of the API server, where the process runs it. */
  url?: string;
  /** Path of the administrator's kubeconfig. */
  kubeconfig?: string;
  /** `HOST:PORT` of /metrics, /healthz, /readyz. */
  metrics?: string;
  /** Kubeconfigs of the simulated clusters by name. */
  simclusters?: Record<string, string>;
  pid: number;
}

/** A process that runs. */
export interface RunningProcess {
  ready: ReadyLine;
  /** Client of the process's own API server as an administrator. */
  admin?: KubeClient;
  /** Resolves when the process has stopped. */
  done: Promise<void>;
  stop(): Promise<void>;
}

/** What a process is given from outside. */
export interface ProcessParts {
  logger: Logger;
  signal: AbortSignal;
  clock?: Clock;
}

/** Starts a process; it is ready when this resolves. Stops what was started when it throws. */
export async function startProcess(o: RunOptions, parts: ProcessParts): Promise<RunningProcess> {
  const { logger, clock = systemClock } = parts;
  await Deno.mkdir(o.dataDir, { recursive: true, mode: 0o700 });
  const metrics = createMetrics();
  const ends: (() => Promise<void> | void)[] = [];
  const stopping = new AbortController();
  const stop = async () => {
    stopping.abort(new DOMException("The process was told to stop", "AbortError"));
    // Last started, first stopped: loops before the server that they talk to.
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const ready: ReadyLine = { ready: true, roles: [...o.roles], pid: Deno.pid };
    let server: Awaited<ReturnType<typeof startServer>> | undefined;
    if (o.roles.includes("apiserver")) {
      server = await startServer(o, { logger, clock, metrics });
      ends.push(() => server!.close());
      ready.url = server.url;
      if (o.kubeconfigOut) ready.kubeconfig = o.kubeconfigOut;
    }
    if (o.roles.includes("simcluster")) {
      const names = Array.from({ length: o.simclusters }, (_, i) => `sim-${i + 1}`);
      const sim = await startSimClusters({
        names,
        listen: "127.0.0.1:0",
        clock,
        logger,
        dataDir: join(o.dataDir, "clusters"),
      });
      ends.push(() => sim.close());
      ready.simclusters = {};
      for (const [name, cluster] of sim.clusters) {
        const file = join(o.dataDir, `${name}.kubeconfig`);
        await Deno.writeTextFile(file, await cluster.kubeconfig(), { mode: 0o600 });
        ready.simclusters[name] = file;
      }
    }
    const roles = LOOP_ROLES.filter((role) => (o.roles as string[]).includes(role.name));
    const health = o.metricsListen
      ? await serveHealth({
        listen: formatAddress(o.metricsListen),
        metrics,
        notReady: () => loops?.notReady() ?? (roles.length > 0 ? ["the loops have not started"] : []),
        handlers: [(request, response) => loops?.artifacts(request, response) ?? Promise.resolve(false)],
      })
      : undefined;
    if (health) {
      ends.push(() => health.close());
      ready.metrics = health.address;
    }
    let loops: Awaited<ReturnType<typeof startLoops>> | undefined;
    if (roles.length > 0) {
      loops = await startLoops(o, roles, {
        logger,
        clock,
        metrics,
        signal: stopping.signal,
        transportFor: server
          ? (identity) => inProcessTransport(server!.handler, userOf(identity))
          : () => kubeconfigFileTransport(o.kubeconfig!, { allowExec: true }),
        ...(health ? { artifactUrl: `http://${health.address}` } : {}),
      });
      const { end } = loops;
      ends.push(end);
    }
    const admin = server ? createKubeClient(inProcessTransport(server.handler, userOf("admin"))) : undefined;
    if (admin) ends.push(() => admin.close());
    const done = Promise.withResolvers<void>();
    const stopped = { promise: undefined as Promise<void> | undefined };
    const stopOnce = () => stopped.promise ??= stop().finally(done.resolve);
    if (parts.signal.aborted) await stopOnce();
    else parts.signal.addEventListener("abort", () => void stopOnce(), { once: true });
    return { ready, ...(admin ? { admin } : {}), done: done.promise, stop: stopOnce };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startServer(o: RunOptions, parts: { logger: Logger; clock: Clock; metrics: Metrics }) {
  const server = await startApiServer({
    listen: formatAddress(o.listen),
    storage: o.storage,
    dataDir: o.dataDir,
    ...(o.tokenFile ? { tokenFile: o.tokenFile } : {}),
    ...parts,
  });
  try {
    if (o.kubeconfigOut) {
      await server.writeKubeconfig(o.kubeconfigOut, { user: "convoy-admin", groups: IDENTITIES.admin! });
    }
    for (const { identity, file } of o.issue) {
      await server.writeKubeconfig(file, userAndGroups(identity));
    }
  } catch (error) {
    await server.close();
    throw error;
  }
  return server as typeof server & { handler: ApiHandler };
}

/** The loops of a process: each group of roles talks to the API server as itself. */
async function startLoops(
  o: RunOptions,
  roles: readonly Role[],
  parts: {
    logger: Logger;
    clock: Clock;
    metrics: Metrics;
    signal: AbortSignal;
    transportFor(identity: string): Transport | Promise<Transport>;
    artifactUrl?: string;
  },
) {
  const { logger, clock, metrics, signal } = parts;
  const groups = [...Map.groupBy(roles, (role) => role.group)];
  const clients = new Map<string, KubeClient>();
  for (const [group] of groups) {
    clients.set(group, createKubeClient(await parts.transportFor(group), { metrics, clock }));
  }
  // The caches and connections are shared by all roles of the process; the first group reads for the others.
  const reader = clients.get(groups[0]![0])!;
  const informers = createInformerFactory({
    client: reader,
    clock,
    logger,
    signal,
    metrics,
    resyncMs: o.resyncMs,
    // Nobody reads managedFields from a cache, and they are half of an object.
    optionsFor: () => ({ transform: dropManagedFields }),
  });
  const targets = createTargets({
    client: reader,
    informers,
    clock,
    logger,
    signal,
    metrics,
    allowExecPlugins: o.allowExecPlugins,
  });
  const accessKey = cachedAccessKey(reader, () => clock.now());
  const artifacts = new DiskArtifactStore(o.dataDir, { accessKey, clock });
  const recorders: { stop(): Promise<void> }[] = [];
  const work = Promise.all(groups.map(async ([group, members]) => {
    const client = clients.get(group)!;
    const events = createEventRecorder({
      client,
      clock,
      logger,
      metrics,
      component: `convoy-${group}`,
      instance: o.identity,
    });
    recorders.push(events);
    const ctx: RoleContext = {
      client,
      informers,
      targets,
      artifacts,
      events,
      clock,
      logger,
      metrics,
      signal,
      options: {
        dataDir: o.dataDir,
        resyncMs: o.resyncMs,
        workers: o.workers,
        workersPerCluster: o.workersPerCluster,
        identity: o.identity,
        healthWriteMs: 1000,
        driftSweepMs: 600_000,
        allowExecPlugins: o.allowExecPlugins,
        allowFileProtocol: o.allowFileRepositories,
        ...(parts.artifactUrl ? { artifactUrl: parts.artifactUrl } : {}),
      },
    };
    await runRoles(members, ctx, o.leaderElect ? { leaderElect: { namespace: "convoy-system" } } : {});
  }));
  return {
    artifacts: artifactHandler(artifacts, accessKey),
    notReady: () => [] as string[],
    async end() {
      await work;
      await Promise.all(recorders.map((r) => r.stop()));
      await informers.done;
      targets.close();
      for (const client of clients.values()) client.close();
    },
  };
}

function userAndGroups(identity: string): { user: string; groups: string[] } {
  return { user: `system:convoy:${identity}`, groups: IDENTITIES[identity] ?? [] };
}

function userOf(identity: string) {
  const { user, groups } = userAndGroups(identity);
  return { name: user, groups: [...groups, "system:authenticated"] };
}

function formatAddress(a: { host: string; port: number }): string {
  return a.host.includes(":") ? `[${a.host}]:${a.port}` : `${a.host}:${a.port}`;
}

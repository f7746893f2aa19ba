/** A whole Convoy in the test's process: all roles, an API server on memory storage, simulated clusters, a Git repository. @module */
import { join } from "node:path";
import { startProcess } from "../../cli/process.ts";
import { completeRunOptions, type RunFlags } from "../../cli/run_options.ts";
import {
  API_VERSION,
  type Cluster,
  CLUSTERS,
  GIT_REPOSITORIES,
  type GitRepository,
  type Release,
  RELEASE_INVENTORIES,
  type ReleaseInventory,
  RELEASES,
  SECRETS,
} from "../../shared/api/mod.ts";
import type { KubeClient } from "../../shared/kube/contract.ts";
import type { Condition, KubeObject, Resource } from "../../shared/kube/types.ts";
import { type Logger, silentLogger } from "../../shared/runtime/mod.ts";
import { eventually } from "../../shared/testing/mod.ts";
import { type Delays, type SimCluster, type SimClusters, startSimClusters } from "../../simcluster/mod.ts";
import { TestRepository } from "./repository.ts";

/** Options of {@link startSystem}. */
export interface SystemOptions {
  /** @default ["c1"] */
  clusters?: string[];
  delays?: Partial<Delays>;
  flags?: Partial<RunFlags>;
  logger?: Logger;
}

/** Namespace of Convoy's objects in tests. */
export const NS = "default";

/** A resource of a target cluster. */
export const targetResource = (
  group: string,
  version: string,
  plural: string,
  kind: string,
  namespaced = true,
): Resource => ({
  group,
  version,
  plural,
  kind,
  namespaced,
});
/** Deployments of a target. */
export const DEPLOYMENTS = targetResource("apps", "v1", "deployments", "Deployment");
/** ConfigMaps of a target. */
export const CONFIG_MAPS = targetResource("", "v1", "configmaps", "ConfigMap");

/** Starts a system; `await using` stops it. */
export async function startSystem(o: SystemOptions = {}): Promise<System> {
  const dir = await Deno.makeTempDir({ prefix: "convoy-system-" });
  const abort = new AbortController();
  const logger = o.logger ?? silentLogger;
  let sim: SimClusters | undefined;
  try {
    sim = await startSimClusters({
      names: o.clusters ?? ["c1"],
      delays: { ready: 20, job: 20, bind: 5, address: 5, ...o.delays },
      logger,
    });
    const options = completeRunOptions({
      role: ["all"],
      storage: "memory",
      listen: "127.0.0.1:0",
      issue: [],
      dataDir: join(dir, "data"),
      metricsListen: "127.0.0.1:0",
      simclusters: "0",
      workers: "8",
      workersPerCluster: "2",
      resync: "600",
      allowFileRepositories: true,
      logFormat: "text",
      logLevel: "info",
      ...o.flags,
    });
    const running = await startProcess(options, { logger, signal: abort.signal });
    const system = new System(dir, running.admin!, running.ready, sim, await TestRepository.create(dir), async () => {
      await running.stop();
      await sim!.close();
      await Deno.remove(dir, { recursive: true });
    });
    for (const cluster of sim.clusters.values()) await system.addCluster(cluster.name, cluster.kubeconfig());
    return system;
  } catch (error) {
    abort.abort();
    await sim?.close();
    throw error;
  }
}

/** A system that runs. */
export class System {
  readonly #stop: () => Promise<void>;
  constructor(
    readonly dir: string,
    readonly client: KubeClient,
    readonly ready: { url?: string; kubeconfig?: string; metrics?: string },
    readonly sim: SimClusters,
    readonly repository: TestRepository,
    stop: () => Promise<void>,
  ) {
    this.#stop = stop;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }

  /** A simulated cluster. */
  cluster(name = "c1"): SimCluster {
    return this.sim.cluster(name);
  }

  /** Applies an object as a user. */
  async apply<T extends KubeObject>(resource: Resource, object: object): Promise<T> {
    return await this.client.apply<T>(resource, object as KubeObject, { fieldManager: "test", force: true });
  }

  /** A Cluster and the Secret with its kubeconfig. */
  async addCluster(name: string, kubeconfig: string): Promise<Cluster> {
    await this.apply(SECRETS, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: `${name}-kubeconfig`, namespace: NS },
      stringData: { kubeconfig },
    });
    return await this.apply<Cluster>(CLUSTERS, {
      apiVersion: API_VERSION,
      kind: "Cluster",
      metadata: { name, namespace: NS },
      spec: { kubeconfigSecretRef: { name: `${name}-kubeconfig` } },
    });
  }

  /** The GitRepository `apps` on the test's repository. */
  async addRepository(spec: Partial<GitRepository["spec"]> = {}, name = "apps"): Promise<GitRepository> {
    return await this.apply<GitRepository>(GIT_REPOSITORIES, {
      apiVersion: API_VERSION,
      kind: "GitRepository",
      metadata: { name, namespace: NS },
      spec: { url: this.repository.url, ref: { branch: "main" }, interval: "1s", ...spec },
    });
  }

  /** A Release of a folder of the repository. */
  async addRelease(name: string, o: { cluster?: string; path?: string; spec?: object } = {}): Promise<Release> {
    return await this.apply<Release>(RELEASES, {
      apiVersion: API_VERSION,
      kind: "Release",
      metadata: { name, namespace: NS },
      spec: {
        cluster: { name: o.cluster ?? "c1" },
        source: { git: { repository: "apps", path: o.path ?? name } },
        ...o.spec,
      },
    });
  }

  /** The Release now. */
  async release(name: string): Promise<Release> {
    return await this.client.get<Release>(RELEASES, { namespace: NS, name });
  }

  /** Its inventory now. */
  async inventory(name: string): Promise<ReleaseInventory> {
    return await this.client.get<ReleaseInventory>(RELEASE_INVENTORIES, { namespace: NS, name });
  }

  /** Waits until the Release is as wanted; the error tells its conditions. */
  async until(name: string, wanted: (r: Release) => boolean, on: string, timeout = 20_000): Promise<Release> {
    let last: Release | undefined;
    return await eventually(async () => {
      last = await this.release(name);
      return wanted(last) ? last : undefined;
    }, { timeout, every: 20, on: `release ${name}: ${on}` }).catch((error) => {
      const seen = (last?.status?.conditions ?? []).map((c) => `${c.type}=${c.status} ${c.reason}: ${c.message}`).join(
        "\n  ",
      );
      throw new Error(`${error.message}\n  ${seen}`);
    });
  }

  /** Waits until all four signals are True at the Release's generation. */
  async untilThere(name: string, timeout?: number): Promise<Release> {
    return await this.until(
      name,
      (r) => SIGNALS.every((s) => is(r, s, "True")) && current(r),
      "all four signals True",
      timeout,
    );
  }
}

const SIGNALS = ["Applied", "InSync", "Healthy", "RolloutSucceeded"];

/** One condition of a Release. */
export function condition(r: Release, type: string): Condition | undefined {
  return r.status?.conditions?.find((c) => c.type === type);
}

/** Whether a condition has that status (and reason). */
export function is(r: Release, type: string, status: string, reason?: string): boolean {
  const found = condition(r, type);
  return found?.status === status && (reason === undefined || found.reason === reason);
}

const current = (r: Release) => r.status?.observedGeneration === r.metadata.generation;

/**
 * 200 Releases on 20 simulated clusters: memory of `--role=all`, and what a minute of steady state costs. Convoy runs in a
 * process of its own; the clusters are in this one, where each request to them is counted. @module
 */
import { join } from "node:path";
import { API_VERSION, CLUSTERS, GIT_REPOSITORIES, type Release, RELEASES, SECRETS } from "../shared/api/mod.ts";
import { convoyCommand } from "../cli/self.ts";
import { allTrue } from "../cli/live_table.ts";
import { createKubeClient, type KubeClient, kubeconfigFileTransport } from "../shared/kube/mod.ts";
import type { KubeObject, Resource } from "../shared/kube/types.ts";
import { systemClock } from "../shared/runtime/mod.ts";
import { startSimClusters } from "../simcluster/mod.ts";
import { configMap, deployment, namespace } from "../tests/kit/manifests.ts";
import { TestRepository } from "../tests/kit/repository.ts";

const CLUSTER_COUNT = 20, PER_CLUSTER = 10, WINDOW_MS = 60_000;

/** Runs it and prints the figures. */
export async function benchSteadyState(print: (line: string) => void, windowMs = WINDOW_MS): Promise<void> {
  const dir = await Deno.makeTempDir({ prefix: "convoy-bench-" });
  const sim = await startSimClusters({
    names: Array.from({ length: CLUSTER_COUNT }, (_, i) => `c${i}`),
    clock: systemClock,
    children: false,
    delays: { ready: 50 },
  });
  const requests = { watch: 0, other: 0 };
  for (const cluster of sim.clusters.values()) {
    const handle = cluster.handle.bind(cluster);
    cluster.handle = (request) => {
      requests[/[?&]watch=(1|true)/.test(request.path) ? "watch" : "other"]++;
      return handle(request);
    };
  }
  const repository = await TestRepository.create(dir);
  await repository.commit(Object.fromEntries(
    Array.from({ length: PER_CLUSTER }, (_, i) => [
      [`app${i}/ns.yaml`, i === 0 ? namespace("apps") : ""],
      [`app${i}/deployment.yaml`, deployment(`app${i}`)],
      [`app${i}/config.yaml`, configMap(`app${i}`, { n: String(i) })],
    ]).flat().filter(([, text]) => text !== "") as [string, string][],
  ));
  const [program, ...args] = convoyCommand();
  const child = new Deno.Command(program!, {
    args: [
      ...args,
      ...["run", "--role=all", "--listen=127.0.0.1:0", `--data-dir=${join(dir, "data")}`],
      ...["--allow-file-repositories", "--log-level=error"],
    ],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let client: KubeClient | undefined;
  try {
    const ready = await firstLine(child.stdout) as { kubeconfig: string; metrics: string; pid: number };
    client = createKubeClient(await kubeconfigFileTransport(ready.kubeconfig));
    const apply = (r: Resource, object: unknown) =>
      client!.apply<KubeObject>(r, object as KubeObject, { fieldManager: "bench", force: true });
    const object = (kind: string, name: string, spec: unknown) => ({
      apiVersion: API_VERSION,
      kind,
      metadata: { name, namespace: "default" },
      spec,
    });
    await apply(GIT_REPOSITORIES, object("GitRepository", "apps", { url: repository.url, interval: "10s" }));
    for (const cluster of sim.clusters.values()) {
      await apply(SECRETS, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: cluster.name, namespace: "default" },
        stringData: { kubeconfig: cluster.kubeconfig() },
      });
      await apply(CLUSTERS, object("Cluster", cluster.name, { kubeconfigSecretRef: { name: cluster.name } }));
    }
    const started = performance.now();
    for (const cluster of sim.clusters.keys()) {
      for (let i = 0; i < PER_CLUSTER; i++) {
        await apply(
          RELEASES,
          object("Release", `app${i}-${cluster}`, {
            cluster: { name: cluster },
            clusterWave: i === 0 ? 0 : 1,
            source: { git: { repository: "apps", path: `app${i}` } },
          }),
        );
      }
    }
    const total = CLUSTER_COUNT * PER_CLUSTER;
    await poll(
      async () => {
        const { items } = await client!.list<Release>(RELEASES, { namespace: "default" });
        return items.filter(allTrue).length === total;
      },
      300_000,
      `${total} Releases there`,
    );
    print(
      `${total} Releases on ${CLUSTER_COUNT} clusters there after ${
        ((performance.now() - started) / 1000).toFixed(1)
      } s`,
    );
    // What the rollout left to do (last health writes, events) is no steady state yet.
    await quiet(ready.metrics);
    const before = { writes: await writesOf(ready.metrics), ...requests };
    await wait(windowMs);
    const after = { writes: await writesOf(ready.metrics), ...requests };
    print(
      `steady state, ${windowMs / 1000} s: ${after.writes - before.writes} writes to the store, ` +
        `${after.other - before.other} requests to targets other than watches, ${
          after.watch - before.watch
        } watches opened`,
    );
    print(
      `memory of --role=all: ${
        (await residentBytes(ready.pid) / 2 ** 20).toFixed(0)
      } MiB resident (goal: under 250 MB)`,
    );
  } finally {
    client?.close();
    child.kill("SIGTERM");
    await child.status;
    await sim.close();
    await Deno.remove(dir, { recursive: true });
  }
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<unknown> {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("\n")) {
    const { value, done } = await reader.read();
    if (done) throw new Error("Convoy ended before it was ready");
    text += value;
  }
  void (async () => {
    while (!(await reader.read()).done);
  })();
  return JSON.parse(text.split("\n")[0]!);
}

async function writesOf(metrics: string): Promise<number> {
  const text = await (await fetch(`http://${metrics}/metrics`)).text();
  const lines = text.split("\n").filter((l) => l.startsWith("convoy_storage_writes_total"));
  if (lines.length === 0) throw new Error("The metrics have no convoy_storage_writes_total");
  return lines.reduce((sum, l) => sum + Number(l.split(" ").at(-1)), 0);
}

/** Waits until no write happened for 15 s. */
async function quiet(metrics: string): Promise<void> {
  for (let last = -1, since = performance.now(); performance.now() - since < 15_000;) {
    const now = await writesOf(metrics);
    if (now !== last) [last, since] = [now, performance.now()];
    await wait(500);
  }
}

async function residentBytes(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? NaN) * 1024;
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

async function poll(ready: () => Promise<boolean>, ms: number, what: string): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end; await wait(250)) if (await ready()) return;
  throw new Error(`Waited ${ms / 1000} s in vain for ${what}`);
}

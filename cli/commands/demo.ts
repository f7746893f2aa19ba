/** `convoy demo`: the whole main job in one process, with simulated clusters. @module */
import type { Command } from "commander";
import { join } from "node:path";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { startSimClusters } from "../../simcluster/mod.ts";
import type { Resource } from "../../shared/kube/types.ts";
import type { KubeClient } from "../../shared/kube/contract.ts";
import { createLogger, stopOnSignals, systemClock } from "../../shared/runtime/mod.ts";
import { CLUSTERS, GIT_REPOSITORIES, RELEASES, SECRETS } from "../../shared/api/mod.ts";
import { bindDemoObjects, clusterNames, type DemoObject, makeRepository, readDemoObjects } from "../demo_objects.ts";
import { showUntil } from "../live_table.ts";
import { UsageError } from "../output.ts";
import { type RunningProcess, startProcess } from "../process.ts";
import { completeRunOptions } from "../run_options.ts";
import type { Print } from "./shared.ts";

const NAMESPACE = "default";

interface DemoFlags {
  once?: boolean;
  dataDir: string;
  listen: string;
  timeout: string;
  logLevel: string;
}

/** Adds the command. */
export function addDemo(program: Command, print: Print): void {
  program.command("demo")
    .description("Start everything in one process with three simulated clusters, and release the examples to them.")
    .option("--once", "end with exit code 0 when all Releases are there (1 when they are not within --timeout)")
    .option(
      "--data-dir <folder>",
      "folder of the demo; a second run goes on with what is in it",
      join(".convoy", "demo"),
    )
    .option("--listen <host:port>", "address of the API server", "127.0.0.1:0")
    .option("--timeout <seconds>", "limit until all are there", "120")
    .option("--log-level <level>", "error, info or debug", "error")
    .action(async (o: DemoFlags) => {
      const seconds = Number(o.timeout);
      if (!(seconds > 0)) {
        throw new UsageError(`Cannot wait "${o.timeout}": --timeout takes a number of seconds above 0`);
      }
      await demo(o, seconds * 1000, print);
    });
}

async function demo(o: DemoFlags, timeoutMs: number, print: Print): Promise<void> {
  await Deno.mkdir(o.dataDir, { recursive: true, mode: 0o700 });
  const dir = await Deno.realPath(o.dataDir);
  const options = completeRunOptions({
    role: ["all"],
    listen: o.listen,
    issue: [],
    dataDir: dir,
    metricsListen: "127.0.0.1:0",
    simclusters: "0",
    workers: "8",
    workersPerCluster: "4",
    resync: "600",
    allowFileRepositories: true,
    logFormat: "text",
    logLevel: o.logLevel,
  });
  const logger = createLogger({ format: "text", level: options.logLevel });
  const stop = stopOnSignals({ logger });
  const started = Date.now();
  const examples = await examplesFolder();
  const described = await readDemoObjects(examples, NAMESPACE);
  const names = clusterNames(described);
  const simulated = await startSimClusters({
    names,
    listen: "127.0.0.1:0",
    dataDir: join(dir, "clusters"),
    clock: systemClock,
    logger,
  });
  try {
    print(`${names.length} simulated clusters: ${names.join(", ")}`);
    const running = await startProcess(options, { logger, signal: stop.signal });
    try {
      print(`API server: ${running.ready.url}`);
      const repository = join(dir, "repository");
      await makeRepository(join(examples, "apps"), repository);
      print(`Git repository: ${repository}`);
      const kubeconfigs = new Map(
        await Promise.all([...simulated.clusters].map(async ([name, c]) => {
          const text = await c.kubeconfig();
          await Deno.writeTextFile(join(dir, `${name}.kubeconfig`), text, { mode: 0o600 });
          return [name, text] as const;
        })),
      );
      const objects = bindDemoObjects(described, { repositoryUrl: `file://${repository}`, kubeconfigs });
      await applyAll(running.admin!, objects);
      print("");
      const releases = new Set(objects.filter((x) => x.kind === "Release").map((x) => x.metadata.name));
      await showUntil(running.admin!, NAMESPACE, releases, {
        terminal: Deno.stdout.isTerminal(),
        write: (text) => Deno.stdout.writeSync(new TextEncoder().encode(text)),
        signal: AbortSignal.any([stop.signal, AbortSignal.timeout(timeoutMs)]),
      });
      print(
        `\nAll ${releases.size} Releases are Applied, InSync, Healthy and rolled out, ${
          ((Date.now() - started) / 1000).toFixed(1)
        } s after the start.`,
      );
      if (!o.once) await linger(dir, running, print);
    } finally {
      await running.stop();
    }
  } catch (error) {
    // Told to stop before all was there: that is no failure of the demo.
    if (!stop.signal.aborted) throw error;
  } finally {
    await simulated.close();
    stop.dispose();
  }
}

async function linger(dir: string, running: RunningProcess, print: Print): Promise<void> {
  print(`
Look further, in another terminal:
  export KUBECONFIG=${running.ready.kubeconfig}
  kubectl get releases
  kubectl describe release north-web
  kubectl get releaseinventory north-web -o yaml
  deno task convoy get releases -o wide --kubeconfig ${running.ready.kubeconfig}
  deno task convoy events north-web --kubeconfig ${running.ready.kubeconfig}
Change something on a cluster and see InSync turn False:
  kubectl --kubeconfig ${join(dir, "north.kubeconfig")} -n shop scale deployment web --replicas=7
Change ${join(dir, "repository")}, commit, and see it rolled out.
Metrics: http://${running.ready.metrics}/metrics
Ctrl-C ends the demo; the next one goes on from here.`);
  await running.done;
}

async function applyAll(client: KubeClient, objects: readonly DemoObject[]): Promise<void> {
  const resources: Record<string, Resource> = {
    Secret: SECRETS,
    Cluster: CLUSTERS,
    GitRepository: GIT_REPOSITORIES,
    Release: RELEASES,
  };
  for (const object of objects) {
    await client.apply(resources[object.kind]!, object, { fieldManager: "convoy-demo", force: true });
  }
}

/** `examples/` of the source tree, or beside the bundle. */
async function examplesFolder(): Promise<string> {
  const here = dirname(fileURLToPath(import.meta.url));
  for (const folder of [join(here, "..", "..", "examples"), join(here, "examples")]) {
    if (await Deno.stat(join(folder, "apps")).then((s) => s.isDirectory, () => false)) return folder;
  }
  throw new Error("Cannot find the folder examples/ beside the program");
}

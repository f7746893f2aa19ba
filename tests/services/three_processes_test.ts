/** The page's layout from `deploy/three-processes.yaml`: each process killed and restarted in turn during a rollout. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { allTrue } from "../../cli/live_table.ts";
import { convoyCommand } from "../../cli/self.ts";
import {
  API_VERSION,
  CLUSTERS,
  GIT_REPOSITORIES,
  LEASES,
  type Release,
  RELEASES,
  SECRETS,
} from "../../shared/api/mod.ts";
import { createKubeClient, type KubeClient, kubeconfigFileTransport } from "../../shared/kube/mod.ts";
import { hasReason } from "../../shared/kube/status.ts";
import type { KubeObject, Resource } from "../../shared/kube/types.ts";
import { systemClock } from "../../shared/runtime/mod.ts";
import { eventually } from "../../shared/testing/mod.ts";
import { startSimClusters } from "../../simcluster/mod.ts";
import { startGitHttp } from "../kit/git_http.ts";
import { configMap, deployment, namespace } from "../kit/manifests.ts";
import { freePort } from "../kit/ports.ts";
import { TestRepository } from "../kit/repository.ts";
import { CONFIG_MAPS, DEPLOYMENTS, NS } from "../kit/system.ts";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Processes of `convoy up`, followed by the lines it prints. */
class Layout {
  readonly pids = new Map<string, number>();
  readonly #child: Deno.ChildProcess;
  readonly #read: Promise<void>;
  readonly ready = new Set<string>();
  constructor(dir: string, port: number) {
    const [program, ...args] = convoyCommand();
    this.#child = new Deno.Command(program!, {
      args: [
        ...args,
        "up",
        "-f",
        join(ROOT, "deploy", "three-processes.yaml"),
        "--data-dir",
        dir,
        "--set",
        `PORT=${port}`,
      ],
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#read = this.#follow();
  }

  async #follow() {
    let rest = "";
    for await (const piece of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + piece).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        const event = JSON.parse(line);
        if (event.started) this.pids.set(event.process, event.pid);
        if (event.ready) this.ready.add(event.process);
        if (event.ended !== undefined) this.ready.delete(event.process);
      }
    }
  }

  /** Kills a process at once, and waits until it is there again. */
  async killAndWait(name: string): Promise<void> {
    const old = this.pids.get(name)!;
    Deno.kill(old, "SIGKILL");
    await eventually(() => this.pids.get(name) !== old && this.ready.has(name), {
      timeout: 60_000,
      on: `${name} is back`,
    });
  }

  async untilReady(...names: string[]): Promise<void> {
    await eventually(() => names.every((n) => this.ready.has(n)), { timeout: 60_000, on: `${names.join(", ")} ready` });
  }

  /** Stops all; resolves to how long it took, ms. */
  async stop(): Promise<number> {
    const started = performance.now();
    this.#child.kill("SIGTERM");
    await this.#child.status;
    await this.#read;
    return performance.now() - started;
  }
}

const ALL = ["apiserver", "controller-manager-0", "controller-manager-1", "observer"];

Deno.test("three processes from the deployment file finish a rollout though each is killed in turn, and nothing is lost or left over", async () => {
  const dir = await Deno.makeTempDir({ prefix: "convoy-layout-" });
  const sim = await startSimClusters({ names: ["c1", "c2"], clock: systemClock, delays: { ready: 300 } });
  const repository = await TestRepository.create(dir);
  const git = await startGitHttp(dir);
  const layout = new Layout(join(dir, "data"), await freePort());
  let client: KubeClient | undefined;
  try {
    await layout.untilReady(...ALL);
    client = createKubeClient(await kubeconfigFileTransport(join(dir, "data", "kubeconfig")));
    const apply = (r: Resource, object: unknown) =>
      client!.apply<KubeObject>(r, object as KubeObject, { fieldManager: "test", force: true });
    const object = (kind: string, name: string, spec: object) => ({
      apiVersion: API_VERSION,
      kind,
      metadata: { name, namespace: NS },
      spec,
    });
    const files = (version: number) => {
      const all: Record<string, string> = { "web/0-ns.yaml": namespace() };
      for (let i = 0; i < 8; i++) {
        all[`web/d${i}.yaml`] = deployment(`d${i}`, { image: `img:${version}` });
        all[`web/c${i}.yaml`] = configMap(`c${i}`, { version: String(version) });
      }
      return all;
    };
    await repository.commit(files(1));
    await apply(
      GIT_REPOSITORIES,
      object("GitRepository", "apps", { url: `${git.url}/${repository.name}`, interval: "1s" }),
    );
    for (const cluster of sim.clusters.values()) {
      await apply(SECRETS, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: cluster.name, namespace: NS },
        stringData: { kubeconfig: cluster.kubeconfig() },
      });
      await apply(CLUSTERS, object("Cluster", cluster.name, { kubeconfigSecretRef: { name: cluster.name } }));
      await apply(
        RELEASES,
        object("Release", `web-${cluster.name}`, {
          cluster: { name: cluster.name },
          source: { git: { repository: "apps", path: "web" } },
        }),
      );
    }
    const there = (commit: string, what: string) =>
      eventually(async () => {
        const { items } = await client!.list<Release>(RELEASES, { namespace: NS });
        return items.length === 2 && items.every((r) => allTrue(r) && r.status?.source?.revision.endsWith(commit));
      }, { timeout: 120_000, every: 100, on: what });
    await there(await repository.head(), "the first rollout");

    let version = 1;
    for (const victim of ["observer", "apiserver", "leader", "leader", "apiserver", "observer"]) {
      const commit = await repository.commit({
        ...files(++version),
        [`web/c7.yaml`]: version % 2 ? configMap("c7", { version: String(version) }) : "# gone\n",
      });
      // In the middle of the rollout: some object is at the new version, and the Release is not yet there.
      const target = await sim.cluster("c1").client();
      await eventually(async () => {
        const { items } = await target.list<KubeObject & { data?: Record<string, string> }>(CONFIG_MAPS, {
          namespace: "apps",
        });
        return items.some((c) => c.data?.version === String(version));
      }, { timeout: 60_000, on: `version ${version} arriving` });
      await layout.killAndWait(victim === "leader" ? await leaderOf(client, layout) : victim);
      await there(commit, `version ${version} after ${victim} was killed`);
      for (const cluster of sim.clusters.values()) {
        const live = await cluster.client();
        const maps = await live.list<KubeObject & { data: Record<string, string> }>(CONFIG_MAPS, {
          namespace: "apps",
          labelSelector: "convoy.kumodo.io/release-uid",
        });
        const expected = Array.from({ length: version % 2 ? 8 : 7 }, (_, i) => `c${i}=${version}`);
        await eventually(async () => {
          const { items } = await live.list<typeof maps.items[number]>(CONFIG_MAPS, {
            namespace: "apps",
            labelSelector: "convoy.kumodo.io/release-uid",
          });
          assert.deepEqual(items.map((m) => `${m.metadata.name}=${m.data.version}`).sort(), expected);
          return true;
        }, { timeout: 20_000, on: `just the objects of version ${version} on ${cluster.name}` });
        const deployments = await live.list<KubeObject>(DEPLOYMENTS, { namespace: "apps" });
        assert.equal(deployments.items.length, 8);
        live.close();
      }
      target.close();
    }
    const took = await layout.stop();
    assert.ok(took < 12_000, `all processes stopped within 10 s of SIGTERM, here ${took.toFixed(0)} ms`);
  } finally {
    client?.close();
    await layout.stop().catch(() => {});
    await git.close();
    await sim.close();
    await Deno.remove(dir, { recursive: true });
  }
});

/** Name of the controller-manager process that leads now. */
async function leaderOf(client: KubeClient, layout: Layout): Promise<string> {
  return await eventually(async () => {
    const lease = await client.get<KubeObject & { spec?: { holderIdentity?: string } }>(LEASES, {
      namespace: "convoy-system",
      name: "convoy-controller-manager",
    }).catch((e) => {
      if (hasReason(e, "NotFound")) return undefined;
      throw e;
    });
    const pid = Number(lease?.spec?.holderIdentity?.split("_").at(-1));
    return [...layout.pids].find(([, p]) => p === pid)?.[0];
  }, { timeout: 60_000, on: "a leader" });
}

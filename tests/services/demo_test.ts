/** The demo as a newcomer runs it: a process of its own, real git, kubectl as the client; and a kill -9 in the middle. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { allTrue } from "../../cli/live_table.ts";
import { convoyCommand } from "../../cli/self.ts";
import { type Release, RELEASES } from "../../shared/api/mod.ts";
import { createKubeClient, kubeconfigFileTransport } from "../../shared/kube/mod.ts";
import { eventually } from "../../shared/testing/mod.ts";
import { kubectl } from "../kube/binaries.ts";

function demo(dir: string, ...more: string[]): Deno.ChildProcess {
  const [program, ...args] = convoyCommand();
  return new Deno.Command(program!, {
    args: [...args, "demo", "--data-dir", dir, "--timeout", "90", ...more],
    stdout: "null",
    stderr: "inherit",
  }).spawn();
}

Deno.test("demo --once ends with 0 when all is there, also when it was killed in the middle and goes on from there", async () => {
  const dir = await Deno.makeTempDir({ prefix: "convoy-demo-" });
  try {
    const killed = demo(dir);
    const kubeconfig = join(dir, "kubeconfig");
    // In the middle: some Release is applied, not all are there.
    await eventually(async () => {
      const client = createKubeClient(await kubeconfigFileTransport(kubeconfig));
      try {
        const { items } = await client.list<Release>(RELEASES, { namespace: "default" });
        return items.some((r) => r.status?.conditions?.some((c) => c.type === "Applied" && c.status === "True")) &&
          !items.every(allTrue);
      } finally {
        client.close();
      }
    }, { timeout: 60_000, every: 50, on: "a rollout under way" });
    killed.kill("SIGKILL");
    await killed.status;
    assert.equal((await demo(dir, "--once").status).code, 0);

    const running = demo(dir);
    try {
      const program = await kubectl();
      const ask = async (...args: string[]) => {
        const o = await new Deno.Command(program, { args: ["--kubeconfig", kubeconfig, ...args] }).output();
        return { code: o.code, text: new TextDecoder().decode(o.stdout) };
      };
      await eventually(
        async () =>
          (await ask("wait", "release/north-web", "--for=condition=RolloutSucceeded", "--timeout=5s")).code === 0,
        {
          timeout: 60_000,
          on: "kubectl wait",
        },
      );
      const { text } = await ask("get", "releases");
      assert.match(text, /^NAME +CLUSTER +APPLIED +INSYNC +HEALTHY +ROLLOUT +REVISION +AGE/);
      assert.equal(text.trim().split("\n").length, 13);
      assert.match((await ask("describe", "release", "north-web")).text, /RolloutSucceeded/);
      assert.match((await ask("explain", "release.spec.clusterWave")).text, /lower wave/);
    } finally {
      running.kill("SIGTERM");
      assert.equal((await running.status).code, 0, "SIGTERM ends the demo cleanly");
    }
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

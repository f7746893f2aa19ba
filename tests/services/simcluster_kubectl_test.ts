/** kubectl itself against a simulated cluster over TLS. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { kubectl } from "../kube/binaries.ts";
import { startSimClusters } from "../../simcluster/mod.ts";

const EXAMPLES = fileURLToPath(new URL("../../examples/apps/", import.meta.url));

Deno.test({
  name: "kubectl: api-resources, explain, apply both ways, get, wait, patch, scale, delete",
  async fn() {
    const program = await kubectl();
    const dir = await Deno.makeTempDir();
    const sim = await startSimClusters({ names: ["a"], delays: { ready: 200, job: 200, bind: 50, address: 50 } });
    try {
      const file = join(dir, "kubeconfig");
      await Deno.writeTextFile(file, sim.cluster("a").kubeconfig());
      const run = async (...args: string[]) => {
        const env = { KUBECONFIG: file, HOME: dir };
        const { success, stdout, stderr } = await new Deno.Command(program, { args, env }).output();
        const text = new TextDecoder();
        assert.ok(success, `kubectl ${args.join(" ")}: ${text.decode(stderr)}${text.decode(stdout)}`);
        return text.decode(stdout);
      };
      const resources = await run("api-resources");
      for (const line of [/^deployments +deploy +apps\/v1 +true +Deployment$/m, /^nodes +no +v1 +false +Node$/m]) {
        assert.match(resources, line);
      }
      assert.match(await run("explain", "deployment.spec.strategy"), /rollingUpdate/);

      assert.match(
        await run("apply", "--server-side", "-f", join(EXAMPLES, "base", "namespace.yaml")),
        /serverside-applied/,
      );
      for (const name of ["access.yaml", "network.yaml", "greeting-crd.yaml"]) {
        await run("apply", "--server-side", "-f", join(EXAMPLES, "base", name));
      }
      await run("wait", "--for=condition=Established", "crd/greetings.shop.example.com", "--timeout=20s");
      await run("apply", "-f", join(EXAMPLES, "base", "greeting.yaml"));
      assert.match(await run("get", "greetings", "-n", "shop"), /welcome +en +Welcome aboard/);

      for (const app of ["store", "worker", "web"]) await run("apply", "-f", join(EXAMPLES, app));
      assert.match(await run("apply", "-f", join(EXAMPLES, "web")), /deployment\.apps\/web unchanged/);
      assert.match(await run("apply", "--server-side", "--force-conflicts", "-f", join(EXAMPLES, "store")), /store/);
      await run("rollout", "status", "-n", "shop", "deployment/web", "--timeout=30s");
      await run("rollout", "status", "-n", "shop", "statefulset/store", "--timeout=30s");
      await run("wait", "-n", "shop", "--for=condition=Complete", "job/migrate-1-4-2", "--timeout=30s");
      assert.match(await run("get", "deployments", "-n", "shop"), /^web +3\/3 +3 +3 +\d+s$/m);
      assert.match(await run("get", "statefulsets,jobs", "-n", "shop"), /store +2\/2[^]*migrate-1-4-2 +Complete +1\/1/);
      assert.match(await run("get", "pods", "-n", "shop", "-o", "wide"), /web-\S+ +1\/1 +Running +0 .*node-\d/);
      assert.match(await run("get", "pvc", "-n", "shop"), /data-store-0 +Bound +pvc-\S+ +1Gi +RWO +standard/);

      await run("scale", "-n", "shop", "deployment/web", "--replicas=1");
      await run("set", "image", "-n", "shop", "deployment/web", "web=registry.example.com/shop/web:2");
      await run("rollout", "status", "-n", "shop", "deployment/web", "--timeout=30s");
      assert.match(await run("get", "deploy", "web", "-n", "shop", "-o", "jsonpath={.spec.replicas}"), /^1$/);
      assert.match(
        await run("describe", "deployment", "web", "-n", "shop"),
        /1 desired \| 1 updated \| 1 total \| 1 available/,
      );
      assert.match(await run("delete", "-f", join(EXAMPLES, "web")), /deployment\.apps "web" deleted/);
      assert.match(await run("delete", "namespace", "shop", "--timeout=30s"), /namespace "shop" deleted/);
    } finally {
      await sim.close();
      await Deno.remove(dir, { recursive: true });
    }
  },
});

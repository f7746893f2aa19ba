/** The commands against a running system: what they print and their exit codes. */
import assert from "node:assert/strict";
import { runCommandLine } from "../../cli/program.ts";
import { configMap, namespace } from "../kit/manifests.ts";
import { startSystem } from "../kit/system.ts";

async function run(kubeconfig: string, ...args: string[]) {
  const out: string[] = [], err: string[] = [];
  const code = await runCommandLine([...args, "--kubeconfig", kubeconfig], {
    print: (text) => void out.push(text),
    printError: (text) => void err.push(text),
    version: { convoy: "0", deno: "0", platform: "p" },
  });
  return { code, out: out.join("\n"), err: err.join("\n") };
}

Deno.test("get, sync and events print in every format, and their exit codes tell success, failure and wrong use", async () => {
  await using system = await startSystem();
  await system.repository.commit({ "web/ns.yaml": namespace(), "web/c.yaml": configMap("cfg", { a: "1" }) });
  await system.addRepository();
  await system.addRelease("web");
  await system.untilThere("web");
  const kubeconfig = system.ready.kubeconfig!;
  const table = await run(kubeconfig, "get", "releases");
  assert.match(
    table.out,
    /^NAME +CLUSTER +APPLIED +INSYNC +HEALTHY +ROLLOUT +REVISION +AGE\nweb +c1 +True +True +True +True /,
  );
  assert.match((await run(kubeconfig, "get", "rel", "web", "-o", "wide")).out, /MESSAGE\n/);
  assert.equal((await run(kubeconfig, "get", "rel", "-o", "name")).out, "releases.convoy.kumodo.io/web");
  assert.equal(JSON.parse((await run(kubeconfig, "get", "rel", "web", "-o", "json")).out).metadata.name, "web");
  assert.match((await run(kubeconfig, "get", "rel", "web", "-o", "yaml")).out, /^ {2}name: web$/m);
  const synced = await run(kubeconfig, "sync", "web", "--wait", "--timeout", "20");
  assert.deepEqual([synced.code, synced.out, synced.err], [0, 'release "web" synced', ""]);
  assert.match((await run(kubeconfig, "events", "web")).out, /RolloutSucceeded +release\/web/);
  const missing = await run(kubeconfig, "sync", "nope");
  assert.equal(missing.code, 1);
  assert.match(missing.err, /NotFound.*"nope" not found/);
  for (const wrong of [["get", "nopes"], ["get", "rel", "-o", "xml"], ["get", "--nope"], ["nope"]]) {
    assert.equal((await run(kubeconfig, ...wrong)).code, 2, wrong.join(" "));
  }
});

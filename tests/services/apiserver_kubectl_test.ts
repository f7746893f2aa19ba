import assert from "node:assert/strict";
import { join } from "node:path";
import { startApiServer } from "../../apiserver/mod.ts";
import { kubectl as kubectlPath } from "../kube/binaries.ts";

interface Result {
  code: number;
  out: string;
  err: string;
}

/** Runs kubectl with a kubeconfig of these groups against a fresh server. */
async function withKubectl(
  run: (kubectl: (args: string, input?: unknown, who?: string) => Promise<Result>) => Promise<void>,
): Promise<void> {
  const program = await kubectlPath();
  const folder = await Deno.makeTempDir({ prefix: "convoy-kubectl-" });
  await Deno.writeTextFile(
    join(folder, "tokens.csv"),
    `viewer-token,ann,1,"convoy:view"\nadmin-token,root,2,system:masters`,
  );
  const server = await startApiServer({
    storage: `sqlite:${folder}/convoy.db`,
    dataDir: folder,
    tokenFile: join(folder, "tokens.csv"),
  });
  await server.writeKubeconfig(join(folder, "admin"), { user: "root", groups: ["system:masters"] });
  await server.writeKubeconfig(join(folder, "view"), { user: "viewer", groups: ["convoy:view"] });
  const kubectl = async (args: string, input?: unknown, who = "admin"): Promise<Result> => {
    const child = new Deno.Command(program, {
      args: args.split(" "),
      env: { KUBECONFIG: join(folder, who), HOME: folder, KUBECACHEDIR: join(folder, "cache") },
      stdin: input === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    if (input !== undefined) {
      const writer = child.stdin.getWriter();
      await writer.write(new TextEncoder().encode(typeof input === "string" ? input : JSON.stringify(input)));
      await writer.close();
    }
    const { code, stdout, stderr } = await child.output();
    return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
  };
  try {
    await run(kubectl);
  } finally {
    await server.close();
    await Deno.remove(folder, { recursive: true });
  }
}

function fine(result: Result): string {
  assert.equal(result.code, 0, result.err + result.out);
  return result.out;
}

const release = (name: string, spec: Record<string, unknown> = {}) => ({
  apiVersion: "convoy.kumodo.io/v1alpha1",
  kind: "Release",
  metadata: { name, labels: { app: name } },
  spec: { cluster: { name: "north" }, source: { git: { repository: "shop", path: "web" } }, ...spec },
});

Deno.test("kubectl: create, get as table, yaml and json, selectors, describe, delete", () =>
  withKubectl(async (kubectl) => {
    assert.match(fine(await kubectl("create -f -", release("web"))), /release\.convoy\.kumodo\.io\/web created/);
    fine(await kubectl("create -f -", release("db")));
    const table = fine(await kubectl("get releases")).split("\n");
    assert.match(table[0]!, /^NAME +CLUSTER +APPLIED +INSYNC +HEALTHY +ROLLOUT +REVISION +AGE/);
    assert.match(table[1]!, /^db +north /);
    assert.match(fine(await kubectl("get rel web -o yaml")), /interval: 10m/);
    assert.equal(JSON.parse(fine(await kubectl("get releases -o json"))).items.length, 2);
    assert.equal(fine(await kubectl("get releases -l app=web -o name")), "release.convoy.kumodo.io/web\n");
    assert.equal(
      fine(await kubectl("get releases --field-selector metadata.name=db -o name")),
      "release.convoy.kumodo.io/db\n",
    );
    assert.match(fine(await kubectl("describe release web")), /Repository: +shop/);
    assert.match(fine(await kubectl("delete release web db")), /"db" deleted/);
    assert.match((await kubectl("get releases")).err, /No resources found/);
  }));

Deno.test("kubectl: client-side and server-side apply, conflicts, patch, edit, wait", () =>
  withKubectl(async (kubectl) => {
    assert.match(fine(await kubectl("apply -f -", release("web"))), /web created/);
    assert.match(fine(await kubectl("apply -f -", release("web"))), /web unchanged/);
    assert.match(fine(await kubectl("apply -f -", release("web", { interval: "1m" }))), /web configured/);
    fine(await kubectl("apply --server-side --field-manager=one -f -", release("db", { interval: "1m" })));
    const clash = await kubectl("apply --server-side --field-manager=two -f -", release("db", { interval: "2m" }));
    assert.equal(clash.code, 1);
    assert.match(clash.err, /conflict with "one": \.spec\.interval/);
    fine(
      await kubectl(
        "apply --server-side --force-conflicts --field-manager=two -f -",
        release("db", { interval: "2m" }),
      ),
    );
    fine(await kubectl(`patch release db --type=merge -p {"spec":{"suspend":true}}`));
    fine(await kubectl(`patch release db --type=json -p [{"op":"replace","path":"/spec/timeout","value":"9m"}]`));
    const spec = JSON.parse(fine(await kubectl("get release db -o json"))).spec;
    assert.deepEqual([spec.interval, spec.suspend, spec.timeout], ["2m", true, "9m"]);
    fine(
      await kubectl(
        `patch release db --subresource=status --type=merge -p ` +
          `{"status":{"conditions":[{"type":"Applied","status":"True","reason":"Applied","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`,
      ),
    );
    assert.match(fine(await kubectl("wait --for=condition=Applied --timeout=5s release/db")), /condition met/);
    const bad = await kubectl("apply -f -", release("bad", { clusterWave: -1, intervall: "1m" }));
    assert.equal(bad.code, 1);
    assert.match(bad.err, /clusterWave|intervall/);
  }));

Deno.test("kubectl: api-resources, explain, version, watch, namespaces and secrets", () =>
  withKubectl(async (kubectl) => {
    assert.match(
      fine(await kubectl("api-resources --api-group=convoy.kumodo.io")),
      /releases +rel +convoy\.kumodo\.io\/v1alpha1 +true +Release/,
    );
    assert.match(fine(await kubectl("explain release.spec.source.git.path")), /Folder inside the repository/);
    fine(await kubectl("version"));
    fine(await kubectl("create namespace team"));
    fine(await kubectl("create secret generic s -n team --from-literal=a=b"));
    assert.equal(fine(await kubectl("get secret s -n team -o jsonpath={.data.a}")), "Yg==");
    assert.match(fine(await kubectl("create configmap c --from-literal=a=b")), /created/);
    fine(await kubectl("delete namespace team --timeout=10s"));
    assert.match((await kubectl("get secret s -n team")).err, /not found/);
  }));

Deno.test("kubectl: auth by token and certificate, can-i, whoami, 401 and 403", () =>
  withKubectl(async (kubectl) => {
    fine(await kubectl("create -f -", release("web")));
    fine(await kubectl("get releases", undefined, "view"));
    const secrets = await kubectl("get secrets", undefined, "view");
    assert.match(secrets.err, /secrets is forbidden: User "viewer" cannot list resource "secrets"/);
    assert.equal((await kubectl("auth can-i get releases.convoy.kumodo.io", undefined, "view")).out, "yes\n");
    assert.equal((await kubectl("auth can-i delete releases.convoy.kumodo.io", undefined, "view")).out, "no\n");
    assert.match(fine(await kubectl("auth can-i --list", undefined, "view")), /convoy\.kumodo\.io/);
    assert.match(fine(await kubectl("auth whoami", undefined, "view")), /viewer/);
    assert.match(fine(await kubectl("auth whoami --as=bob --as-group=dev")), /bob/);
    assert.match((await kubectl("get releases --as=bob", undefined, "view")).err, /cannot impersonate/);
  }));

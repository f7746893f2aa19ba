/**
 * A real Kubernetes control plane on loopback: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, and kwok in
 * place of kubelets. For tests only. @module
 */
import { generateKeyPairSync } from "node:crypto";
import { request } from "node:https";
import { createServer } from "node:net";
import { join } from "node:path";
import { goProgram } from "./binaries.ts";

/** A control plane that runs. */
export interface ControlPlane {
  /** `https://127.0.0.1:PORT` */
  url: string;
  /** Path of an admin kubeconfig. */
  kubeconfig: string;
  /** Folder of its files and logs. */
  dir: string;
  stop(): Promise<void>;
}

const TOKEN = "admin-token-of-the-tests";

/** Starts one in a new folder; ready when it answers /readyz and has a Ready node. Takes 5 to 15 s once built. */
export async function startControlPlane(): Promise<ControlPlane> {
  const [controlplane, kwok] = [await goProgram("controlplane"), await goProgram("kwok")];
  const dir = await Deno.makeTempDir({ prefix: "convoy-kube-" });
  const programs: Deno.ChildProcess[] = [];
  const logs: Deno.FsFile[] = [];
  const start = (name: string, file: string, args: string[]) => {
    const log = Deno.openSync(join(dir, `${name}.log`), { create: true, write: true, truncate: true });
    logs.push(log);
    const child = new Deno.Command(file, { args, stdout: "null", stderr: "piped", cwd: dir }).spawn();
    const copied = child.stderr.pipeTo(log.writable).catch(() => {});
    programs.push(child);
    return { child, copied };
  };
  const stop = async () => {
    // Clients first: the API server takes long to stop while its etcd is gone.
    for (const child of programs.toReversed()) {
      try {
        child.kill("SIGKILL");
      } catch { /* ended by itself */ }
      await child.status;
    }
    await Deno.remove(dir, { recursive: true });
  };
  try {
    for (const name of ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"]) {
      await Deno.symlink(controlplane, join(dir, name));
    }
    const [etcdPort, peerPort, port] = await Promise.all([freePort(), freePort(), freePort()]);
    const key = join(dir, "sa.key");
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    await Deno.writeTextFile(key, privateKey.export({ type: "pkcs8", format: "pem" }) as string, { mode: 0o600 });
    await Deno.writeTextFile(join(dir, "tokens.csv"), `${TOKEN},admin,admin,system:masters\n`, { mode: 0o600 });
    start("etcd", join(dir, "etcd"), [
      `--data-dir=${join(dir, "etcd-data")}`,
      `--listen-client-urls=http://127.0.0.1:${etcdPort}`,
      `--advertise-client-urls=http://127.0.0.1:${etcdPort}`,
      `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
      `--initial-advertise-peer-urls=http://127.0.0.1:${peerPort}`,
      `--initial-cluster=default=http://127.0.0.1:${peerPort}`,
      "--unsafe-no-fsync",
    ]);
    const url = `https://127.0.0.1:${port}`;
    start("kube-apiserver", join(dir, "kube-apiserver"), [
      `--etcd-servers=http://127.0.0.1:${etcdPort}`,
      `--cert-dir=${join(dir, "certs")}`,
      `--secure-port=${port}`,
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      `--service-account-issuer=${url}`,
      `--service-account-key-file=${key}`,
      `--service-account-signing-key-file=${key}`,
      "--authorization-mode=RBAC",
      `--token-auth-file=${join(dir, "tokens.csv")}`,
      "--service-cluster-ip-range=10.0.0.0/24",
      "--allow-privileged=true",
    ]);
    const kubeconfig = join(dir, "kubeconfig");
    await Deno.writeTextFile(kubeconfig, kubeconfigText(url), { mode: 0o600 });
    await until(async () => (await get(url, "/readyz")).status === 200, 60_000, "kube-apiserver is not ready", dir);
    start("kube-controller-manager", join(dir, "kube-controller-manager"), [
      `--kubeconfig=${kubeconfig}`,
      `--service-account-private-key-file=${key}`,
      "--leader-elect=false",
      "--secure-port=0",
    ]);
    start("kube-scheduler", join(dir, "kube-scheduler"), [
      `--kubeconfig=${kubeconfig}`,
      "--leader-elect=false",
      "--secure-port=0",
    ]);
    start("kwok", kwok, [
      `--kubeconfig=${kubeconfig}`,
      "--manage-all-nodes",
      "--node-lease-duration-seconds=40",
      `--server-address=127.0.0.1:${await freePort()}`,
    ]);
    await addNode(url);
    await until(
      async () => {
        const sa = await get(url, "/api/v1/namespaces/default/serviceaccounts/default");
        const node = (await get(url, "/api/v1/nodes/node-0")).text;
        return sa.status === 200 &&
          /"type":\s*"Ready",\s*"status":\s*"True"|"status":\s*"True"[^{}]*"type":\s*"Ready"/.test(node);
      },
      60_000,
      "the controllers are not ready",
      dir,
    );
    return { url, kubeconfig, dir, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** One request with the admin's token. The server's certificate is of its own making; only ever on loopback. */
function get(url: string, path: string, body?: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url + path, {
      method: body === undefined ? "GET" : "POST",
      rejectUnauthorized: false,
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (piece) => text += piece).on("error", reject)
        .on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    asked.on("error", reject).end(body);
  });
}

async function addNode(url: string): Promise<void> {
  const quantity = { cpu: "32", memory: "64Gi", pods: "500" };
  const node = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "node-0", annotations: { "kwok.x-k8s.io/node": "fake" } },
    status: { capacity: quantity, allocatable: quantity },
  };
  const response = await get(url, "/api/v1/nodes", JSON.stringify(node));
  if (response.status !== 201) throw new Error(`Cannot make the node: HTTP ${response.status}`);
}

async function until(ready: () => Promise<boolean>, ms: number, what: string, dir: string): Promise<void> {
  for (const end = Date.now() + ms; Date.now() < end;) {
    if (await ready().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  let tail = "";
  for await (const f of Deno.readDir(dir)) {
    if (f.name.endsWith(".log")) tail += `\n== ${f.name}\n${(await Deno.readTextFile(join(dir, f.name))).slice(-1500)}`;
  }
  throw new Error(`Cannot start the control plane: ${what} after ${ms / 1000} s${tail}`);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    }).on("error", reject);
  });
}

function kubeconfigText(url: string): string {
  return `apiVersion: v1
kind: Config
current-context: test
clusters:
- name: test
  cluster: {server: "${url}", insecure-skip-tls-verify: true}
users:
- name: admin
  user: {token: ${TOKEN}}
contexts:
- name: test
  context: {cluster: test, user: admin}
`;
}

/** Requests a second of a changing status apply, and where the time goes: SSA, storage, TLS and HTTP. @module */
import { join } from "node:path";
import { startApiServer } from "../apiserver/mod.ts";
import { API_VERSION, kindDefinitions, RELEASES } from "../shared/api/mod.ts";
import { createKubeClient, inProcessTransport, type KubeClient, kubeconfigTransport } from "../shared/kube/mod.ts";
import type { KubeObject } from "../shared/kube/types.ts";
import { silentLogger } from "../shared/runtime/mod.ts";
import { applyPatch, compileSchema, finishWrite, type KindInfo, type Obj, resetFields } from "../shared/ssa/mod.ts";

const MANAGER = "convoy-release-controller";
const NS = "default";

/** One way to reach a server. */
interface Setup {
  name: string;
  storage: string;
  tls: boolean;
}

/** A result line. */
export interface Rate {
  name: string;
  clients: number;
  perSecond: number;
}

function statusOf(
  name: string,
  n: number,
): { apiVersion: string; kind: string; metadata: { name: string; namespace: string } } {
  const at = "2026-01-01T00:00:00Z";
  const condition = (type: string) => ({
    type,
    status: n % 2 ? "True" : "False",
    reason: "Bench",
    message: `change ${n}`,
    observedGeneration: 1,
    lastTransitionTime: at,
  });
  return {
    apiVersion: API_VERSION,
    kind: "Release",
    metadata: { name, namespace: NS },
    status: {
      conditions: ["Applied", "RolloutSucceeded"].map(condition),
      observedGeneration: 1,
      reconciledAt: at,
      renderRef: `sha256-${n}`,
      source: { revision: `main@sha1:${n}`, digest: `sha256:${n}` },
      waves: [{ wave: 0, objects: 12, applied: 12, healthy: n % 12 }],
      resolvedRetentionPolicy: { count: 10 },
    },
  } as never;
}

const release = (name: string) => ({
  apiVersion: API_VERSION,
  kind: "Release",
  metadata: { name, namespace: NS },
  spec: { cluster: { name: "c" }, source: { git: { repository: "apps", path: "web" } } },
});

/** Applies `total` changed statuses with `clients` at once; each client has a Release of its own. */
async function measure(clients: KubeClient[], total: number): Promise<number> {
  let n = 0;
  const started = performance.now();
  await Promise.all(clients.map(async (client, i) => {
    while (n < total) {
      await client.apply(RELEASES, statusOf(`r${i}`, ++n), {
        fieldManager: MANAGER,
        force: true,
        subresource: "status",
      });
    }
  }));
  return n / ((performance.now() - started) / 1000);
}

/** Microseconds that SSA itself takes for one such apply, on the same objects. */
export function ssaMicroseconds(rounds = 3000): number {
  const kind = kindDefinitions().find((k) => k.kind === "Release")!;
  const info: KindInfo = {
    schemas: new Map([[API_VERSION, compileSchema(kind.versions[0]!.schema)]]),
    flavour: "custom",
    statusSubresource: true,
  };
  const now = "2026-01-01T00:00:00Z";
  let live = {
    ...release("r"),
    metadata: { ...release("r").metadata, uid: "u", creationTimestamp: now },
  } as unknown as Obj;
  const once = (n: number) => {
    const config = statusOf("r", n) as unknown as Obj;
    const request = {
      kind: info,
      apiVersion: API_VERSION,
      subresource: "status",
      live,
      config,
      manager: MANAGER,
      force: true,
      now,
    };
    const { object } = applyPatch(request);
    const reset = resetFields(info, "status", live, object);
    live = finishWrite(live, reset).object;
  };
  for (let n = 0; n < 500; n++) once(n);
  const started = performance.now();
  for (let n = 0; n < rounds; n++) once(n + 500);
  return (performance.now() - started) * 1000 / rounds;
}

/** Runs all setups and prints the figures. */
export async function benchStatusApply(print: (line: string) => void, total = 3000): Promise<void> {
  const setups: Setup[] = [
    { name: "TLS, sqlite", storage: "sqlite", tls: true },
    { name: "TLS, memory", storage: "memory", tls: true },
    { name: "in process, sqlite", storage: "sqlite", tls: false },
    { name: "in process, memory", storage: "memory", tls: false },
  ];
  const rates: Rate[] = [];
  for (const setup of setups) {
    const dir = await Deno.makeTempDir({ prefix: "convoy-bench-" });
    const server = await startApiServer({
      listen: "127.0.0.1:0",
      storage: setup.storage === "memory" ? "memory" : `sqlite:${join(dir, "bench.db")}`,
      dataDir: dir,
      logger: silentLogger,
    });
    try {
      const kubeconfig = await server.adminKubeconfig();
      for (const count of [1, 16]) {
        const clients = Array.from({ length: count }, () =>
          createKubeClient(
            setup.tls
              ? kubeconfigTransport(kubeconfig, { label: "the bench's kubeconfig" })
              : inProcessTransport(server.handler, { name: "bench", groups: ["system:masters"] }),
          ));
        for (const [i, client] of clients.entries()) {
          await client.apply<KubeObject>(RELEASES, release(`r${i}`), { fieldManager: "bench", force: true });
        }
        await measure(clients, Math.ceil(total / 10));
        rates.push({ name: setup.name, clients: count, perSecond: await measure(clients, total) });
        for (const client of clients) client.close();
      }
    } finally {
      await server.close();
      await Deno.remove(dir, { recursive: true });
    }
  }
  const of = (name: string, clients: number) => rates.find((r) => r.name === name && r.clients === clients)!.perSecond;
  print("apply of a Release status that changes it, requests/s:");
  for (const { name } of setups) {
    print(
      `  ${name.padEnd(20)} 1 client ${of(name, 1).toFixed(0).padStart(6)}   16 clients ${
        of(name, 16).toFixed(0).padStart(6)
      }`,
    );
  }
  const ssa = ssaMicroseconds();
  for (const clients of [1, 16]) {
    const whole = 1e6 / of("TLS, sqlite", clients);
    const tls = whole - 1e6 / of("in process, sqlite", clients);
    const storage = 1e6 / of("in process, sqlite", clients) - 1e6 / of("in process, memory", clients);
    const share = (us: number) => `${Math.max(0, 100 * us / whole).toFixed(0)} %`;
    print(
      `  of one request's time at ${clients} client${clients > 1 ? "s" : ""} (${whole.toFixed(0)} us): SSA ${
        share(ssa)
      } (${ssa.toFixed(0)} us), ` +
        `storage ${share(storage)}, TLS and HTTP with the client ${share(tls)}, the rest ${
          share(whole - ssa - storage - tls)
        }`,
    );
  }
}

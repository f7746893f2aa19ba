/** A standalone server for one test, and clients of it over TLS. @module */
import { createKubeClient, type KubeClient, kubeconfigTransport } from "../shared/kube/mod.ts";
import { type RunningApiServer, startApiServer, type StartApiServerOptions } from "./start.ts";

/** Runs with a server that is closed afterwards. */
export async function withServer(
  options: StartApiServerOptions,
  run: (server: RunningApiServer, as: (user: string, ...groups: string[]) => Promise<KubeClient>) => Promise<void>,
): Promise<void> {
  const server = await startApiServer(options);
  const clients: KubeClient[] = [];
  const as = async (user: string, ...groups: string[]) => {
    const text = await server.kubeconfigFor(user, groups);
    const client = createKubeClient(kubeconfigTransport(text, { label: "test" }));
    clients.push(client);
    return client;
  };
  try {
    await run(server, as);
  } finally {
    for (const client of clients) client.close();
    await server.close();
  }
}

/** Runs with a folder that is removed afterwards. */
export async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "convoy-apiserver-" });
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A Release that is valid. */
export function release(name: string, namespace = "default") {
  return {
    apiVersion: "convoy.kumodo.io/v1alpha1",
    kind: "Release",
    metadata: { name, namespace },
    spec: { cluster: { name: "c" }, source: { git: { repository: "shop" } } },
  };
}

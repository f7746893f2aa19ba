/** Finds Convoy's API server for a command that talks to one. @module */
import { join } from "node:path";
import { createKubeClient, kubeconfigFileTransport, parseKubeconfig } from "../shared/kube/mod.ts";
import type { KubeClient } from "../shared/kube/contract.ts";
import { UsageError } from "./output.ts";

/** Options that every such command takes. */
export interface ConnectOptions {
  /** Path of a kubeconfig. @default $CONVOY_KUBECONFIG, then `.convoy/kubeconfig`, then $KUBECONFIG */
  kubeconfig?: string;
  /** Context in it. @default its current-context */
  context?: string;
  /** Namespace. @default that of the context, else `default` */
  namespace?: string;
}

/** A client, and the namespace that the command works in. The caller closes the client. */
export async function connect(o: ConnectOptions): Promise<{ client: KubeClient; namespace: string }> {
  const file = await kubeconfigFile(o.kubeconfig);
  const text = await Deno.readTextFile(file).catch((error) => {
    throw new UsageError(`Cannot read the kubeconfig "${file}": ${error.message}`);
  });
  const label = `the file "${file}"`, context = o.context ? { context: o.context } : {};
  const config = parseKubeconfig(text, { label, allowExec: true, allowFiles: true, ...context });
  const client = createKubeClient(await kubeconfigFileTransport(file, { label, ...context }), {
    userAgent: "convoy-cli",
  });
  return { client, namespace: o.namespace ?? config.namespace ?? "default" };
}

async function kubeconfigFile(given: string | undefined): Promise<string> {
  if (given) return given;
  const named = Deno.env.get("CONVOY_KUBECONFIG");
  if (named) return named;
  const local = join(".convoy", "kubeconfig");
  if (await Deno.stat(local).then((s) => s.isFile, () => false)) return local;
  const usual = Deno.env.get("KUBECONFIG")?.split(":").find(Boolean);
  if (usual) return usual;
  throw new UsageError(
    `Cannot find Convoy's API server: give --kubeconfig or set CONVOY_KUBECONFIG ("convoy run" and "convoy demo" write ${local})`,
  );
}

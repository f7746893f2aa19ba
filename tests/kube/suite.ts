/** The cluster that the kube suite runs on: `KUBECONFIG`, or a control plane that is built and started once for a file. @module */
import { createKubeClient, type KubeClient, kubeconfigFileTransport } from "../../shared/kube/mod.ts";
import { startControlPlane } from "./control_plane.ts";

/** A real cluster. */
export interface RealCluster {
  kubeconfig: string;
  /** Text of the kubeconfig file. */
  kubeconfigText: string;
  client: KubeClient;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Takes the cluster of `KUBECONFIG`, or starts one. */
export async function realCluster(): Promise<RealCluster> {
  const given = Deno.env.get("KUBECONFIG");
  const started = given ? undefined : await startControlPlane();
  const kubeconfig = given ?? started!.kubeconfig;
  const client = createKubeClient(await kubeconfigFileTransport(kubeconfig));
  return {
    kubeconfig,
    kubeconfigText: await Deno.readTextFile(kubeconfig),
    client,
    async [Symbol.asyncDispose]() {
      client.close();
      await started?.stop();
    },
  };
}

/** From a Cluster object to a connection: reads the kubeconfig Secret. @module */
import { type Cluster, type Secret, SECRETS } from "../api/mod.ts";
import {
  createKubeClient,
  hasReason,
  inClusterTransport,
  type KubeClient,
  KubeconfigError,
  kubeconfigTransport,
  type Transport,
} from "../kube/mod.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Metrics } from "../runtime/metrics.ts";
import { TargetError, type TargetProblem } from "./contract.ts";

/** What makes connections; replaced in tests. */
export interface ConnectionOptions {
  /** Client of Convoy's own API server. */
  client: KubeClient;
  clock: Clock;
  metrics?: Metrics;
  /** @default false */
  allowExecPlugins?: boolean;
  /** Longest time of one request to a target, ms. @default 30_000 */
  requestTimeoutMs?: number;
  /** Makes a transport of a kubeconfig's text. @throws KubeconfigError */
  connect?: (kubeconfig: string, label: string) => Transport;
  /** Makes the transport for `spec.inCluster`. @throws KubeconfigError */
  connectInCluster?: () => Transport;
}

/** A connection and what it was made of. */
export interface Connection {
  client: KubeClient;
  /** Equal for equal settings and credentials. Holds a credential: never print it. */
  fingerprint: string;
}

/** Name for messages. */
export function clusterName(key: string): string {
  return `Cluster ${key}`;
}

/**
 * Makes the connection of a Cluster, or gives back `old` when nothing has changed.
 *
 * @throws TargetError that names the Secret, the key and the mend. An error of Convoy's own API server is thrown as it is.
 */
export async function connectionOf(
  cluster: Cluster,
  old: Connection | undefined,
  o: ConnectionOptions,
): Promise<Connection> {
  const key = `${cluster.metadata.namespace}/${cluster.metadata.name}`;
  const { qps, burst, inCluster } = cluster.spec;
  const { text, label } = inCluster ? { text: "", label: "" } : await readKubeconfig(cluster, key, o.client);
  const fingerprint = JSON.stringify([qps, burst, inCluster === true, text]);
  if (old?.fingerprint === fingerprint) return old;
  let transport: Transport;
  try {
    transport = inCluster
      ? (o.connectInCluster ?? inClusterTransport)()
      : (o.connect ?? ((kubeconfig, label) =>
        kubeconfigTransport(kubeconfig, {
          label,
          clock: o.clock,
          allowExec: o.allowExecPlugins ?? false,
        })))(text, label);
  } catch (error) {
    if (!(error instanceof KubeconfigError) && !(error instanceof TypeError)) throw error;
    throw new TargetError("ClusterUnreachable", `${clusterName(key)} cannot be used: ${error.message}`, {
      cause: error,
      problem: "KubeconfigInvalid",
    });
  }
  const client = createKubeClient(transport, {
    clock: o.clock,
    name: "target",
    requestTimeoutMs: o.requestTimeoutMs ?? 30_000,
    ...(qps ? { qps, burst: burst ?? qps * 2 } : {}),
    ...(o.metrics ? { metrics: o.metrics } : {}),
  });
  return { client, fingerprint };
}

async function readKubeconfig(
  cluster: Cluster,
  key: string,
  client: KubeClient,
): Promise<{ text: string; label: string }> {
  const fail = (problem: TargetProblem, why: string): never => {
    throw new TargetError("ClusterUnreachable", `${clusterName(key)} cannot be used: ${why}`, { problem });
  };
  const ref = cluster.spec.kubeconfigSecretRef;
  if (!ref?.name) {
    return fail(
      "KubeconfigInvalid",
      "it names no kubeconfig; set spec.kubeconfigSecretRef.name, or spec.inCluster: true",
    );
  }
  const namespace = cluster.metadata.namespace ?? "";
  const field = ref.key || "kubeconfig";
  const secret = await client.get<Secret>(SECRETS, { namespace, name: ref.name }).catch((error) => {
    if (hasReason(error, "NotFound")) {
      return fail(
        "SecretNotFound",
        `Secret ${namespace}/${ref.name} does not exist; create it with a kubeconfig under key "${field}"`,
      );
    }
    throw error;
  });
  const encoded = secret.data && Object.hasOwn(secret.data, field) ? secret.data[field] : undefined;
  if (encoded === undefined) {
    const keys = Object.keys(secret.data ?? {}).slice(0, 10).map((k) => `"${k}"`).join(", ");
    return fail(
      "SecretKeyMissing",
      `Secret ${namespace}/${ref.name} has no key "${field}" (it has ${keys || "no keys"}); ` +
        `put the kubeconfig there, or set spec.kubeconfigSecretRef.key`,
    );
  }
  const label = `Secret ${namespace}/${ref.name}, key "${field}"`;
  try {
    const bytes = Uint8Array.from(atob(encoded), (c) => c.charCodeAt(0));
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), label };
  } catch {
    return fail("KubeconfigInvalid", `${label} is not text`);
  }
}

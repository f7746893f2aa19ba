/** From a kubeconfig, or from inside a cluster, to a transport. @module */
import { readFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import { type Clock, systemClock } from "../runtime/clock.ts";
import { type Transport, TransportError } from "./contract.ts";
import { execCredentials, type RunProgram } from "./exec_plugin.ts";
import {
  type KubeconfigContext,
  KubeconfigError,
  type KubeconfigOptions,
  parseKubeconfig,
  type PemSource,
} from "./kubeconfig.ts";
import { type Credential, type CredentialSource, httpTransport, type HttpTransportOptions } from "./transport_http.ts";

/** Options of {@link kubeconfigTransport}. */
export interface ConnectOptions
  extends KubeconfigOptions, Pick<HttpTransportOptions, "connectTimeoutMs" | "pingIntervalMs" | "pingTimeoutMs"> {
  clock?: Clock;
  /** Runs exec plugins. @default a child process */
  runProgram?: RunProgram;
}

/** Files with credentials are read again after this time, ms: they are rotated under a running process. */
const FILE_CACHE_MS = 10_000;

/** Makes a transport from the text of a kubeconfig. @throws KubeconfigError */
export function kubeconfigTransport(text: string, o: ConnectOptions): Transport {
  return contextTransport(parseKubeconfig(text, o), o);
}

/** Makes a transport from a kubeconfig file; files and exec plugins that it names are used. @throws KubeconfigError */
export async function kubeconfigFileTransport(
  path: string,
  o: Partial<ConnectOptions> = {},
): Promise<Transport> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const code = (error as { code?: string }).code ?? "unknown";
    throw new KubeconfigError(`Cannot read the kubeconfig ${path}: ${code}`, { cause: error });
  }
  return kubeconfigTransport(text, { label: path, allowExec: true, allowFiles: true, baseDir: dirname(path), ...o });
}

function contextTransport(context: KubeconfigContext, o: ConnectOptions): Transport {
  const clock = o.clock ?? systemClock;
  const { tls, user } = context;
  let ca: string | undefined;
  try {
    ca = tls.ca && ("pem" in tls.ca ? tls.ca.pem : readFileSync(tls.ca.file, "utf8"));
  } catch (error) {
    const { file } = tls.ca as { file: string };
    throw new KubeconfigError(
      `Cannot use the kubeconfig in ${o.label}: its certificate-authority ${file} is unreadable`,
      {
        cause: error,
      },
    );
  }
  const { impersonate } = user;
  return httpTransport({
    ...o,
    clock,
    server: context.server,
    tls: {
      ...(ca ? { ca } : {}),
      ...(tls.insecure ? { insecure: true } : {}),
      ...(tls.serverName ? { serverName: tls.serverName } : {}),
    },
    credentials: user.exec
      ? execCredentials(user.exec, {
        server: context.server,
        ...(ca ? { "certificate-authority-data": btoa(ca) } : {}),
        ...(tls.insecure ? { "insecure-skip-tls-verify": true } : {}),
        ...(tls.serverName ? { "tls-server-name": tls.serverName } : {}),
      }, { clock, label: o.label, ...(o.runProgram ? { run: o.runProgram } : {}) })
      : staticCredentials(user, clock, o.label),
    ...(impersonate
      ? {
        headers: {
          "impersonate-user": impersonate.user,
          ...(impersonate.groups.length ? { "impersonate-group": impersonate.groups } : {}),
        },
      }
      : {}),
  });
}

/** Token and client certificate, each given or in a file that is read again. */
function staticCredentials(user: KubeconfigContext["user"], clock: Clock, label: string): CredentialSource {
  const files = new Map<string, { text: string; at: number }>();
  async function read(file: string): Promise<string> {
    const old = files.get(file);
    if (old && clock.now() - old.at < FILE_CACHE_MS) return old.text;
    try {
      const text = await readFile(file, "utf8");
      files.set(file, { text, at: clock.now() });
      return text;
    } catch (error) {
      // In the middle of a rotation the file may be away: what was read last still holds.
      if (old) return old.text;
      const code = (error as { code?: string }).code ?? "unknown";
      throw new TransportError(`Cannot read ${file} for ${label}: ${code}`);
    }
  }
  const pem = (source: PemSource) => "pem" in source ? source.pem : read(source.file);
  return {
    async get(): Promise<Credential> {
      // As client-go: of a token and a token file, the file counts.
      const token = user.tokenFile ? (await read(user.tokenFile)).trim() : user.token;
      return {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(user.cert ? { cert: await pem(user.cert) } : {}),
        ...(user.key ? { key: await pem(user.key) } : {}),
      };
    },
    invalidate() {
      for (const entry of files.values()) entry.at = -Infinity;
      return user.tokenFile !== undefined;
    },
  };
}

/** Where a pod finds its service account. */
const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Options of {@link inClusterTransport}, all for tests. */
export interface InClusterOptions {
  /** @default the process's environment */
  env?: Record<string, string | undefined>;
  /** @default /var/run/secrets/kubernetes.io/serviceaccount */
  folder?: string;
  clock?: Clock;
}

/** Makes a transport to the cluster that this process runs in. @throws KubeconfigError when it runs in none. */
export function inClusterTransport(o: InClusterOptions = {}): Transport {
  const env = o.env ?? process.env;
  const folder = o.folder ?? SERVICE_ACCOUNT;
  const host = env.KUBERNETES_SERVICE_HOST, port = env.KUBERNETES_SERVICE_PORT;
  if (!host || !port) {
    throw new KubeconfigError(
      "Cannot connect to the cluster around this process: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not " +
        "set; run in a pod, or use a kubeconfig",
    );
  }
  return contextTransport({
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    tls: { ca: { file: `${folder}/ca.crt` } },
    user: { tokenFile: `${folder}/token` },
  }, { label: "the cluster around this process", ...(o.clock ? { clock: o.clock } : {}) });
}

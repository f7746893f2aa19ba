/** Kubeconfig files. @module */
import type { KeyPair } from "../shared/server/net/mod.ts";
import { toYaml } from "../shared/yaml/mod.ts";

/** How a client shows who it is. */
export type ClientCredential = { token: string } | KeyPair;

/** What goes into a kubeconfig. */
export interface KubeconfigParts {
  /** `https://HOST:PORT` */
  server: string;
  caPem: string;
  user: string;
  credential: ClientCredential;
  /** Namespace of the context. @default "default" */
  namespace?: string;
}

/** A kubeconfig with everything inside, as YAML: no file beside it is needed. It holds a credential. */
export function kubeconfig(parts: KubeconfigParts): string {
  const { credential } = parts;
  const user = "token" in credential ? { token: credential.token } : {
    "client-certificate-data": base64(credential.certPem),
    "client-key-data": base64(credential.keyPem),
  };
  return toYaml({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{
      name: "convoy",
      cluster: { server: parts.server, "certificate-authority-data": base64(parts.caPem) },
    }],
    users: [{ name: parts.user, user }],
    contexts: [{
      name: "convoy",
      context: { cluster: "convoy", user: parts.user, namespace: parts.namespace ?? "default" },
    }],
    "current-context": "convoy",
  });
}

/** PEM is ASCII. */
function base64(pem: string): string {
  return btoa(pem);
}

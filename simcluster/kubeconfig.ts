/** Kubeconfig files of simulated clusters. @module */

/** YAML of a kubeconfig with one cluster and a token. */
export function kubeconfigOf(o: { name: string; server: string; caPem: string; token: string }): string {
  const ca = new TextEncoder().encode(o.caPem).toBase64();
  return `apiVersion: v1
kind: Config
current-context: ${o.name}
clusters:
  - name: ${o.name}
    cluster:
      server: ${o.server}
      certificate-authority-data: ${ca}
contexts:
  - name: ${o.name}
    context:
      cluster: ${o.name}
      user: ${o.name}
users:
  - name: ${o.name}
    user:
      token: ${o.token}
`;
}

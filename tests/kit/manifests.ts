/** Manifests that tests write into repositories. @module */

/** A Deployment with one container. */
export function deployment(name: string, o: { replicas?: number; image?: string; namespace?: string } = {}): string {
  const { replicas = 1, image = "img:1", namespace = "apps" } = o;
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}, namespace: ${namespace}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec: {containers: [{name: c, image: "${image}"}]}
`;
}

/** A ConfigMap. */
export function configMap(name: string, data: Record<string, string>, namespace = "apps"): string {
  return `apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}, namespace: ${namespace}}
data: ${JSON.stringify(data)}
`;
}

/** A Namespace. */
export function namespace(name = "apps"): string {
  return `apiVersion: v1
kind: Namespace
metadata: {name: ${name}}
`;
}

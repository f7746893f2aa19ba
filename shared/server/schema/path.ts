/** Field paths as kube-apiserver prints them. @module */

/** `parent.key`, or `key` at the root. */
export function child(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

/** `parent[3]`. */
export function index(path: string, i: number): string {
  return `${path}[${i}]`;
}

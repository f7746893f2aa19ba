/** What a folder holds, for `render.type: Auto`. @module */

/** By the files directly in the folder: `Chart.yaml` is Helm, a kustomization file is Kustomize. */
export function detectRenderType(paths: readonly string[], folder: string): "Helm" | "Kustomize" | "Manifests" {
  const prefix = folder.replace(/^(\.?\/)+|\/+$/g, "").replace(/^\.$/, "");
  const names = new Set(paths.map((p) => prefix ? p.startsWith(`${prefix}/`) ? p.slice(prefix.length + 1) : "" : p));
  if (names.has("Chart.yaml")) return "Helm";
  return ["kustomization.yaml", "kustomization.yml", "Kustomization"].some((n) => names.has(n))
    ? "Kustomize"
    : "Manifests";
}

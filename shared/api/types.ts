/** TypeScript types of the kinds, for the loops. @module */
import type { KubeObject } from "../kube/types.ts";
import type { ClusterSpec, ClusterStatus } from "./cluster.ts";
import type { ReleaseSpec, ReleaseStatus } from "./release.ts";
import type { HookRecord, InventoryEntry } from "./release_inventory.ts";
import type { RenderSpec } from "./render.ts";
import type { GitRepositorySpec, SourceStatus } from "./sources.ts";

/** A Release as the API server returns it. */
export interface Release extends KubeObject {
  spec: ReleaseSpec;
  status?: ReleaseStatus;
}
/** A ReleaseInventory. */
export interface ReleaseInventory extends KubeObject {
  inventory?: InventoryEntry[];
  hooks?: HookRecord[];
}
/** A Cluster. */
export interface Cluster extends KubeObject {
  spec: ClusterSpec;
  status?: ClusterStatus;
}
/** A GitRepository. */
export interface GitRepository extends KubeObject {
  spec: GitRepositorySpec;
  status?: SourceStatus;
}
/** A Render. */
export interface Render extends KubeObject {
  spec: RenderSpec;
}
/** core/v1 Secret. `data` is base64. */
export interface Secret extends KubeObject {
  type?: string;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
}

/** Duration text such as `1h30m` in ms. */
export function durationMs(text: string): number {
  const unit: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
  let total = 0;
  for (const [, n, u] of text.matchAll(/([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)/g)) total += Number(n) * unit[u!]!;
  return total;
}

/** Kind Cluster: a target. @module */
import * as z from "zod";
import { conditions, int, objectName, time, withRules } from "./building_blocks.ts";

/** `spec` of a Cluster. */
export const clusterSpec = withRules(
  z.object({
    kubeconfigSecretRef: z.object({
      name: objectName(),
      key: z.string().default("kubeconfig"),
    }).optional(),
    inCluster: z.boolean().default(false).describe("Uses the ServiceAccount that Convoy runs under."),
    qps: int(1, 10_000).default(50).describe("Requests a second to this cluster."),
    burst: int(1, 10_000).default(100),
    suspend: z.boolean().default(false).describe("Nothing is sent to this cluster."),
  }),
  {
    rule: "has(self.kubeconfigSecretRef) != (has(self.inCluster) && self.inCluster)",
    message: "set either kubeconfigSecretRef or inCluster: true",
  },
);

/** `status` of a Cluster, written by UpdateStatus of the Cluster controller. */
export const clusterStatus = z.object({
  observedGeneration: int(0).optional(),
  conditions: conditions().optional(),
  version: z.string().optional(),
  resources: int(0).optional().describe("API resources seen."),
  releases: int(0).optional().describe("Releases that name this cluster."),
  lastProbeTime: time().optional(),
});

/** `spec` as stored. */
export type ClusterSpec = z.output<typeof clusterSpec>;
/** `status`. */
export type ClusterStatus = z.output<typeof clusterStatus>;

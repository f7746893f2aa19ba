/** The core kinds that the harness itself writes. @module */
import type { KubeObject, Resource } from "../kube/types.ts";

/** core/v1 events. */
export const EVENTS: Resource = { group: "", version: "v1", plural: "events", kind: "Event", namespaced: true };

/** coordination.k8s.io/v1 leases. */
export const LEASES: Resource = {
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
  namespaced: true,
};

/** A Lease, as far as leader election needs it. Times are RFC 3339 with microseconds. */
export interface Lease extends KubeObject {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
}

/** A core/v1 Event, as far as the recorder writes it. */
export interface CoreEvent extends KubeObject {
  involvedObject: {
    apiVersion: string;
    kind: string;
    name: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
  };
  type: "Normal" | "Warning";
  reason: string;
  message: string;
  count: number;
  firstTimestamp: string;
  lastTimestamp: string;
  source: { component: string; host?: string };
  reportingComponent: string;
  reportingInstance: string;
}

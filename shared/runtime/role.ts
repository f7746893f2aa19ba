/** What every role is given, and how a role says what it is. @module */
import type { InformerFactory, KubeClient } from "../kube/contract.ts";
import type { Clock } from "./clock.ts";
import type { Logger } from "./logger.ts";
import type { Metrics } from "./metrics.ts";
import type { Targets } from "../target/contract.ts";
import type { ArtifactStore } from "../artifact/contract.ts";
import type { EventRecorder } from "../controller/contract.ts";

/** Options that reach every role; each with its default. */
export interface RoleOptions {
  /** Folder for artifacts and other files of this process. */
  dataDir: string;
  /** Resync period of informers, ms. @default 600_000 */
  resyncMs: number;
  /** Reconciles at once per loop. @default 8 */
  workers: number;
  /** Reconciles at once per target cluster. @default 2 */
  workersPerCluster: number;
  /** Identity in leader election and events, e.g. `host_pid`. */
  identity: string;
  /** Shortest time between two health writes of one Release, ms. @default 1000 */
  healthWriteMs: number;
  /** Whole period of the slow drift sweep, ms. @default 600_000 */
  driftSweepMs: number;
  /** Whether kubeconfig exec plugins may run. @default false */
  allowExecPlugins: boolean;
  /** Where other processes reach this one's `/artifacts/`, e.g. `http://10.0.0.7:9090`. @default not served */
  artifactUrl?: string;
  /** Whether a GitRepository may name a `file://` address (demo, tests). @default false */
  allowFileProtocol?: boolean;
}

/** The world as a role sees it; nothing global. */
export interface RoleContext {
  client: KubeClient;
  informers: InformerFactory;
  targets: Targets;
  artifacts: ArtifactStore;
  events: EventRecorder;
  clock: Clock;
  logger: Logger;
  metrics: Metrics;
  signal: AbortSignal;
  options: RoleOptions;
}

/** A role that a process may run. `run` resolves when `ctx.signal` is aborted and all work has ended. */
export interface Role {
  name: string;
  /** Roles of one group share one Lease when leader election is on. */
  group: "controller-manager" | "observer";
  run(ctx: RoleContext): Promise<void>;
}

/** What a simulated cluster can be told: delays, faults, rules. @module */

/** How long things take, ms. */
export interface Delays {
  /** From a change of a workload's template to ready pods. @default 1500 */
  ready: number;
  /** From the start of a Job to its end. @default 2000 */
  job: number;
  /** Until a PersistentVolumeClaim is bound. @default 300 */
  bind: number;
  /** Until a load balancer or an Ingress has an address. @default 800 */
  address: number;
  /** Instead of a Deployment's progressDeadlineSeconds; undefined = what the Deployment says. */
  progressDeadline?: number;
}

/** Delays when none are given. */
export const DEFAULT_DELAYS: Delays = { ready: 1_500, job: 2_000, bind: 300, address: 800 };

/** Workloads whose pods crash. `*` matches any text. */
export interface CrashFault {
  /** Kind of the workload, e.g. Deployment; absent = any. */
  kind?: string;
  /** Namespace; absent = any. */
  namespace?: string;
  name: string;
}

/** Requests that are refused. Absent fields match anything; `*` matches any text. */
export interface RefuseFault {
  /** Verb (get, list, watch, create, update, patch, delete) or `write` for all that change something. */
  verb?: string;
  group?: string;
  /** Plural, e.g. deployments. */
  resource?: string;
  namespace?: string;
  name?: string;
  /** @default 500 */
  code?: 403 | 422 | 429 | 500 | 503;
  message?: string;
  /** How many requests are refused before the fault is over; absent = until it is taken back. */
  times?: number;
}

/** Everything that can be wrong with a cluster at one time. */
export interface Faults {
  /** Each request waits this long first, ms. */
  slow?: number;
  /** Connections are reset, open watches too. */
  down?: boolean;
  crash?: CrashFault[];
  refuse?: RefuseFault[];
}

/** What an impersonated user may do; `*` matches any text, absent fields match anything. */
export interface ImpersonationRule {
  user: string;
  namespace?: string;
  group?: string;
  resource?: string;
  verbs?: string[];
}

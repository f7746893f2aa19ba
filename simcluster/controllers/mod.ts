/** The controllers of a simulated cluster. @module */
import type { SimController } from "./contract.ts";
import { deployments } from "./deployments.ts";
import { jobs } from "./jobs.ts";
import { apiServices, disruptionBudgets, ingresses, namespaces, serviceAccounts, services } from "./network.ts";
import { pods } from "./pods.ts";
import { daemonSets, replicaSets, replicationControllers, statefulSets } from "./sets.ts";
import { claims, storageClasses, volumes } from "./volumes.ts";

/** All of them; one for each kind. */
export const CONTROLLERS: readonly SimController[] = [
  namespaces,
  serviceAccounts,
  pods,
  services,
  ingresses,
  claims,
  volumes,
  storageClasses,
  deployments,
  statefulSets,
  daemonSets,
  replicaSets,
  replicationControllers,
  jobs,
  disruptionBudgets,
  apiServices,
];

export type { Place, SimContext, SimController, SimStore } from "./contract.ts";
export { PLACES } from "./places.ts";

/** The Cluster controller: role `cluster`. @module */
export { clusterRole } from "./controller.ts";

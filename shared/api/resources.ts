/** Where the kinds are served. @module */
import type { Resource } from "../kube/types.ts";

/** The API group. */
export const GROUP = "convoy.kumodo.io";
/** The version. */
export const VERSION = "v1alpha1";
/** `group/version`. */
export const API_VERSION = `${GROUP}/${VERSION}`;
/** Set by the API server on /sync, /pin, /mutations and /lifecycle; a change wakes the Release controller (page). */
export const SYNC_REQUESTED_AT = "convoy.kumodo.io/sync-requested-at";
/** Finalizer of Release and Cluster. */
export const FINALIZER = "convoy.kumodo.io/finalizer";

const own = (plural: string, kind: string): Resource => ({
  group: GROUP,
  version: VERSION,
  plural,
  kind,
  namespaced: true,
});
const core = (plural: string, kind: string, namespaced = true): Resource => ({
  group: "",
  version: "v1",
  plural,
  kind,
  namespaced,
});

/** releases */
export const RELEASES = own("releases", "Release");
/** releaseinventories */
export const RELEASE_INVENTORIES = own("releaseinventories", "ReleaseInventory");
/** clusters */
export const CLUSTERS = own("clusters", "Cluster");
/** gitrepositories */
export const GIT_REPOSITORIES = own("gitrepositories", "GitRepository");
/** helmregistries */
export const HELM_REGISTRIES = own("helmregistries", "HelmRegistry");
/** ociregistries */
export const OCI_REGISTRIES = own("ociregistries", "OCIRegistry");
/** renders */
export const RENDERS = own("renders", "Render");
/** core/v1 secrets */
export const SECRETS = core("secrets", "Secret");
/** core/v1 configmaps */
export const CONFIG_MAPS = core("configmaps", "ConfigMap");
/** core/v1 events */
export const EVENTS = core("events", "Event");
/** core/v1 namespaces */
export const NAMESPACES = core("namespaces", "Namespace", false);
/** coordination.k8s.io/v1 leases */
export const LEASES: Resource = {
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
  namespaced: true,
};

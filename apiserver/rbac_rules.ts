/** Who may do what on a standalone server: one table, by group. What is not here is forbidden. @module */
import { GROUP } from "../shared/api/mod.ts";

/** Verbs on resources, as in a Kubernetes ClusterRole. `"*"` matches all, with subresources. */
export interface ResourceRule {
  groups: readonly string[];
  /** `plural`, `plural/subresource` or `"*"`. */
  resources: readonly string[];
  verbs: readonly string[];
  /** Only in these namespaces. @default everywhere */
  namespaces?: readonly string[];
}

/** Verbs on paths that are no resources. A `*` at the end matches the rest. */
export interface PathRule {
  paths: readonly string[];
  verbs: readonly string[];
}

/** What a group of users may do. */
export interface Grant {
  resources: readonly ResourceRule[];
  paths: readonly PathRule[];
}

const READ = ["get", "list", "watch"];
const WRITE = ["create", "update", "patch", "delete", "deletecollection"];
const ALL = ["*"];
const core = (resources: string[], verbs: readonly string[]): ResourceRule => ({ groups: [""], resources, verbs });
const own = (resources: string[], verbs: readonly string[]): ResourceRule => ({ groups: [GROUP], resources, verbs });
const EVENTS: ResourceRule = core(["events"], ["create", "patch", "update"]);
const LEASES: ResourceRule = {
  groups: ["coordination.k8s.io"],
  resources: ["leases"],
  verbs: [...READ, "create", "update", "patch"],
};
const SOURCES = ["gitrepositories", "helmregistries", "ociregistries"];
const METRICS: PathRule = { paths: ["/metrics"], verbs: ["get"] };

/** The table. Groups of a user add up. */
export const GRANTS: Readonly<Record<string, Grant>> = {
  "system:masters": {
    resources: [{ groups: ALL, resources: ALL, verbs: ALL }],
    paths: [{ paths: ["*"], verbs: ALL }],
  },
  "system:unauthenticated": {
    resources: [],
    paths: [{ paths: ["/healthz*", "/livez*", "/readyz*", "/version"], verbs: ["get", "head"] }],
  },
  // Discovery, and questions about oneself: what kubectl needs before it can ask for anything.
  "system:authenticated": {
    resources: [
      {
        groups: ["authorization.k8s.io"],
        resources: ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
        verbs: ["create"],
      },
      { groups: ["authentication.k8s.io"], resources: ["selfsubjectreviews"], verbs: ["create"] },
    ],
    paths: [{
      paths: [
        "/healthz*",
        "/livez*",
        "/readyz*",
        "/version",
        "/version/",
        "/api",
        "/api/*",
        "/apis",
        "/apis/*",
        "/openapi/*",
      ],
      verbs: ["get", "head"],
    }],
  },
  "convoy:admin": {
    resources: [
      own(["*"], ALL),
      core(["namespaces", "secrets", "configmaps", "events"], [...READ, ...WRITE]),
      { ...LEASES, verbs: [...READ, ...WRITE] },
    ],
    paths: [METRICS],
  },
  "convoy:view": {
    resources: [own(["*"], READ), core(["namespaces", "configmaps", "events"], READ), { ...LEASES, verbs: READ }],
    paths: [METRICS],
  },
  "convoy:controller-manager": {
    resources: [
      // Finalizers are written by PUT of the whole object (page: "Writes without SSA").
      own(["releases", "clusters"], [...READ, "update"]),
      own(["releases/status"], ["get", "patch"]),
      own(["clusters/status", ...SOURCES.map((s) => `${s}/status`)], ["get", "update"]),
      own(SOURCES, READ),
      own(["releaseinventories"], [...READ, "create", "patch", "delete"]),
      // A Render of a Release that was deleted and made anew is adopted: patch of its owner.
      own(["renders"], [...READ, "create", "patch", "delete"]),
      core(["secrets", "configmaps", "namespaces"], READ),
      // The key that processes show one another to get artifacts, in a namespace that it makes when missing.
      core(["namespaces"], ["create"]),
      { ...core(["secrets"], ["create"]), namespaces: ["convoy-system"] },
      EVENTS,
      LEASES,
    ],
    paths: [],
  },
  "convoy:observer": {
    resources: [
      own(["releases", "releaseinventories", "renders", "clusters"], READ),
      own(["releases/status"], ["get", "patch"]),
      // No create: an apply after the controller deleted the inventory must not bring it back.
      own(["releaseinventories"], ["patch"]),
      // Drift mode Correct asks the Release controller for an apply; it does not apply by itself.
      own(["releases/sync"], ["create"]),
      // Kubeconfigs of the target clusters.
      core(["secrets"], READ),
      EVENTS,
      LEASES,
    ],
    paths: [],
  },
};

import assert from "node:assert/strict";
import type { RequestAttributes } from "../shared/server/contract.ts";
import { rbacAuthorizer } from "./rbac.ts";

/** `verb group/resource[/subresource] [namespace]`, the core group as `core`; or `verb /path`. */
function attributes(text: string): RequestAttributes {
  const [verb = "", what = "", namespace = ""] = text.split(" ");
  const blank = { version: "", namespace, name: "", group: "", resource: "", subresource: "", path: "" };
  if (what.startsWith("/")) return { ...blank, verb, isResourceRequest: false, path: what };
  const [group = "", resource = "", subresource = ""] = what.split("/");
  const full = { core: "", convoy: "convoy.kumodo.io", coordination: "coordination.k8s.io" }[group] ?? group;
  return { ...blank, verb, isResourceRequest: true, group: full, resource, subresource };
}

const TABLE: Record<string, { may: string[]; mayNot: string[] }> = {
  "system:masters": {
    may: ["delete core/namespaces", "impersonate core/users", "create any.group/things/sub", "get /metrics", "post /x"],
    mayNot: [],
  },
  "system:unauthenticated": {
    may: ["get /healthz", "get /readyz/storage", "get /livez", "get /version"],
    mayNot: ["get /api", "get /apis/convoy.kumodo.io", "get /metrics", "list core/events", "get convoy/releases"],
  },
  "system:authenticated": {
    may: [
      "get /api",
      "get /apis/convoy.kumodo.io/v1alpha1",
      "get /openapi/v3",
      "create authorization.k8s.io/selfsubjectaccessreviews",
    ],
    mayNot: ["get convoy/releases", "list core/secrets", "get /metrics", "create core/events", "post /api"],
  },
  "convoy:admin": {
    may: [
      "create convoy/releases",
      "create convoy/releases/sync",
      "update convoy/releases/pin",
      "delete convoy/clusters",
      "patch convoy/releases/status",
      "get core/secrets",
      "create core/namespaces",
      "deletecollection core/events",
      "update coordination/leases",
      "get /metrics",
    ],
    mayNot: ["impersonate core/users", "impersonate core/groups", "create rbac.authorization.k8s.io/roles"],
  },
  "convoy:view": {
    may: [
      "get convoy/releases",
      "list convoy/renders",
      "watch core/events",
      "list core/namespaces",
      "get core/configmaps",
    ],
    mayNot: [
      "get core/secrets",
      "list core/secrets",
      "watch core/secrets",
      "create convoy/releases/sync",
      "patch convoy/releases",
      "delete convoy/renders",
      "create core/events",
    ],
  },
  "convoy:controller-manager": {
    may: [
      "update convoy/releases",
      "patch convoy/releases/status",
      "create convoy/releaseinventories",
      "patch convoy/releaseinventories",
      "delete convoy/releaseinventories",
      "create convoy/renders",
      "delete convoy/renders",
      "patch convoy/renders",
      "create core/namespaces",
      "create core/secrets convoy-system",
      "update convoy/clusters",
      "update convoy/clusters/status",
      "update convoy/gitrepositories/status",
      "update convoy/helmregistries/status",
      "update convoy/ociregistries/status",
      "get core/secrets",
      "create core/events",
      "patch core/events",
      "create coordination/leases",
      "update coordination/leases",
    ],
    mayNot: [
      "create convoy/releases",
      "delete convoy/releases",
      "patch convoy/releases",
      "update convoy/renders",
      "create core/secrets",
      "create core/secrets default",
      "update core/secrets convoy-system",
      "delete core/secrets",
      "delete core/namespaces",
      "delete coordination/leases",
      "update convoy/gitrepositories",
    ],
  },
  "convoy:observer": {
    may: [
      "watch convoy/releases",
      "patch convoy/releases/status",
      "patch convoy/releaseinventories",
      "get convoy/renders",
      "list convoy/clusters",
      "get core/secrets",
      "create core/events",
      "update coordination/leases",
      "create convoy/releases/sync",
    ],
    mayNot: [
      "update convoy/releases",
      "patch convoy/releases",
      "update convoy/releases/status",
      "create convoy/releases",
      "delete convoy/releases",
      "update convoy/releases/pin",
      "create convoy/releases/lifecycle",
      "create convoy/releaseinventories",
      "delete convoy/releaseinventories",
      "create convoy/renders",
      "update convoy/clusters/status",
      "create core/secrets",
      "list core/configmaps",
    ],
  },
  "made:up": { may: [], mayNot: ["get convoy/releases", "get /healthz"] },
  ["__proto__"]: { may: [], mayNot: ["get convoy/releases"] },
  constructor: { may: [], mayNot: ["get convoy/releases"] },
};

for (const [group, { may, mayNot }] of Object.entries(TABLE)) {
  Deno.test(`rbacAuthorizer: group ${group}`, async () => {
    const authorizer = rbacAuthorizer();
    for (const [list, wanted] of [[may, true], [mayNot, false]] as const) {
      for (const text of list) {
        const { allowed } = await authorizer.authorize({ name: "u", groups: [group] }, attributes(text));
        assert.equal(allowed, wanted, text);
      }
    }
  });
}

Deno.test("rbacAuthorizer: groups add up, and a user's name grants nothing", async () => {
  const authorizer = rbacAuthorizer();
  const asks = (groups: string[], name = "u") =>
    authorizer.authorize({ name, groups }, attributes("get convoy/releases"));
  assert.equal((await asks(["system:authenticated", "convoy:view"])).allowed, true);
  assert.equal((await asks(["system:authenticated"], "system:masters")).allowed, false);
  assert.equal((await asks([])).allowed, false);
});

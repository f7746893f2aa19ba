/** Role `apiserver`: a standalone API server for Convoy's kinds. @module */
export { releaseActions } from "./actions/mod.ts";
export { servedKinds } from "./kinds.ts";
export { rbacAuthorizer } from "./rbac.ts";
export { type RunningApiServer, startApiServer, type StartApiServerOptions } from "./start.ts";

/** The roles that run as loops against an API server, by name. @module */
import { clusterRole } from "./controllers/cluster/mod.ts";
import { releaseRole } from "./controllers/release/mod.ts";
import { gitRepositoryRole } from "./controllers/sources/gitrepository/mod.ts";
import { helmRegistryRole } from "./controllers/sources/helmregistry/mod.ts";
import { ociRegistryRole } from "./controllers/sources/ociregistry/mod.ts";
import { driftRole } from "./observer/drift/mod.ts";
import { healthRole } from "./observer/health/mod.ts";
import type { Role } from "./shared/runtime/role.ts";

/** All loop roles. */
export const LOOP_ROLES: readonly Role[] = [
  clusterRole,
  gitRepositoryRole,
  helmRegistryRole,
  ociRegistryRole,
  releaseRole,
  driftRole,
  healthRole,
];

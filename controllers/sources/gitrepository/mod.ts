/** The source controller of Git repositories: role `gitrepository`. @module */
export { gitRepositoryRole } from "./role.ts";

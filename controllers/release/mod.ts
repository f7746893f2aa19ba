/** The Release controller: role `release`. @module */
export { releaseRole } from "./controller.ts";

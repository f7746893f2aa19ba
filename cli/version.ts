/** The version of this source, as in deno.json. @module */
import config from "../deno.json" with { type: "json" };

/** Semantic version. */
export const VERSION: string = config.version;

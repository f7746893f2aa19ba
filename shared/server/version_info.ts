/** The answer of `GET /version`. @module */
import type { VersionInfo } from "./contract.ts";

/**
 * kubectl compares `major.minor` with its own version, so the API level that is spoken goes there; `gitVersion` says who
 * speaks.
 */
export function versionInfo(given: Partial<VersionInfo> = {}): VersionInfo {
  return {
    major: "1",
    minor: "36",
    gitVersion: "v1.36.3+convoy",
    gitCommit: "",
    gitTreeState: "clean",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: "deno",
    compiler: "deno",
    platform: `${Deno.build.os}/${Deno.build.arch}`,
    ...given,
  };
}

/** Kinds GitRepository, HelmRegistry and OCIRegistry. @module */
import * as z from "zod";
import { atomicList, secretRef, sourceStatus, sourceTiming, withRules } from "./building_blocks.ts";

const verify = z.object({ secretRef, mode: z.string().optional() });

/** `spec` of a GitRepository. */
export const gitRepositorySpec = z.object({
  url: z.string().regex(/^(https?|ssh|file):\/\/|^[^@\s]+@[^:\s]+:/).describe(
    "https://, http:// or ssh:// address, or user@host:path.",
  ),
  ref: withRules(
    z.object({
      branch: z.string().min(1).optional(),
      tag: z.string().min(1).optional(),
      semver: z.string().min(1).optional(),
      commit: z.string().regex(/^[0-9a-f]{40}$/).optional(),
    }),
    {
      rule:
        "(has(self.branch) ? 1 : 0) + (has(self.tag) ? 1 : 0) + (has(self.semver) ? 1 : 0) + (has(self.commit) ? 1 : 0) <= 1",
      message: "at most one of branch, tag, semver and commit may be set",
    },
  ).optional().describe("What to fetch; without it the remote's HEAD."),
  secretRef: secretRef.optional(),
  include: atomicList(z.string()).optional(),
  exclude: atomicList(z.string()).optional(),
  verify: verify.optional(),
  ...sourceTiming,
});

/** `spec` of a HelmRegistry. */
export const helmRegistrySpec = z.object({
  url: z.string().regex(/^(https?|oci):\/\//),
  secretRef: secretRef.optional(),
  ...sourceTiming,
});

/** `spec` of an OCIRegistry. */
export const ociRegistrySpec = z.object({
  url: z.string().regex(/^oci:\/\//),
  secretRef: secretRef.optional(),
  verify: verify.optional(),
  ...sourceTiming,
});

/** `spec` as stored. */
export type GitRepositorySpec = z.output<typeof gitRepositorySpec>;
/** `status` of a source. */
export type SourceStatus = z.output<typeof sourceStatus>;
export { sourceStatus };

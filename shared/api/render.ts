/** Kind Render: the exact manifests of one reconcile, immutable, named by digest, in chunks. @module */
import * as z from "zod";
import { int, withRules } from "./building_blocks.ts";

/** `spec` of a Render. */
export const renderSpec = withRules(
  z.object({
    release: z.string().describe("Name of the Release."),
    revision: z.string().describe("Source revision it was rendered from."),
    digest: z.string().describe("sha256 of the canonical JSON: the name without the chunk number."),
    encoding: z.enum(["gzip+base64"]).default("gzip+base64"),
    objects: int(0),
    size: int(0).describe("Bytes before compression, all chunks."),
    chunk: int(0),
    chunks: int(1),
    data: z.string(),
  }),
  { rule: "self == oldSelf", message: "a Render never changes" },
);

/** `spec` as stored. */
export type RenderSpec = z.output<typeof renderSpec>;

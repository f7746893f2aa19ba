/** The client side of the artifact endpoint. @module */
import { unpackTarGz } from "./archive.ts";
import type { ArtifactRef } from "./contract.ts";
import { ArtifactError } from "./error.ts";
import type { ArtifactLimits } from "./limits.ts";
import type { TreeEntry } from "./tree.ts";
import type { Sink } from "./walk.ts";

/** How artifacts of other processes are got. */
export interface FetchOptions {
  /** The key of {@link ./access_key.ts}; undefined when there is none (yet). */
  accessKey?: () => Promise<string | undefined>;
  /** Longest time of one fetch, ms. @default 60_000 */
  fetchTimeoutMs?: number;
}

/**
 * Fetches an artifact from the process that has it. The digest is not checked here.
 * @throws ArtifactError (FetchFailed) naming the address and the mend
 */
export async function fetchTree(
  ref: ArtifactRef,
  limits: ArtifactLimits,
  sink: Sink,
  options: FetchOptions,
): Promise<TreeEntry[]> {
  const what = `Cannot fetch the artifact ${ref.revision}`;
  if (!ref.url) {
    throw new ArtifactError("NotFound", `${what}: it is not on this disk and its source names no address for it`);
  }
  const url = URL.parse(ref.url);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new ArtifactError("FetchFailed", `${what}: its address is not an http address`);
  }
  const place = `${url.host}`;
  const key = await options.accessKey?.();
  let response: Response;
  try {
    response = await fetch(url, {
      headers: key ? { authorization: `Bearer ${key}` } : {},
      redirect: "manual",
      signal: AbortSignal.timeout(options.fetchTimeoutMs ?? 60_000),
    });
  } catch (error) {
    const why = error instanceof DOMException ? "no answer in time" : "no connection";
    throw new ArtifactError("FetchFailed", `${what} from ${place}: ${why}; is the process of the source running?`, {
      cause: error,
    });
  }
  if (response.status !== 200 || !response.body) {
    await response.body?.cancel();
    const mend = response.status === 401
      ? "the key in Secret convoy-system/convoy-artifacts differs between the processes"
      : response.status === 404
      ? "that process does not have it (any more); the source fetches it again at its next interval"
      : "only an answer 200 is accepted";
    throw new ArtifactError("FetchFailed", `${what} from ${place}: HTTP ${response.status}; ${mend}`);
  }
  return await unpackTarGz(response.body, sink, { limits, links: "any" });
}

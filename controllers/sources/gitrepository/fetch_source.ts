/** From `spec` to an artifact: asks the remote, and fetches only when something is new. @module */
import type { GitRepositorySpec, Secret } from "../../../shared/api/mod.ts";
import { ArtifactError, type ArtifactLimits, type ArtifactStore, defaultLimits } from "../../../shared/artifact/mod.ts";
import { parseAddress } from "./address.ts";
import { GitFailure } from "./failure.ts";
import { pathFilter } from "./globs.ts";
import { FORCE_PUSHED, TAG_MOVED } from "./reasons.ts";
import { parseRevision, type Resolved, revisionOf } from "./remote_refs.ts";
import { defaultFetchLimits, type FetchLimits, RemoteRepository } from "./repository.ts";
import { readTree } from "./tree_reader.ts";

/** What fetching needs. */
export interface FetchContext {
  artifacts: ArtifactStore;
  /** Folder for throw-away repositories. */
  workDir: string;
  allowFile: boolean;
  limits?: Partial<FetchLimits & ArtifactLimits>;
}

/** What is known from before. */
export interface Previous {
  revision: string;
  digest: string;
  /** Whether the spec is still the one that it was fetched by. */
  sameSpec: boolean;
}

/** Something that the history of the remote does not do by itself. */
export interface Oddity {
  reason: typeof TAG_MOVED | typeof FORCE_PUSHED;
  message: string;
}

/** Result of a look. `digest` equals the one before when nothing is new. */
export interface Fetched {
  revision: string;
  digest: string;
  /** Full ref that the commit came from; "" for a commit. */
  ref: string;
  /** Whether anything was fetched. */
  fetched: boolean;
  oddity?: Oddity;
}

/** Looks at the remote and fetches what is new. @throws GitFailure, or the signal's reason */
export async function fetchSource(
  spec: GitRepositorySpec,
  secret: Secret | undefined,
  previous: Previous | undefined,
  ctx: FetchContext,
  signal: AbortSignal,
): Promise<Fetched> {
  if (spec.verify) {
    throw new GitFailure(
      "Unsupported",
      "Cannot verify commits: this version of Convoy has no spec.verify; take it out",
    );
  }
  const include = pathFilter(spec.include, spec.exclude);
  const limits = { ...defaultFetchLimits, ...defaultLimits, ...ctx.limits };
  const address = parseAddress(spec.url, ctx);
  const remote = await RemoteRepository.open({ workDir: ctx.workDir, address, secret, signal, limits });
  try {
    const resolved = await remote.resolve(spec.ref ?? {});
    if (previous?.sameSpec && previous.revision === revisionOf(resolved) && await ctx.artifacts.has(previous.digest)) {
      return { revision: previous.revision, digest: previous.digest, ref: resolved.ref, fetched: false };
    }
    const got = await remote.fetch(resolved);
    const digest = await store(ctx.artifacts, readTree(got.commit, include, limits, remote.git));
    const oddity = previous && await findOddity(remote, got, parseRevision(previous.revision), spec);
    return { revision: revisionOf(got), digest, ref: got.ref, fetched: true, ...(oddity ? { oddity } : {}) };
  } finally {
    await remote.close();
  }
}

async function store(artifacts: ArtifactStore, entries: Parameters<ArtifactStore["putEntries"]>[0]): Promise<string> {
  try {
    return await artifacts.putEntries(entries);
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    throw new GitFailure(error.problem === "TooLarge" ? "TooLarge" : "FetchFailed", error.message, { cause: error });
  }
}

/** A failure of the disk as a failure of the fetch; other errors come back as they are. */
export function diskFailure(error: unknown): unknown {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  if (typeof code !== "string" || !/^E[A-Z]+$/.test(code)) return error;
  const message = `Cannot fetch: the data folder of Convoy cannot be used (${code}); check its space and permissions`;
  return new GitFailure("FetchFailed", message, { cause: error });
}

async function findOddity(
  remote: RemoteRepository,
  got: Resolved,
  old: { name: string; commit: string },
  spec: GitRepositorySpec,
): Promise<Oddity | undefined> {
  if (old.name !== got.name || old.commit === got.commit || got.ref === "") return undefined;
  const from = old.commit.slice(0, 12), to = got.commit.slice(0, 12);
  if (spec.ref?.tag !== undefined || spec.ref?.semver !== undefined) {
    const message = `The tag ${got.name} was moved by force from ${from} to ${to}: a new revision`;
    return { reason: TAG_MOVED, message };
  }
  if (await remote.hasInHistory(got, old.commit) !== false) return undefined;
  const message =
    `The branch ${got.name} was force-pushed: ${from} is not in its history any more; ${to} is a new revision`;
  return { reason: FORCE_PUSHED, message };
}

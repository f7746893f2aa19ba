/** One look at a remote: a throw-away bare repository, its configuration and what is asked of it. @module */
import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Secret } from "../../../shared/api/mod.ts";
import type { Address } from "./address.ts";
import { writeConfig } from "./credentials.ts";
import { classify, GitFailure } from "./failure.ts";
import { type GitOptions, type GitResult, runGit } from "./process.ts";
import { pickRef, refPatterns, type RefSpec, type Resolved } from "./remote_refs.ts";

/** Limits of one fetch. */
export interface FetchLimits {
  /** Bytes of the list of refs. @default 32 MiB */
  refBytes: number;
  /** Bytes on disk while fetching. @default 2 GiB */
  packBytes: number;
  /** Time between two looks at the size, ms. @default 250 */
  watchMs: number;
}

/** The defaults of {@link FetchLimits}. */
export const defaultFetchLimits: FetchLimits = { refBytes: 32 * 2 ** 20, packBytes: 2 * 2 ** 30, watchMs: 250 };

/** What a {@link RemoteRepository} is made from. */
export interface RemoteOptions {
  /** Folder for throw-away folders. */
  workDir: string;
  address: Address;
  secret: Secret | undefined;
  signal: AbortSignal;
  limits: FetchLimits;
}

/** Where fetched commits are put. */
const TARGET = "refs/convoy/target";

/** A remote with its credentials, for as long as {@link close} is not called. */
export class RemoteRepository {
  readonly #git: GitOptions;
  readonly #made = new Set<string>();

  private constructor(private readonly folder: string, private readonly o: RemoteOptions, config: string) {
    const protocols = o.address.protocol === "file" ? "file" : "https:http:ssh";
    this.#git = { cwd: folder, config, protocols, signal: o.signal };
  }

  /** Makes the folder and git's configuration. @throws GitFailure for a Secret that will not do */
  static async open(o: RemoteOptions): Promise<RemoteRepository> {
    await mkdir(o.workDir, { recursive: true, mode: 0o700 });
    const folder = await mkdtemp(join(o.workDir, `${Deno.pid}-`));
    try {
      return new RemoteRepository(folder, o, await writeConfig(folder, o.address, o.secret));
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Takes everything away, credentials first of all. */
  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  /** Options for other git runs in the repository that {@link fetch} fills. */
  get git(): GitOptions {
    return this.#in("repo");
  }

  #in(name: string): GitOptions {
    return { ...this.#git, cwd: join(this.folder, name) };
  }

  /** What the ref means now. A commit means itself. @throws GitFailure */
  async resolve(ref: RefSpec): Promise<Resolved> {
    const patterns = refPatterns(ref);
    if (!patterns) return { name: "", ref: "", commit: ref.commit! };
    const args = ["ls-remote", "--symref", "--", this.o.address.url, ...patterns];
    const result = await runGit(args, this.#git, this.o.limits.refBytes);
    this.#check(result);
    const candidates = pickRef(ref, result.stdout.toString("utf8"));
    const commits = new Set(candidates.map((c) => c.commit));
    if (commits.size === 1) return candidates[0]!;
    return await this.#newest(candidates);
  }

  /** Of tags that differ in build data only, the one with the newest commit; of equal times, the last name. */
  async #newest(candidates: Resolved[]): Promise<Resolved> {
    // In a repository of its own: one that has commits without their files would not fetch them again.
    const git = await this.#init("candidates", candidates[0]!.commit);
    const specs = candidates.map((c, i) => `${c.ref}:refs/convoy/candidate${i}`);
    this.#check(await this.#fetch(git, ["--depth=1", "--filter=tree:0"], specs));
    const times = await Promise.all(candidates.map(async (_, i) => {
      const args = ["log", "-1", "--format=%ct", `refs/convoy/candidate${i}`, "--"];
      return Number((await runGit(args, git)).stdout.toString("utf8"));
    }));
    let best = 0;
    times.forEach((time, i) => {
      if (time >= times[best]!) best = i;
    });
    return candidates[best]!;
  }

  /** Fetches one commit without its history; resolves to what came (a ref may have moved meanwhile). @throws GitFailure */
  async fetch(resolved: Resolved): Promise<Resolved> {
    await this.#init("repo", resolved.commit);
    let result = await this.#fetch(this.git, ["--depth=1"], [`${resolved.ref || resolved.commit}:${TARGET}`]);
    if (result.code !== 0 && resolved.ref === "" && /unadvertised|not our ref|not allow/.test(result.stderr)) {
      // The server gives no commits by name: look for it in all that its branches and tags lead to.
      result = await this.#fetch(this.git, [], ["refs/heads/*:refs/convoy/heads/*", "refs/tags/*:refs/convoy/tags/*"]);
      if (result.code === 0) await runGit(["update-ref", TARGET, resolved.commit], this.git);
    }
    this.#check(result);
    const parsed = await runGit(
      ["rev-parse", "--verify", "--quiet", "--end-of-options", `${TARGET}^{commit}`],
      this.git,
    );
    const commit = parsed.stdout.toString("utf8").trim();
    if (parsed.code !== 0 || (resolved.ref === "" && commit !== resolved.commit)) {
      const what = resolved.ref
        ? `"${resolved.name}" leads to no commit`
        : `the commit ${resolved.commit} is not there`;
      throw new GitFailure("RefNotFound", `Cannot fetch: ${what}; mend spec.ref`);
    }
    return { ...resolved, commit };
  }

  /**
   * Whether `old` is in the history of the fetched commit; undefined when that cannot be told with little work (history
   * too long, or the server does not help). Costs a fetch of commits without their files.
   */
  async hasInHistory(resolved: Resolved, old: string): Promise<boolean | undefined> {
    for (const depth of ["--deepen=200", "--deepen=5000"]) {
      const result = await this.#fetch(this.git, [depth, "--filter=tree:0"], [`${resolved.ref}:refs/convoy/history`]);
      if (result.code !== 0) return undefined;
      const found = await runGit(["merge-base", "--is-ancestor", old, resolved.commit], this.git);
      if (found.code === 0) return true;
      const shallow = await runGit(["rev-parse", "--is-shallow-repository"], this.git);
      if (shallow.stdout.toString("utf8").trim() === "false") return false;
    }
    return undefined;
  }

  async #init(name: string, commit: string): Promise<GitOptions> {
    if (this.#made.has(name)) return this.#in(name);
    const format = commit.length === 64 ? "sha256" : "sha1";
    const made = await runGit(
      ["init", "--quiet", "--bare", "--template=", `--object-format=${format}`, name],
      this.#git,
    );
    if (made.code !== 0) {
      throw new GitFailure("FetchFailed", "Cannot fetch: git cannot make a repository in the data folder");
    }
    // A named remote, because only those can be fetched from in part.
    await runGit(["config", "remote.origin.url", this.o.address.url], this.#in(name));
    this.#made.add(name);
    return this.#in(name);
  }

  /** Fetches under the limit of bytes on disk, looked at while git runs. */
  async #fetch(where: GitOptions, options: string[], specs: string[]): Promise<GitResult> {
    const tooLarge = new AbortController();
    const git = { ...where, signal: AbortSignal.any([this.o.signal, tooLarge.signal]) };
    const watch = setInterval(() => {
      sizeOf(join(git.cwd, "objects", "pack")).then((bytes) => {
        if (bytes > this.o.limits.packBytes) tooLarge.abort();
      });
    }, this.o.limits.watchMs);
    try {
      const fixed = [
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        "--no-auto-maintenance",
        "--no-recurse-submodules",
        "--force",
      ];
      const result = await runGit(["fetch", ...fixed, ...options, "--", "origin", ...specs], git);
      if (await sizeOf(join(git.cwd, "objects", "pack")) > this.o.limits.packBytes) throw this.#tooLarge();
      return result;
    } catch (error) {
      if (tooLarge.signal.aborted && !this.o.signal.aborted) throw this.#tooLarge();
      throw error;
    } finally {
      clearInterval(watch);
    }
  }

  #tooLarge(): GitFailure {
    const most = Math.round(this.o.limits.packBytes / 2 ** 20);
    const mend = "use a repository that has less beside the manifests";
    return new GitFailure("TooLarge", `Cannot fetch: the repository has more than ${most} MiB; ${mend}`);
  }

  #check(result: GitResult): void {
    if (result.code !== 0) throw classify(result.stderr, this.o.address.host);
  }
}

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(folder).catch(() => [])) {
    bytes += (await stat(join(folder, name)).catch(() => undefined))?.size ?? 0;
  }
  return bytes;
}

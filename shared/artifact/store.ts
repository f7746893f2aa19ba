/** The artifact store of one process, on disk. @module */
import { Buffer } from "node:buffer";
import { mkdir, readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { LRUCache } from "lru-cache";
import { type Clock, systemClock } from "../runtime/clock.ts";
import { packTarGz } from "./archive.ts";
import { Blobs, isMissing, writeAtomically } from "./blobs.ts";
import type { ArtifactFile, ArtifactRef, ArtifactStore, NewEntry } from "./contract.ts";
import { ArtifactError } from "./error.ts";
import { type ArtifactLimits, defaultLimits } from "./limits.ts";
import { type FetchOptions, fetchTree } from "./remote.ts";
import { checkPath, normalise, sha256, sortTree, Tree, treeDigest, type TreeEntry } from "./tree.ts";
import { Budget, walkFolder } from "./walk.ts";

/** Options of {@link DiskArtifactStore}. */
export interface DiskArtifactStoreOptions extends FetchOptions {
  /** @default {@link defaultLimits} */
  limits?: Partial<ArtifactLimits>;
  clock?: Clock;
  /** Age that files without an owner reach before {@link DiskArtifactStore.prune} takes them, ms. @default 600_000 */
  graceMs?: number;
}

const DIGEST = /^sha256:([0-9a-f]{64})$/;

/**
 * Keeps trees as lists of entries (`trees/HEX`) over content-addressed files (`blobs/`): a new revision costs only the
 * files that changed, and what a crash leaves is either whole or unseen. Every read is checked against its digest.
 */
export class DiskArtifactStore implements ArtifactStore {
  readonly #root: string;
  readonly #aside: string;
  readonly #blobs: Blobs;
  readonly #limits: ArtifactLimits;
  readonly #clock: Clock;
  readonly #options: DiskArtifactStoreOptions;
  readonly #trees = new LRUCache<string, Tree>({ max: 64 });
  readonly #fetching = new Map<string, Promise<Tree>>();
  #ready: Promise<void> | undefined;

  constructor(dataDir: string, options: DiskArtifactStoreOptions = {}) {
    this.#root = join(dataDir, "artifacts");
    this.#aside = join(this.#root, "tmp");
    this.#blobs = new Blobs(join(this.#root, "blobs"), this.#aside);
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#clock = options.clock ?? systemClock;
    this.#options = options;
  }

  /** Makes the folders and takes away what a killed process left half written; done at first use, once. */
  start(): Promise<void> {
    return this.#ready ??= this.#prepare().catch((error) => {
      this.#ready = undefined;
      throw error;
    });
  }

  async #prepare(): Promise<void> {
    for (const folder of ["trees", "blobs", "tmp"]) await mkdir(join(this.#root, folder), { recursive: true });
    for (const name of await readdir(this.#aside)) {
      const pid = Number(name.split("-")[0]);
      if (pid === Deno.pid || !isAlive(pid)) await rm(join(this.#aside, name), { force: true });
    }
  }

  async has(digest: string): Promise<boolean> {
    await this.start();
    return await this.#local(digest) !== undefined;
  }

  async put(folder: string, include: (path: string) => boolean = () => true): Promise<string> {
    await this.start();
    const entries = await walkFolder(folder, include, this.#limits, (hash, data) => this.#putBlob(hash, data));
    return await this.#putTree(entries);
  }

  async putEntries(entries: AsyncIterable<NewEntry>): Promise<string> {
    await this.start();
    const budget = new Budget(this.#limits);
    const tree: TreeEntry[] = [];
    for await (const entry of entries) {
      checkPath(entry.path);
      if ("link" in entry) {
        const size = Buffer.byteLength(entry.link);
        budget.add(entry.path, size);
        tree.push({ path: entry.path, mode: "120000", sha256: sha256(entry.link), size, link: entry.link });
        continue;
      }
      budget.add(entry.path, entry.data.length);
      const hash = sha256(entry.data);
      await this.#putBlob(hash, entry.data);
      const mode = entry.executable ? "100755" : "100644";
      tree.push({ path: entry.path, mode, sha256: hash, size: entry.data.length });
    }
    return await this.#putTree(tree);
  }

  async files(ref: ArtifactRef, path: string): Promise<ArtifactFile[]> {
    await this.start();
    const wanted = normalise(path);
    const tree = await this.#local(ref.digest) ?? await this.#remote(ref);
    const found = tree.resolve(wanted);
    if (!found) {
      const at = tree.foldersIn("").slice(0, 10).map((f) => `"${f}"`).join(", ");
      throw new ArtifactError(
        "NotFound",
        `Cannot read "${path}" of ${ref.revision}: there is no such folder; at the top are ${at || "only files"}`,
      );
    }
    const entries = "file" in found ? [{ ...found.file, path: wanted }] : tree.below(found.folder);
    return entries.filter((e) => !linksToFolder(tree, e)).map((e) => this.#file(tree, e));
  }

  #file(tree: Tree, entry: TreeEntry): ArtifactFile {
    return {
      path: entry.path,
      read: async () => {
        const target = entry.link === undefined ? { file: entry } : tree.resolve(entry.path);
        if (!target || !("file" in target)) {
          throw new ArtifactError("NotFound", `Cannot read "${entry.path}": the link leads to nothing`);
        }
        return await this.#blobs.get(target.file.sha256);
      },
    };
  }

  async prune(keep: ReadonlySet<string>): Promise<void> {
    await this.start();
    const before = new Date(this.#clock.now() - (this.#options.graceMs ?? 600_000));
    const blobs = new Set<string>();
    for (const hex of await readdir(join(this.#root, "trees"))) {
      const digest = `sha256:${hex}`;
      const path = join(this.#root, "trees", hex);
      const info = await stat(path).catch(() => undefined);
      // One that was stored a moment ago may not be in any status yet.
      const tree = keep.has(digest) || info && info.mtime >= before ? await this.#local(digest) : undefined;
      if (tree) { for (const entry of tree.entries) blobs.add(entry.sha256); }
      else {
        this.#trees.delete(digest);
        await rm(path, { force: true });
      }
    }
    await this.#blobs.sweep(blobs, before);
  }

  /** The artifact as tar.gz, or undefined when it is not on this disk. */
  async archive(digest: string): Promise<ReadableStream<Uint8Array> | undefined> {
    await this.start();
    const tree = await this.#local(digest);
    return tree && packTarGz(tree.entries, (entry) => this.#blobs.get(entry.sha256));
  }

  #putBlob(hash: string, data: Uint8Array): Promise<void> {
    return this.#blobs.put(hash, data, new Date(this.#clock.now()));
  }

  async #putTree(entries: TreeEntry[], expected?: string): Promise<string> {
    const sorted = sortTree(entries);
    const digest = treeDigest(sorted);
    if (expected !== undefined && digest !== expected) {
      throw new ArtifactError("Corrupt", `Cannot fetch the artifact: what came is ${digest}, wanted is ${expected}`);
    }
    const path = this.#treePath(digest);
    const now = new Date(this.#clock.now());
    await writeAtomically(path, JSON.stringify(sorted), this.#aside);
    await utimes(path, now, now);
    this.#trees.set(digest, new Tree(sorted));
    return digest;
  }

  #treePath(digest: string): string {
    const hex = DIGEST.exec(digest)?.[1];
    if (!hex) throw new ArtifactError("NotFound", `Cannot find the artifact: "${digest.slice(0, 80)}" is no digest`);
    return join(this.#root, "trees", hex);
  }

  async #local(digest: string): Promise<Tree | undefined> {
    const cached = this.#trees.get(digest);
    if (cached) return cached;
    const path = this.#treePath(digest);
    let entries: TreeEntry[];
    try {
      entries = JSON.parse(await readFile(path, "utf8"));
      if (treeDigest(entries) !== digest) throw new SyntaxError("digest");
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof TypeError) await rm(path, { force: true });
      else if (!isMissing(error)) throw error;
      return undefined;
    }
    const tree = new Tree(entries);
    this.#trees.set(digest, tree);
    return tree;
  }

  /** Gets it from the process that has it; several askers share one fetch. */
  #remote(ref: ArtifactRef): Promise<Tree> {
    let fetching = this.#fetching.get(ref.digest);
    if (!fetching) {
      fetching = this.#fetch(ref).finally(() => this.#fetching.delete(ref.digest));
      this.#fetching.set(ref.digest, fetching);
    }
    return fetching;
  }

  async #fetch(ref: ArtifactRef): Promise<Tree> {
    const entries = await fetchTree(ref, this.#limits, (hash, data) => this.#putBlob(hash, data), this.#options);
    await this.#putTree(entries, ref.digest);
    return this.#trees.get(ref.digest)!;
  }
}

/** A link to a folder is no file; a link that leaves the root stays in the list, and reading it tells. */
function linksToFolder(tree: Tree, entry: TreeEntry): boolean {
  if (entry.link === undefined) return false;
  try {
    const target = tree.resolve(entry.path);
    return target !== undefined && "folder" in target;
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    // Signal 0 only asks.
    return process.kill(pid, 0);
  } catch (error) {
    return (error as { code?: string }).code === "EPERM";
  }
}

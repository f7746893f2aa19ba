/** Reads a folder into a tree. @module */
import { constants } from "node:fs";
import { Buffer } from "node:buffer";
import { lstat, open, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { ArtifactError } from "./error.ts";
import type { ArtifactLimits } from "./limits.ts";
import { checkPath, sha256, type TreeEntry } from "./tree.ts";

/** Told of each file's content; resolves when it is stored. */
export type Sink = (hash: string, data: Uint8Array) => Promise<void>;

/**
 * Lists a folder without following any link; `.git` is left out. Files are handed to `sink` one at a time.
 * @throws ArtifactError for a device, pipe or socket, and when a limit is passed
 */
export async function walkFolder(
  root: string,
  include: (path: string) => boolean,
  limits: ArtifactLimits,
  sink: Sink,
): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = [];
  const budget = new Budget(limits);
  const queue = [""];
  for (let folder = queue.pop(); folder !== undefined; folder = queue.pop()) {
    for (const dirent of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = folder ? `${folder}/${dirent.name}` : dirent.name;
      if (dirent.name === ".git") continue;
      if (dirent.isDirectory()) queue.push(path);
      else if (include(path)) entries.push(await readEntry(root, path, budget, sink));
    }
  }
  return entries;
}

async function readEntry(root: string, path: string, budget: Budget, sink: Sink): Promise<TreeEntry> {
  checkPath(path);
  const file = join(root, path);
  const info = await lstat(file);
  if (info.isSymbolicLink()) {
    const link = await readlink(file);
    budget.add(path, link.length);
    return { path, mode: "120000", sha256: sha256(link), size: Buffer.byteLength(link), link };
  }
  if (!info.isFile()) {
    throw new ArtifactError("Unsafe", `Cannot store the artifact: the entry "${path}" is no file, folder or link`);
  }
  budget.add(path, info.size);
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const data = await handle.readFile();
    if (data.length > info.size) budget.add(path, data.length - info.size, 0);
    const hash = sha256(data);
    await sink(hash, data);
    return { path, mode: info.mode & 0o100 ? "100755" : "100644", sha256: hash, size: data.length };
  } finally {
    await handle.close();
  }
}

/** Counts against the limits. */
export class Budget {
  #bytes = 0;
  #entries = 0;
  constructor(private readonly limits: ArtifactLimits) {}

  /** @throws ArtifactError naming the entry that is too much */
  add(path: string, bytes: number, entries = 1): void {
    this.#bytes += bytes;
    this.#entries += entries;
    const { fileBytes, totalBytes, entries: most } = this.limits;
    if (bytes > fileBytes) throw tooLarge(`the file "${path}" has ${bytes} bytes, at most ${fileBytes} are allowed`);
    if (this.#bytes > totalBytes) {
      throw tooLarge(`its files have more than ${totalBytes} bytes; use include or exclude`);
    }
    if (this.#entries > most) throw tooLarge(`it has more than ${most} files; use include or exclude`);
  }
}

function tooLarge(what: string): ArtifactError {
  return new ArtifactError("TooLarge", `Cannot store the artifact: ${what}`);
}

/** Content-addressed files on disk: written aside, synced, renamed. @module */
import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ArtifactError } from "./error.ts";
import { sha256 } from "./tree.ts";

/** A folder of blobs named by the SHA-256 of their content. */
export class Blobs {
  constructor(private readonly root: string, private readonly aside: string) {}

  #path(hash: string): string {
    return join(this.root, hash.slice(0, 2), hash.slice(2));
  }

  /** Stores content; what is there already is only marked as new, so that {@link sweep} leaves it. */
  async put(hash: string, data: Uint8Array, now: Date): Promise<void> {
    const path = this.#path(hash);
    try {
      if ((await stat(path)).size === data.length) return await utimes(path, now, now);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    await writeAtomically(path, data, this.aside);
    await utimes(path, now, now);
  }

  /** Content, checked against its name. @throws ArtifactError (Corrupt) when it is missing or differs */
  async get(hash: string): Promise<Uint8Array> {
    let data: Uint8Array;
    try {
      data = await readFile(this.#path(hash));
    } catch (error) {
      if (isMissing(error)) throw corrupt("a file of it is missing");
      throw error;
    }
    if (sha256(data) === hash) return data;
    await rm(this.#path(hash), { force: true });
    throw corrupt("a file of it differs from its digest");
  }

  /** Removes blobs that are not in `keep` and were not put since `before`. */
  async sweep(keep: ReadonlySet<string>, before: Date): Promise<void> {
    for (const folder of await readdir(this.root).catch(() => [])) {
      for (const name of await readdir(join(this.root, folder)).catch(() => [])) {
        if (keep.has(folder + name)) continue;
        const path = join(this.root, folder, name);
        const info = await stat(path).catch(() => undefined);
        if (info && info.mtime < before) await rm(path, { force: true });
      }
    }
  }
}

function corrupt(what: string): ArtifactError {
  return new ArtifactError("Corrupt", `Cannot read the artifact: ${what} on this disk; it is fetched again`);
}

/** Writes a file so that it is there wholly or not at all, also after a power cut. */
export async function writeAtomically(path: string, data: Uint8Array | string, aside: string): Promise<void> {
  const temporary = join(aside, `${Deno.pid}-${randomUUID()}`);
  const handle = await open(temporary, "wx", 0o600);
  try {
    await handle.writeFile(data);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await mkdir(dirname(path), { recursive: true });
  await rename(temporary, path);
}

/** ENOENT. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && (error as { code?: string }).code === "ENOENT";
}

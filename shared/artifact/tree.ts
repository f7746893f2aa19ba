/**
 * A file tree as a list of entries: the form in which artifacts are kept. Links are text in the list and never exist on
 * disk, so nothing can be read or written through one; they are followed by {@link resolve} alone.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { ArtifactError } from "./error.ts";

/** A file or link. `sha256` is of the content; of a link, of its target's text. */
export interface TreeEntry {
  path: string;
  mode: "100644" | "100755" | "120000";
  sha256: string;
  size: number;
  /** Target of a link, as written. */
  link?: string;
}

/** Hex SHA-256. */
export function sha256(data: Uint8Array | string): string {
  return createHash("sha256").update(data).digest("hex");
}

/** Compares by UTF-8 bytes. */
export function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Sorts entries by path and refuses one path twice, and a path below a file or link. @throws ArtifactError */
export function sortTree(entries: TreeEntry[]): TreeEntry[] {
  const keyed = entries.map((entry) => ({ entry, key: Buffer.from(entry.path) }));
  keyed.sort((a, b) => Buffer.compare(a.key, b.key));
  const paths = new Set(entries.map((e) => e.path));
  if (paths.size !== entries.length) {
    const twice = keyed.find(({ entry }, i) => entry.path === keyed[i - 1]?.entry.path)!;
    throw new ArtifactError("Unsafe", `Cannot store the artifact: the entry "${twice.entry.path}" occurs twice`);
  }
  for (const path of paths) {
    for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) {
      if (paths.has(path.slice(0, at))) {
        throw new ArtifactError("Unsafe", `Cannot store the artifact: the entry "${path}" goes through a file or link`);
      }
    }
  }
  return keyed.map(({ entry }) => entry);
}

/** `sha256:HEX` over the sorted list of mode, content digest and path. */
export function treeDigest(sorted: readonly TreeEntry[]): string {
  const hash = createHash("sha256");
  for (const e of sorted) hash.update(`${e.mode} ${e.sha256} ${e.path}\0`);
  return `sha256:${hash.digest("hex")}`;
}

/** Refuses a path of an entry that is absolute, has `..`, or is no path. @throws ArtifactError */
export function checkPath(path: string): void {
  const bad = path === "" || path.length > 4096 || path.includes("\0") ||
    path.split("/").some((part) => part === "" || part === "." || part === "..");
  if (bad) {
    throw new ArtifactError("Unsafe", `Cannot store the artifact: the entry "${path.slice(0, 200)}" leaves the root`);
  }
}

/** A path as users write it (`./apps/`, `apps//web`, ``) as an entry path; "" is the root. @throws ArtifactError */
export function normalise(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") throw new ArtifactError("Unsafe", `Cannot read "${path}": a path must not have ".."`);
    parts.push(part);
  }
  return parts.join("/");
}

/** Entries by path, and the folders above them. */
export class Tree {
  readonly #byPath = new Map<string, TreeEntry>();
  readonly #folders = new Set<string>([""]);
  constructor(readonly entries: readonly TreeEntry[]) {
    for (const entry of entries) {
      this.#byPath.set(entry.path, entry);
      for (let at = entry.path.lastIndexOf("/"); at > 0; at = entry.path.lastIndexOf("/", at - 1)) {
        const folder = entry.path.slice(0, at);
        if (this.#folders.has(folder)) break;
        this.#folders.add(folder);
      }
    }
  }

  /** The entry at exactly this path. */
  at(path: string): TreeEntry | undefined {
    return this.#byPath.get(path);
  }

  /**
   * Follows the links on a path: resolves to a file, a folder's path, or undefined when there is nothing.
   * @throws ArtifactError when a link leaves the root or goes in a circle
   */
  resolve(path: string): { file: TreeEntry } | { folder: string } | undefined {
    let rest = path.split("/").filter((p) => p !== "");
    let done: string[] = [];
    for (let hops = 0; rest.length > 0;) {
      const part = rest[0]!;
      rest = rest.slice(1);
      if (part === ".") continue;
      if (part === "..") {
        if (done.length === 0) throw leaves(path);
        done = done.slice(0, -1);
        continue;
      }
      const entry = this.#byPath.get([...done, part].join("/"));
      if (entry?.link === undefined) {
        done = [...done, part];
        continue;
      }
      if (++hops > 40) throw new ArtifactError("Unsafe", `Cannot read "${path}": its links go in a circle`);
      if (entry.link.startsWith("/")) throw leaves(path);
      rest = [...entry.link.split("/").filter((p) => p !== ""), ...rest];
    }
    const end = done.join("/");
    const file = this.#byPath.get(end);
    return file ? { file } : this.#folders.has(end) ? { folder: end } : undefined;
  }

  /** Files and links below a folder, in byte order of their paths. */
  below(folder: string): TreeEntry[] {
    if (folder === "") return [...this.entries];
    return this.entries.filter((e) => e.path.startsWith(`${folder}/`));
  }

  /** Names of the folders directly below one, for messages. */
  foldersIn(folder: string): string[] {
    const prefix = folder === "" ? "" : `${folder}/`;
    return [...this.#folders].filter((f) => f !== "" && f.startsWith(prefix) && !f.slice(prefix.length).includes("/"))
      .sort();
  }
}

function leaves(path: string): ArtifactError {
  return new ArtifactError("Unsafe", `Cannot read "${path}": the link leaves the root of the artifact; take it out`);
}

/** Artifacts as tar.gz, between processes. Archives from elsewhere are untrusted. @module */
import { createTarDecoder, createTarPacker, type TarHeader } from "modern-tar";
import { Buffer } from "node:buffer";
import { posix } from "node:path";
import { ArtifactError } from "./error.ts";
import type { ArtifactLimits } from "./limits.ts";
import { checkPath, sha256, type TreeEntry } from "./tree.ts";
import { Budget, type Sink } from "./walk.ts";

/** How links in an archive are treated. */
export interface UnpackOptions {
  limits: ArtifactLimits;
  /**
   * `inside`: a link that leaves the root makes the whole archive refused. `any`: it is kept and refused when it is read
   * (between Convoy's own processes, where the digest is checked). @default "inside"
   */
  links?: "inside" | "any";
}

/**
 * Unpacks a tar.gz into entries; contents go to `sink`. A link is kept as a link; nothing is ever written through one.
 * @throws ArtifactError naming the entry that leaves the root, repeats, goes through a link or is too large
 */
export async function unpackTarGz(
  archive: ReadableStream<Uint8Array>,
  sink: Sink,
  options: UnpackOptions,
): Promise<TreeEntry[]> {
  const entries = new Map<string, TreeEntry>();
  const budget = new Budget(options.limits);
  const unzip = new DecompressionStream("gzip") as unknown as ReadableWritablePair<Uint8Array, Uint8Array>;
  try {
    for await (const { header, body } of archive.pipeThrough(unzip).pipeThrough(createTarDecoder({ strict: true }))) {
      const path = header.name.replace(/^(?:\.\/)+/, "").replace(/\/+$/, "");
      if (header.type === "directory" && (path === "" || path === ".")) continue;
      checkPath(path);
      throughNothing(path, entries);
      if (header.type === "directory") await body.cancel();
      else entries.set(path, await unpackEntry(path, header, body, entries, budget, sink, options));
    }
  } catch (error) {
    if (error instanceof ArtifactError) throw error;
    throw new ArtifactError("Corrupt", "Cannot unpack the archive: it is not a whole tar.gz", { cause: error });
  }
  return [...entries.values()];
}

async function unpackEntry(
  path: string,
  header: TarHeader,
  body: ReadableStream<Uint8Array>,
  entries: Map<string, TreeEntry>,
  budget: Budget,
  sink: Sink,
  options: UnpackOptions,
): Promise<TreeEntry> {
  if (header.type === "symlink") {
    await body.cancel();
    const link = header.linkname ?? "";
    const end = posix.normalize(posix.join(posix.dirname(path), link));
    const leaves = link.startsWith("/") || end === ".." || end.startsWith("../");
    if (link === "" || leaves && options.links !== "any") throw refused(path, "is a link that leaves the root");
    budget.add(path, link.length);
    return { path, mode: "120000", sha256: sha256(link), size: Buffer.byteLength(link), link };
  }
  if (header.type === "link") {
    await body.cancel();
    const target = entries.get((header.linkname ?? "").replace(/^(?:\.\/)+/, ""));
    if (!target || target.link !== undefined) throw refused(path, "is a hard link to something outside the archive");
    budget.add(path, target.size);
    return { ...target, path };
  }
  if (header.type !== undefined && header.type !== "file") throw refused(path, "is no file, folder or link");
  budget.add(path, header.size);
  const data = await collect(body, header.size);
  const hash = sha256(data);
  await sink(hash, data);
  return { path, mode: (header.mode ?? 0) & 0o100 ? "100755" : "100644", sha256: hash, size: data.length };
}

async function collect(body: ReadableStream<Uint8Array>, size: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let total = 0;
  for await (const part of body) {
    total += part.length;
    if (total > size) throw new ArtifactError("Corrupt", "Cannot unpack the archive: an entry is longer than it says");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function throughNothing(path: string, entries: Map<string, TreeEntry>): void {
  if (entries.has(path)) throw refused(path, "occurs twice");
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) {
    if (entries.has(path.slice(0, at))) throw refused(path, "goes through a file or link");
  }
}

function refused(path: string, why: string): ArtifactError {
  return new ArtifactError("Unsafe", `Cannot unpack the archive: the entry "${path}" ${why}`);
}

/** A tree as tar.gz: the same tree gives the same bytes. */
export function packTarGz(
  entries: readonly TreeEntry[],
  read: (entry: TreeEntry) => Promise<Uint8Array>,
): ReadableStream<Uint8Array> {
  const { readable, controller } = createTarPacker();
  const write = async () => {
    for (const entry of entries) {
      const mode = entry.mode === "100755" ? 0o755 : 0o644;
      const common = { name: entry.path, mode, mtime: new Date(0), uid: 0, gid: 0 };
      if (entry.link !== undefined) {
        await controller.add({ ...common, type: "symlink", linkname: entry.link, size: 0 }).close();
        continue;
      }
      const writer = controller.add({ ...common, type: "file", size: entry.size }).getWriter();
      await writer.write(await read(entry));
      await writer.close();
    }
    controller.finalize();
  };
  write().catch((error) => controller.error(error));
  const zip = new CompressionStream("gzip") as unknown as ReadableWritablePair<Uint8Array, Uint8Array>;
  return (readable as ReadableStream<Uint8Array>).pipeThrough(zip);
}

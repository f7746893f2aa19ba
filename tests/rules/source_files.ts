/** Reads Convoy's source for tests that look at it. @module */
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const FOLDERS = ["apiserver", "cli", "controllers", "observer", "shared", "simcluster"];

/** A source file. `path` is relative to the root. */
export interface SourceFile {
  path: string;
  text: string;
}

let cached: Promise<SourceFile[]> | undefined;

/** All source files but tests, in order of path. */
export function walkSource(): Promise<SourceFile[]> {
  cached ??= readAll();
  return cached;
}

async function readAll(): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for (const folder of FOLDERS) await read(join(ROOT, folder), files);
  return files.sort((a, b) => a.path < b.path ? -1 : 1);
}

async function read(folder: string, files: SourceFile[]): Promise<void> {
  for await (const entry of Deno.readDir(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) {
      if (entry.name !== "testing" && entry.name !== "testdata") await read(path, files);
    } else if (entry.name.endsWith(".ts") && !entry.name.endsWith("_test.ts")) {
      files.push({ path: relative(ROOT, path), text: await Deno.readTextFile(path) });
    }
  }
}

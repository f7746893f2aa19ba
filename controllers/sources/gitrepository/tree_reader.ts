/** Reads the files of a commit straight from the object store: no checkout, so no filter, hook or link is in play. @module */
import { Buffer } from "node:buffer";
import type { NewEntry } from "../../../shared/artifact/contract.ts";
import { GitFailure } from "./failure.ts";
import { collectStderr, ended, type GitOptions, runGit, startGit } from "./process.ts";

/** Limits of a tree, checked before any file is read. */
export interface TreeLimits {
  /** Bytes of one file. */
  fileBytes: number;
  /** Bytes of all files taken. */
  totalBytes: number;
  /** Files and links taken. */
  entries: number;
}

interface Listed {
  mode: string;
  oid: string;
  size: number;
  path: string;
}

/** The list of a tree of a million files. */
const MAX_LIST_BYTES = 256 * 2 ** 20;

/**
 * Entries of the commit that `include` takes. Submodules are left out.
 * @throws GitFailure (TooLarge) naming the file, or what is too much
 */
export async function* readTree(
  commit: string,
  include: (path: string) => boolean,
  limits: TreeLimits,
  git: GitOptions,
): AsyncGenerator<NewEntry> {
  const list = await runGit(["ls-tree", "-r", "-z", "-l", "--full-tree", commit], git, MAX_LIST_BYTES);
  if (list.code !== 0) {
    throw new GitFailure("FetchFailed", "Cannot read the fetched commit: its list of files is damaged");
  }
  const wanted = parseList(list.stdout).filter((e) => e.mode !== "160000" && include(e.path));
  check(wanted, limits);
  if (wanted.length === 0) return;
  const left = new AbortController();
  const child = startGit(["cat-file", "--batch", "--buffer"], {
    ...git,
    signal: AbortSignal.any([git.signal, left.signal]),
  });
  collectStderr(child.stderr);
  const end = ended(child);
  end.catch(() => {});
  child.stdin.end(wanted.map((e) => `${e.oid}\n`).join(""));
  const reader = new BatchReader(child.stdout[Symbol.asyncIterator]());
  try {
    for (const entry of wanted) {
      const data = await reader.next(entry.size);
      git.signal.throwIfAborted();
      if (!data) throw damaged(entry.path);
      if (entry.mode === "120000") yield { path: entry.path, link: data.toString("utf8") };
      else yield { path: entry.path, executable: entry.mode === "100755", data };
    }
  } finally {
    // Also when the reader of this stream stops early.
    left.abort();
    await end;
  }
}

function damaged(path: string): GitFailure {
  return new GitFailure("FetchFailed", `Cannot read "${path}" of the fetched commit: the object is not there`);
}

function parseList(output: Buffer): Listed[] {
  const out: Listed[] = [];
  for (let start = 0, end = output.indexOf(0); end >= 0; start = end + 1, end = output.indexOf(0, start)) {
    const tab = output.indexOf(9, start);
    const [mode, , oid, size] = output.toString("latin1", start, tab).split(/ +/) as [string, string, string, string];
    const path = output.toString("utf8", tab + 1, end);
    if (path.includes("\ufffd")) {
      throw new GitFailure(
        "Unsupported",
        `Cannot take the file "${path.slice(0, 200)}": its name is not UTF-8; use exclude`,
      );
    }
    out.push({ mode, oid, size: Number(size) || 0, path });
  }
  return out;
}

function check(entries: readonly Listed[], limits: TreeLimits): void {
  const tooLarge = (what: string) =>
    new GitFailure("TooLarge", `Cannot take the commit: ${what}; use spec.include or spec.exclude`);
  if (entries.length > limits.entries) throw tooLarge(`it has more than ${limits.entries} files`);
  let total = 0;
  for (const { path, size } of entries) {
    if (size > limits.fileBytes) {
      throw tooLarge(`the file "${path}" has ${size} bytes, at most ${limits.fileBytes} are allowed`);
    }
    total += size;
  }
  if (total > limits.totalBytes) {
    throw tooLarge(`its files have ${total} bytes, at most ${limits.totalBytes} are allowed`);
  }
}

/** Reads `OID TYPE SIZE LF content LF` records. */
class BatchReader {
  #parts: Buffer[] = [];
  #bytes = 0;
  constructor(private readonly source: AsyncIterator<Buffer>) {}

  /** Content of the next record, or undefined when it is missing or not of that size. */
  async next(size: number): Promise<Buffer | undefined> {
    const header = await this.#line();
    if (!header || Number(header.split(" ")[2]) !== size) return undefined;
    const record = await this.#take(size + 1);
    return record?.subarray(0, size);
  }

  async #line(): Promise<string | undefined> {
    for (let seen = 0;;) {
      const joined = this.#join();
      const end = joined.indexOf(10, seen);
      if (end >= 0) return (await this.#take(end + 1))!.toString("latin1", 0, end);
      seen = joined.length;
      if (!await this.#more()) return undefined;
    }
  }

  async #take(count: number): Promise<Buffer | undefined> {
    while (this.#bytes < count) if (!await this.#more()) return undefined;
    const joined = this.#join();
    this.#parts = [joined.subarray(count)];
    this.#bytes -= count;
    return joined.subarray(0, count);
  }

  async #more(): Promise<boolean> {
    const { value, done } = await this.source.next();
    if (done) return false;
    this.#parts.push(value);
    this.#bytes += value.length;
    return true;
  }

  #join(): Buffer {
    if (this.#parts.length !== 1) this.#parts = [Buffer.concat(this.#parts)];
    return this.#parts[0]!;
  }
}

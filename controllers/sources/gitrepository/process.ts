/** Runs the `git` program: argument arrays, an environment of its own, bounded in time and output. @module */
import { Buffer } from "node:buffer";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import process from "node:process";
import type { Readable, Writable } from "node:stream";
import { GitFailure } from "./failure.ts";

/** Where and how git runs. */
export interface GitOptions {
  /** Working folder. */
  cwd: string;
  /** File with the whole configuration; nothing else is read. */
  config: string;
  /** Protocols that may be used, colon-separated. */
  protocols: string;
  /** Kills git and its helpers. */
  signal: AbortSignal;
}

/** What a run gave. `code` is null when it was killed. */
export interface GitResult {
  code: number | null;
  stdout: Buffer;
  stderr: string;
}

const MAX_STDERR = 64 * 1024;
const PROXIES = [
  "http_proxy",
  "https_proxy",
  "all_proxy",
  "no_proxy",
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "ALL_PROXY",
  "NO_PROXY",
];

/** A child in a process group of its own, so that its helpers die with it. */
export function startGit(args: readonly string[], o: GitOptions): ChildProcessByStdio<Writable, Readable, Readable> {
  const child = spawn("git", [...args], {
    cwd: o.cwd,
    env: environment(o),
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const kill = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  };
  if (o.signal.aborted) kill();
  o.signal.addEventListener("abort", kill, { once: true });
  child.once("close", () => o.signal.removeEventListener("abort", kill));
  child.stdin.on("error", () => {});
  return child;
}

/** Nothing of the process's own environment but what names programs and proxies. */
function environment(o: GitOptions): Record<string, string> {
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin",
    HOME: o.cwd,
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_SYSTEM: "/dev/null",
    GIT_CONFIG_GLOBAL: o.config,
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "/bin/false",
    SSH_ASKPASS: "/bin/false",
    GIT_ALLOW_PROTOCOL: o.protocols,
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_CEILING_DIRECTORIES: "/",
  };
  for (const name of PROXIES) {
    const value = process.env[name];
    if (value) env[name] = value;
  }
  return env;
}

/**
 * Runs git to its end.
 * @param maxBytes of stdout; more ends the run
 * @throws GitFailure (TooLarge) when stdout is longer, the signal's reason when it was aborted
 */
export async function runGit(args: readonly string[], o: GitOptions, maxBytes = 1024 * 1024): Promise<GitResult> {
  o.signal.throwIfAborted();
  const tooMuch = new AbortController();
  const child = startGit(args, { ...o, signal: AbortSignal.any([o.signal, tooMuch.signal]) });
  child.stdin.end();
  const stdout: Buffer[] = [];
  let bytes = 0;
  child.stdout.on("data", (part: Buffer) => {
    bytes += part.length;
    if (bytes > maxBytes) tooMuch.abort();
    else stdout.push(part);
  });
  const stderr = collectStderr(child.stderr);
  const code = await ended(child);
  o.signal.throwIfAborted();
  if (tooMuch.signal.aborted) throw new GitFailure("TooLarge", "Cannot fetch: the remote's list of refs is too long");
  return { code, stdout: Buffer.concat(stdout), stderr: stderr() };
}

/** The first bytes of stderr, when asked. */
export function collectStderr(stream: Readable): () => string {
  const parts: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (part: Buffer) => {
    if (bytes < MAX_STDERR) parts.push(part);
    bytes += part.length;
  });
  return () => Buffer.concat(parts).toString("utf8").slice(0, MAX_STDERR);
}

/** Resolves to the exit code, null when killed. @throws GitFailure when there is no `git` */
export function ended(child: ChildProcessByStdio<Writable, Readable, Readable>): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once("error", (error) => {
      reject(
        new GitFailure("FetchFailed", "Cannot fetch: the program git is not installed where Convoy runs", {
          cause: error,
        }),
      );
    });
    child.once("close", (code) => resolve(code));
  });
}

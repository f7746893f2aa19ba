/** Options of `convoy run`: from flags to a checked set, so that half-built options never reach a process. @module */
import { hostname } from "node:os";
import { join } from "node:path";
import { UsageError } from "./output.ts";

/** All roles by name, in the order they start. */
export const ROLE_NAMES = [
  "apiserver",
  "simcluster",
  "cluster",
  "gitrepository",
  "helmregistry",
  "ociregistry",
  "release",
  "drift",
  "health",
] as const;
/** One of them. */
export type RoleName = typeof ROLE_NAMES[number];

/** `--role=all` leaves the simulated clusters out: nobody wants them beside real ones. */
const ALL: readonly RoleName[] = ROLE_NAMES.filter((r) => r !== "simcluster");

/** Flags as commander gives them. */
export interface RunFlags {
  role: string[];
  storage?: string;
  listen: string;
  tokenFile?: string;
  kubeconfig?: string;
  kubeconfigOut?: string;
  issue: string[];
  dataDir: string;
  metricsListen: string;
  leaderElect?: boolean;
  simclusters: string;
  workers: string;
  workersPerCluster: string;
  resync: string;
  allowExecPlugins?: boolean;
  allowFileRepositories?: boolean;
  logFormat: string;
  logLevel: string;
}

const completed = Symbol("completed");

/** Checked options. */
export interface RunOptions {
  readonly [completed]: true;
  roles: RoleName[];
  /** `memory` or `sqlite:FILE`. */
  storage: string;
  listen: { host: string; port: number };
  tokenFile?: string;
  /** Kubeconfig of the API server, for processes without the role apiserver. */
  kubeconfig?: string;
  /** Where the administrator's kubeconfig is written. */
  kubeconfigOut?: string;
  /** Further kubeconfigs, each with a client certificate of its own. */
  issue: { identity: string; file: string }[];
  dataDir: string;
  metricsListen?: { host: string; port: number };
  leaderElect: boolean;
  simclusters: number;
  workers: number;
  workersPerCluster: number;
  /** ms */
  resyncMs: number;
  allowExecPlugins: boolean;
  allowFileRepositories: boolean;
  logFormat: "text" | "json";
  logLevel: "info" | "debug" | "error";
  /** `host_pid`, in Leases and events. */
  identity: string;
}

/** Identities that `--issue` knows: name → groups. */
export const IDENTITIES: Record<string, string[]> = {
  admin: ["system:masters"],
  view: ["convoy:view"],
  "controller-manager": ["convoy:controller-manager"],
  observer: ["convoy:observer"],
};

/** Checks flags and fills in what depends on others. @throws UsageError naming the flag */
export function completeRunOptions(f: RunFlags): RunOptions {
  const roles = parseRoles(f.role);
  const withServer = roles.includes("apiserver");
  if (withServer && f.kubeconfig) {
    throw new UsageError("Cannot use --kubeconfig with the role apiserver: the process talks to its own API server");
  }
  if (!withServer && !f.kubeconfig && roles.some((r) => r !== "simcluster")) {
    throw new UsageError("Cannot start without an API server: give --kubeconfig, or add the role apiserver");
  }
  for (
    const [flag, value] of [["--storage", f.storage], ["--token-file", f.tokenFile], [
      "--kubeconfig-out",
      f.kubeconfigOut,
    ]]
  ) {
    if (!withServer && value) throw new UsageError(`Cannot use ${flag} without the role apiserver`);
  }
  const storage = f.storage ?? `sqlite:${join(f.dataDir, "convoy.db")}`;
  if (storage !== "memory" && !/^sqlite:.+/.test(storage)) {
    throw new UsageError(`Cannot use the storage "${storage}": --storage takes memory or sqlite:FILE`);
  }
  return {
    [completed]: true,
    roles,
    storage,
    listen: parseAddress("--listen", f.listen),
    ...(f.tokenFile ? { tokenFile: f.tokenFile } : {}),
    ...(f.kubeconfig ? { kubeconfig: f.kubeconfig } : {}),
    ...(withServer ? { kubeconfigOut: f.kubeconfigOut ?? join(f.dataDir, "kubeconfig") } : {}),
    issue: f.issue.map(parseIssue),
    dataDir: f.dataDir,
    ...(f.metricsListen === "none" ? {} : { metricsListen: parseAddress("--metrics-listen", f.metricsListen) }),
    leaderElect: f.leaderElect === true,
    simclusters: whole("--simclusters", f.simclusters, 0, 10_000),
    workers: whole("--workers", f.workers, 1, 1000),
    workersPerCluster: whole("--workers-per-cluster", f.workersPerCluster, 1, 1000),
    resyncMs: whole("--resync", f.resync, 1, 86_400) * 1000,
    allowExecPlugins: f.allowExecPlugins === true,
    allowFileRepositories: f.allowFileRepositories === true,
    logFormat: oneOf("--log-format", f.logFormat, ["text", "json"] as const),
    logLevel: oneOf("--log-level", f.logLevel, ["info", "debug", "error"] as const),
    identity: `${hostname()}_${Deno.pid}`,
  };
}

function parseRoles(given: readonly string[]): RoleName[] {
  const names = given.flatMap((g) => g.split(",")).map((r) => r.trim()).filter(Boolean);
  if (names.length === 0) {
    throw new UsageError(`Cannot start without a role: --role takes all, ${ROLE_NAMES.join(", ")}`);
  }
  const wanted = new Set<RoleName>();
  for (const name of names) {
    if (name === "all") ALL.forEach((r) => wanted.add(r));
    else wanted.add(oneOf("--role", name, ROLE_NAMES, "all, "));
  }
  return ROLE_NAMES.filter((r) => wanted.has(r));
}

function parseIssue(text: string): { identity: string; file: string } {
  const [identity, file] = [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)];
  if (!text.includes("=") || !file || !Object.hasOwn(IDENTITIES, identity)) {
    throw new UsageError(
      `Cannot issue "${text}": --issue takes IDENTITY=FILE with one of ${Object.keys(IDENTITIES).join(", ")}`,
    );
  }
  return { identity, file };
}

function parseAddress(flag: string, text: string): { host: string; port: number } {
  const at = text.lastIndexOf(":");
  const host = text.slice(0, at).replace(/^\[|\]$/g, ""), port = Number(text.slice(at + 1));
  if (at < 0 || !host || !Number.isInteger(port) || port < 0 || port > 65535) {
    throw new UsageError(`Cannot listen on "${text}": ${flag} takes HOST:PORT, port 0 for a free one`);
  }
  return { host, port };
}

function whole(flag: string, text: string, min: number, max: number): number {
  const n = Number(text);
  if (!Number.isInteger(n) || n < min || n > max) {
    throw new UsageError(`Cannot use "${text}": ${flag} takes a whole number from ${min} to ${max}`);
  }
  return n;
}

function oneOf<T extends string>(flag: string, text: string, allowed: readonly T[], before = ""): T {
  const found = allowed.find((a) => a === text);
  if (!found) throw new UsageError(`Cannot use "${text}": ${flag} takes ${before}${allowed.join(", ")}`);
  return found;
}

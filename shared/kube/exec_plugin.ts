/** Credentials from a program: client.authentication.k8s.io v1 and v1beta1. @module */
import { execFile } from "node:child_process";
import process from "node:process";
import { isObject, parseJson } from "../json/mod.ts";
import type { Clock } from "../runtime/clock.ts";
import { TransportError } from "./contract.ts";
import type { Credential, CredentialSource } from "./transport_http.ts";

/** `exec` of a kubeconfig user. */
export interface ExecSpec {
  apiVersion: string;
  command: string;
  args: string[];
  env: Record<string, string>;
  provideClusterInfo: boolean;
  installHint?: string;
}

/** What a plugin is told about the cluster when it asks. */
export interface ExecClusterInfo {
  server: string;
  "certificate-authority-data"?: string;
  "insecure-skip-tls-verify"?: boolean;
  "tls-server-name"?: string;
}

/** Runs a program; resolves to its standard output. Replaced in tests. */
export type RunProgram = (
  command: string,
  args: string[],
  env: Record<string, string>,
  signal: AbortSignal | undefined,
) => Promise<string>;

const TIME_LIMIT_MS = 60_000;

/**
 * Credentials from an exec plugin, kept until they expire or the server says 401. One run at a time. What the program
 * prints never gets into errors: it is a credential.
 */
export function execCredentials(
  spec: ExecSpec,
  cluster: ExecClusterInfo,
  o: { clock: Clock; label: string; run?: RunProgram },
): CredentialSource {
  const run = o.run ?? runProgram;
  let cached: { credential: Credential; expires: number } | undefined;
  let running: Promise<Credential> | undefined;

  async function fetch(): Promise<Credential> {
    const info = {
      apiVersion: spec.apiVersion,
      kind: "ExecCredential",
      spec: { interactive: false, ...(spec.provideClusterInfo ? { cluster } : {}) },
    };
    const env = { ...spec.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) };
    let output: string;
    try {
      output = await run(spec.command, spec.args, env, undefined);
    } catch (error) {
      const hint = spec.installHint ? `; ${spec.installHint.trim()}` : "";
      const why = error instanceof ProgramError ? error.message : "it could not be run";
      throw new TransportError(`Cannot get credentials for ${o.label} from "${spec.command}": ${why}${hint}`);
    }
    const bad = (why: string): never => {
      throw new TransportError(`Cannot get credentials for ${o.label} from "${spec.command}": ${why}`);
    };
    let answer: unknown;
    try {
      answer = parseJson(output);
    } catch {
      return bad("it did not print JSON");
    }
    if (!isObject(answer) || answer.kind !== "ExecCredential" || !isObject(answer.status)) {
      return bad("it did not print an ExecCredential with a status");
    }
    if (answer.apiVersion !== spec.apiVersion) return bad(`it did not answer with apiVersion ${spec.apiVersion}`);
    const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = answer.status;
    if (typeof token !== "string" && !(typeof cert === "string" && typeof key === "string")) {
      return bad("it gave neither a token nor a client certificate with its key");
    }
    const credential: Credential = {
      ...(typeof token === "string" ? { authorization: `Bearer ${token.trim()}` } : {}),
      ...(typeof cert === "string" && typeof key === "string" ? { cert, key } : {}),
    };
    const expires = typeof expirationTimestamp === "string" ? Date.parse(expirationTimestamp) : NaN;
    cached = { credential, expires: Number.isNaN(expires) ? Infinity : expires };
    return credential;
  }

  return {
    get() {
      if (cached && o.clock.now() < cached.expires) return Promise.resolve(cached.credential);
      running ??= fetch().finally(() => running = undefined);
      return running;
    },
    invalidate() {
      cached = undefined;
      return true;
    },
  };
}

/** A program failed; the message is safe. */
class ProgramError extends Error {}

function runProgram(command: string, args: string[], env: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, {
      env: { ...process.env, ...env },
      timeout: TIME_LIMIT_MS,
      maxBuffer: 1 << 20,
      encoding: "utf8",
    }, (error, stdout) => {
      if (!error) return resolve(stdout);
      const { code, killed } = error as { code?: string | number; killed?: boolean };
      reject(
        new ProgramError(
          killed
            ? `it was stopped after ${TIME_LIMIT_MS / 1000} s or too much output`
            : code === "ENOENT"
            ? "there is no such program"
            : `it ended with ${code === undefined ? "an error" : `code ${code}`}`,
        ),
      );
    });
    child.stdin?.end();
  });
}

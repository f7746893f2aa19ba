/**
 * Credentials from a Secret, as files that only git reads: never in arguments, environment, logs or messages.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Secret } from "../../../shared/api/mod.ts";
import type { Address } from "./address.ts";
import { GitFailure } from "./failure.ts";

/** Writes a file that only this user may read. */
async function writePrivate(folder: string, name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content, { mode: 0o600, flag: "wx" });
  return path;
}

const BASE = `[core]
	hooksPath = /dev/null
	askPass = /bin/false
	fsmonitor = false
[credential]
	helper =
[gc]
	auto = 0
[maintenance]
	auto = false
[fetch]
	recurseSubmodules = false
	unpackLimit = 1
	writeCommitGraph = false
[pack]
	threads = 1
[transfer]
	bundleURI = false
[http]
	lowSpeedLimit = 1000
	lowSpeedTime = 30
[protocol]
	version = 2
	allow = never
[protocol "https"]
	allow = always
[protocol "http"]
	allow = always
[protocol "ssh"]
	allow = always
`;

/**
 * Writes git's whole configuration into `folder`, with what the Secret holds. Keys read: `username` and `password`, or
 * `bearerToken`; `ca.crt` or `caFile`; for ssh `identity` and `known_hosts`.
 *
 * @returns the configuration's path
 * @throws GitFailure (SecretMissing, SecretInvalid) naming the key
 */
export async function writeConfig(folder: string, address: Address, secret: Secret | undefined): Promise<string> {
  const values = new SecretValues(secret);
  let config = BASE;
  if (address.protocol === "file") config += `[protocol "file"]\n\tallow = always\n[safe]\n\tdirectory = *\n`;
  if (address.protocol === "ssh") config += await sshConfig(folder, values);
  if (address.protocol === "https" || address.protocol === "http") config += await httpConfig(folder, address, values);
  return await writePrivate(folder, "gitconfig", config);
}

async function httpConfig(folder: string, address: Address, values: SecretValues): Promise<string> {
  let config = "";
  const header = authorization(values);
  // With credentials no redirect is followed, or they would go to wherever it leads.
  config += `[http]\n\tfollowRedirects = ${header ? "false" : "initial"}\n`;
  if (header) {
    config += `[http ${quote(`${address.protocol}://${address.host}/`)}]\n\textraHeader = ${
      quote(`Authorization: ${header}`)
    }\n`;
  }
  const ca = values.get("ca.crt") ?? values.get("caFile");
  if (ca !== undefined) {
    if (!ca.includes("-----BEGIN CERTIFICATE-----")) throw values.bad("ca.crt", "no PEM certificate");
    config += `[http]\n\tsslCAInfo = ${quote(await writePrivate(folder, "ca.crt", ca))}\n`;
  }
  return config;
}

function authorization(values: SecretValues): string | undefined {
  const token = values.line("bearerToken");
  if (token !== undefined) {
    if (!/^[\x21-\x7e]+$/.test(token)) throw values.bad("bearerToken", "a character that no token has");
    return `Bearer ${token}`;
  }
  const username = values.line("username"), password = values.line("password");
  if (username === undefined && password === undefined) {
    if (values.name !== undefined && !values.has("ca.crt", "caFile")) {
      throw new GitFailure(
        "SecretMissing",
        `Cannot use Secret ${values.name}: it has neither username and password nor bearerToken nor ca.crt; add one`,
      );
    }
    return undefined;
  }
  if (password === undefined) throw values.missing("password");
  if (username?.includes(":")) throw values.bad("username", "a colon");
  return `Basic ${Buffer.from(`${username ?? "git"}:${password}`).toString("base64")}`;
}

async function sshConfig(folder: string, values: SecretValues): Promise<string> {
  if (values.name === undefined) {
    throw new GitFailure(
      "SecretMissing",
      "Cannot use ssh without spec.secretRef: name a Secret with identity and known_hosts",
    );
  }
  const identity = values.get("identity"), known = values.get("known_hosts");
  if (!identity) throw values.missing("identity");
  if (!known?.trim()) throw values.missing("known_hosts");
  if (!identity.includes("-----BEGIN ")) throw values.bad("identity", "no private key in PEM form");
  const key = await writePrivate(folder, "identity", identity.endsWith("\n") ? identity : `${identity}\n`);
  const hosts = await writePrivate(folder, "known_hosts", known.endsWith("\n") ? known : `${known}\n`);
  const options = [
    "BatchMode=yes",
    "IdentitiesOnly=yes",
    "IdentityAgent=none",
    "StrictHostKeyChecking=yes",
    `UserKnownHostsFile=${hosts}`,
    "GlobalKnownHostsFile=/dev/null",
    "UpdateHostKeys=no",
    "PasswordAuthentication=no",
    "KbdInteractiveAuthentication=no",
    "ForwardAgent=no",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    "ConnectTimeout=20",
    "ServerAliveInterval=15",
    "ServerAliveCountMax=3",
  ];
  const command = ["ssh", "-F", "/dev/null", "-i", shell(key), ...options.flatMap((o) => ["-o", shell(o)])].join(" ");
  return `[ssh]\n\tvariant = ssh\n[core]\n\tsshCommand = ${quote(command)}\n`;
}

/** A Secret's values; messages name its keys only. */
class SecretValues {
  readonly name: string | undefined;
  constructor(private readonly secret: Secret | undefined) {
    this.name = secret && `${secret.metadata.namespace}/${secret.metadata.name}`;
  }
  has(...keys: string[]): boolean {
    return keys.some((key) => this.secret?.data?.[key] !== undefined);
  }
  get(key: string): string | undefined {
    const data = this.secret?.data;
    if (!data || !Object.hasOwn(data, key)) return undefined;
    return Buffer.from(data[key]!, "base64").toString("utf8");
  }
  /** A value of one line; a newline at its end, which `kubectl --from-file` often leaves, is not part of it. */
  line(key: string): string | undefined {
    const value = this.get(key)?.replace(/\r?\n$/, "");
    // deno-lint-ignore no-control-regex
    if (value !== undefined && /[\x00-\x1f\x7f]/.test(value)) {
      throw this.bad(key, "a line break or control character in it");
    }
    return value === "" ? undefined : value;
  }
  missing(key: string): GitFailure {
    return new GitFailure("SecretMissing", `Cannot use Secret ${this.name}: it has no "${key}"; add it`);
  }
  bad(key: string, what: string): GitFailure {
    return new GitFailure("SecretInvalid", `Cannot use Secret ${this.name}: "${key}" has ${what}; mend it`);
  }
}

/** A value in git's configuration. */
function quote(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** A word for the shell that git runs core.sshCommand with. */
function shell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

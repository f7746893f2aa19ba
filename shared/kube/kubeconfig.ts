/** Kubeconfig files: from text to what a transport needs. No error ever quotes their content. @module */
import { isAbsolute, join } from "node:path";
import { LineCounter, parseDocument } from "yaml";
import { isObject, type JsonObject } from "../json/mod.ts";
import type { ExecSpec } from "./exec_plugin.ts";

/** A kubeconfig cannot be used. The message names where it came from, the field and the mend. */
export class KubeconfigError extends Error {
  override readonly name = "KubeconfigError";
}

/** Options of {@link parseKubeconfig}. */
export interface KubeconfigOptions {
  /** Where the text came from, for messages: `Secret fleet/prod, key "kubeconfig"`, or a file's path. */
  label: string;
  /** Context to use. @default `current-context` */
  context?: string;
  /** Whether exec plugins may be used: they run a program of the kubeconfig's choice here. @default false */
  allowExec?: boolean;
  /**
   * Whether it may name files of this machine. Not for kubeconfigs that others wrote: one that names the file of our own
   * token would have it sent to a server of its writer's. @default false
   */
  allowFiles?: boolean;
  /** Folder that relative paths start from. @default the working folder */
  baseDir?: string;
}

/** PEM text, or the file that it is read from. */
export type PemSource = { pem: string } | { file: string };

/** What a kubeconfig says about one context. */
export interface KubeconfigContext {
  server: string;
  namespace?: string;
  tls: { ca?: PemSource; insecure?: boolean; serverName?: string };
  user: {
    token?: string;
    tokenFile?: string;
    cert?: PemSource;
    key?: PemSource;
    exec?: ExecSpec;
    impersonate?: { user: string; groups: string[] };
  };
}

/** Reads one context of a kubeconfig. @throws KubeconfigError */
export function parseKubeconfig(text: string, o: KubeconfigOptions): KubeconfigContext {
  const reader: Reader = new Reader(o);
  const root = reader.parse(text);
  const contextName = o.context ?? string(root["current-context"]);
  if (!contextName) reader.fail("it has no current-context", 'set "current-context" to one of its contexts');
  const context = reader.named(root, "contexts", "context", contextName);
  const clusterName = string(context.cluster);
  if (!clusterName) reader.fail(`context "${contextName}" names no cluster`);
  const cluster = reader.named(root, "clusters", "cluster", clusterName);
  const userName = string(context.user);
  const user = userName ? reader.named(root, "users", "user", userName) : {};
  const namespace = string(context.namespace);
  return {
    ...reader.cluster(cluster, clusterName),
    user: reader.user(user, userName ?? ""),
    ...(namespace ? { namespace } : {}),
  };
}

class Reader {
  readonly #o: KubeconfigOptions;
  constructor(o: KubeconfigOptions) {
    this.#o = o;
  }

  fail(why: string, mend?: string): never {
    throw new KubeconfigError(`Cannot use the kubeconfig in ${this.#o.label}: ${why}${mend ? `; ${mend}` : ""}`);
  }

  parse(text: string): JsonObject {
    if (text.trim() === "") this.fail("it is empty");
    const lines = new LineCounter();
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "silent" });
    const problem = document.errors[0];
    if (problem) {
      // The parser's message may quote the text; its code and place do not.
      const { line, col } = lines.linePos(problem.pos[0]);
      this.fail(`it is not YAML (line ${line}, column ${col}: ${problem.code})`);
    }
    let root: unknown;
    try {
      root = document.toJS({ maxAliasCount: 100 });
    } catch {
      this.fail("it is not YAML that can be read (unknown or too many aliases)");
    }
    if (!isObject(root)) {
      const mend = /^[A-Za-z0-9+/=\s]{40,}$/.test(text)
        ? "it looks as if it were base64-encoded twice: put it under stringData, or encode it once"
        : "copy a whole kubeconfig into it";
      this.fail("it is not a kubeconfig", mend);
    }
    if (root.kind !== undefined && root.kind !== "Config") this.fail('its kind is not "Config"');
    if (!Array.isArray(root.clusters)) this.fail('it has no list "clusters"', "copy a whole kubeconfig into it");
    return root;
  }

  named(root: JsonObject, list: string, field: string, name: string): JsonObject {
    const items = root[list];
    const item = Array.isArray(items) ? items.find((i) => isObject(i) && i.name === name) : undefined;
    const value = isObject(item) ? item[field] : undefined;
    if (isObject(value)) return value;
    if (item !== undefined && field === "user" && (value === null || value === undefined)) return {};
    this.fail(`it has no ${field} named "${name}"`);
  }

  cluster(cluster: JsonObject, name: string): Pick<KubeconfigContext, "server" | "tls"> {
    const where = `cluster "${name}"`;
    const server = string(cluster.server);
    if (!server) this.fail(`${where} has no server`);
    if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol)) {
      this.fail(`the server of ${where} is not an http or https address`);
    }
    const { username, password } = new URL(server);
    if (username || password) this.fail(`the server of ${where} has a user or password in it`, "use a token");
    if (string(cluster["proxy-url"])) {
      this.fail(`${where} has a proxy-url, which Convoy does not support`, "make the server reachable directly");
    }
    const insecure = cluster["insecure-skip-tls-verify"] === true;
    const ca = this.#pem(cluster, "certificate-authority", where, "CERTIFICATE");
    if (insecure && ca) {
      this.fail(`${where} has both insecure-skip-tls-verify and a certificate-authority`, "remove one of them");
    }
    const serverName = string(cluster["tls-server-name"]);
    return {
      server,
      tls: {
        ...(ca ? { ca } : {}),
        ...(insecure ? { insecure } : {}),
        ...(serverName ? { serverName } : {}),
      },
    };
  }

  user(user: JsonObject, name: string): KubeconfigContext["user"] {
    const where = `user "${name}"`;
    if (user.username !== undefined || user.password !== undefined) {
      this.fail(
        `${where} has a username and password, which Kubernetes does not accept any more`,
        "use a token or a client certificate",
      );
    }
    if (user["auth-provider"] !== undefined) {
      this.fail(`${where} has an auth-provider, which Kubernetes has removed`, "use exec, a token or a certificate");
    }
    const token = string(user.token)?.trim();
    if (token && /[^\x21-\x7e]/.test(token)) this.fail(`the token of ${where} has spaces or unprintable marks in it`);
    const tokenFile = this.#file(user, "tokenFile", where);
    const cert = this.#pem(user, "client-certificate", where, "CERTIFICATE");
    const key = this.#pem(user, "client-key", where, "PRIVATE KEY");
    if (cert && !key) this.fail(`${where} has a client certificate without its key`, "add client-key-data");
    if (key && !cert) {
      this.fail(`${where} has a client key without its certificate`, "add client-certificate-data");
    }
    const as = string(user.as);
    const groups = Array.isArray(user["as-groups"]) ? user["as-groups"].filter((g) => typeof g === "string") : [];
    const exec = user.exec === undefined || user.exec === null ? undefined : this.#exec(user.exec, where);
    return {
      ...(token ? { token } : {}),
      ...(tokenFile ? { tokenFile } : {}),
      ...(cert ? { cert } : {}),
      ...(key ? { key } : {}),
      ...(exec ? { exec } : {}),
      ...(as ? { impersonate: { user: as, groups } } : {}),
    };
  }

  #exec(exec: unknown, where: string): ExecSpec {
    if (!isObject(exec)) this.fail(`exec of ${where} is not an object`);
    const command = string(exec.command);
    if (!this.#o.allowExec) {
      this.fail(
        `${where} gets its credentials from a program (exec), which is not allowed here`,
        "allow it with --allow-exec-plugins, or use a token or a client certificate",
      );
    }
    if (!command) this.fail(`exec of ${where} has no command`);
    const apiVersion = string(exec.apiVersion) ?? "";
    if (!/^client\.authentication\.k8s\.io\/v1(beta1)?$/.test(apiVersion)) {
      this.fail(`exec of ${where} has an apiVersion that is neither client.authentication.k8s.io/v1 nor …/v1beta1`);
    }
    if (exec.interactiveMode === "Always") this.fail(`exec of ${where} wants a terminal, and there is none`);
    const env: Record<string, string> = {};
    for (const entry of Array.isArray(exec.env) ? exec.env : []) {
      if (isObject(entry) && typeof entry.name === "string") env[entry.name] = String(entry.value ?? "");
    }
    const hint = string(exec.installHint);
    return {
      apiVersion,
      // As client-go: a name is looked up in PATH, a relative path starts at the kubeconfig's folder.
      command: command.includes("/") && !isAbsolute(command) ? join(this.#o.baseDir ?? ".", command) : command,
      args: Array.isArray(exec.args) ? exec.args.map(String) : [],
      env,
      provideClusterInfo: exec.provideClusterInfo === true,
      ...(hint ? { installHint: hint } : {}),
    };
  }

  #pem(from: JsonObject, field: string, where: string, kind: string): PemSource | undefined {
    const data = string(from[`${field}-data`]);
    if (data) {
      const pem = decodeBase64(data);
      if (pem === undefined) this.fail(`${field}-data of ${where} is not base64`);
      if (!pem.includes("-----BEGIN ") || !pem.includes(`${kind}-----`)) {
        this.fail(`${field}-data of ${where} is not a PEM ${kind.toLowerCase()}`);
      }
      return { pem };
    }
    const file = this.#file(from, field, where);
    return file ? { file } : undefined;
  }

  #file(from: JsonObject, field: string, where: string): string | undefined {
    const file = string(from[field]);
    if (!file) return undefined;
    if (!this.#o.allowFiles) {
      this.fail(
        `${where} names a file (${field}), which does not exist for Convoy`,
        "put the content in, e.g. with kubectl config view --flatten --minify",
      );
    }
    return isAbsolute(file) ? file : join(this.#o.baseDir ?? ".", file);
  }
}

function string(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The text of base64; undefined when it is not base64 of text. */
function decodeBase64(data: string): string | undefined {
  try {
    const binary = atob(data.replace(/\s+/g, ""));
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(binary, (c) => c.charCodeAt(0)));
  } catch {
    return undefined;
  }
}

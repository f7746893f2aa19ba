/** A real sshd on a free port of loopback, with keys of its own in a temporary folder. @module */
import { connect } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { freePort } from "../kit/ports.ts";

/** A running sshd. */
export interface Sshd {
  port: number;
  user: string;
  /** Private key that it lets in. */
  identity: string;
  /** Line of its host key. */
  knownHosts: string;
  /** Makes another key pair, which it does not know; resolves to the private key. */
  otherKey(): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

async function run(command: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, { args }).output();
  if (!success) throw new Error(`${command}: ${new TextDecoder().decode(stderr)}`);
}

async function makeKey(file: string): Promise<string> {
  await run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", file);
  return await Deno.readTextFile(file);
}

/** Starts sshd (Debian: `apt-get install openssh-server`). */
export async function startSshd(): Promise<Sshd> {
  if (!await Deno.stat("/usr/sbin/sshd").catch(() => undefined)) {
    throw new Error("Cannot test ssh: /usr/sbin/sshd is missing; install openssh-server");
  }
  const dir = await Deno.makeTempDir({ prefix: "convoy-sshd-" });
  const at = (name: string) => join(dir, name);
  await makeKey(at("host"));
  const identity = await makeKey(at("client"));
  await Deno.copyFile(at("client.pub"), at("authorized"));
  const port = await freePort();
  const { username } = userInfo();
  const config = {
    ListenAddress: "127.0.0.1",
    Port: port,
    HostKey: at("host"),
    PidFile: "none",
    AuthorizedKeysFile: at("authorized"),
    StrictModes: "no",
    UsePAM: "no",
    PasswordAuthentication: "no",
    PermitRootLogin: "prohibit-password",
    LogLevel: "ERROR",
  };
  await Deno.writeTextFile(at("config"), Object.entries(config).map(([k, v]) => `${k} ${v}\n`).join(""));
  if (username === "root") await Deno.mkdir("/run/sshd", { recursive: true, mode: 0o755 });
  const child = new Deno.Command("/usr/sbin/sshd", {
    args: ["-D", "-e", "-f", at("config")],
    stdout: "null",
    stderr: "null",
  })
    .spawn();
  await untilListening(port, child.status);
  const [type, key] = (await Deno.readTextFile(at("host.pub"))).split(" ");
  let others = 0;
  return {
    port,
    user: username,
    identity,
    knownHosts: `[127.0.0.1]:${port} ${type} ${key}\n`,
    otherKey: () => makeKey(at(`other${others++}`)),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
      await Deno.remove(dir, { recursive: true });
    },
  };
}

async function untilListening(port: number, ended: Promise<unknown>): Promise<void> {
  let alive = true;
  ended.then(() => alive = false);
  for (;;) {
    if (!alive) throw new Error("Cannot test ssh: sshd did not start");
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1");
      socket.once("connect", () => (socket.destroy(), resolve(true)));
      socket.once("error", () => resolve(false));
    });
    if (open) return;
  }
}

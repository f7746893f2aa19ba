/** The main job from real git remotes: http with a password, and ssh with a key. */
import assert from "node:assert/strict";
import { SECRETS } from "../../shared/api/mod.ts";
import { startGitHttp } from "../kit/git_http.ts";
import { configMap, namespace } from "../kit/manifests.ts";
import { is, NS, startSystem, type System } from "../kit/system.ts";
import { startSshd } from "./git_sshd.ts";

const secret = (name: string, stringData: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: NS },
  stringData,
});

/** Rolls out what is there, then a second commit. */
async function rollsOutTwice(system: System, url: string): Promise<void> {
  await system.repository.commit({ "web/ns.yaml": namespace(), "web/c.yaml": configMap("cfg", { a: "1" }) });
  await system.addRepository({ url, secretRef: { name: "git" } });
  await system.addRelease("web");
  await system.untilThere("web");
  const commit = await system.repository.commit({ "web/c.yaml": configMap("cfg", { a: "2" }) });
  const after = await system.until(
    "web",
    (r) => r.status?.source?.revision.endsWith(commit) === true && is(r, "RolloutSucceeded", "True"),
    "the second commit rolled out",
  );
  assert.match(after.status!.source!.revision, /^main@sha1:/);
}

Deno.test("a Release from a git server over http with a password is rolled out, and so is the next commit", async () => {
  await using system = await startSystem();
  const git = await startGitHttp(system.dir, { user: "u", password: "p4ss" });
  try {
    await system.apply(SECRETS, secret("git", { username: "u", password: "p4ss" }));
    await rollsOutTwice(system, `${git.url}/${system.repository.name}`);
  } finally {
    await git.close();
  }
});

Deno.test("a Release from a git server over ssh with a key is rolled out, and so is the next commit", async () => {
  await using system = await startSystem();
  await using sshd = await startSshd();
  await system.apply(SECRETS, secret("git", { identity: sshd.identity, known_hosts: sshd.knownHosts }));
  await rollsOutTwice(system, `ssh://${sshd.user}@127.0.0.1:${sshd.port}${system.repository.folder}`);
});

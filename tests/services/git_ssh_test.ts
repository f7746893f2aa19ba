/** GitRepositories over ssh: a real sshd, keys and known_hosts from a Secret. */
import assert from "node:assert/strict";
import { GitFixture } from "../../controllers/sources/gitrepository/testing/fixture.ts";
import { World } from "../../controllers/sources/gitrepository/testing/world.ts";
import { type Sshd, startSshd } from "./git_sshd.ts";

function test(name: string, run: (w: World, sshd: Sshd, url: string) => Promise<void>): void {
  Deno.test(`gitrepository over ssh: ${name}`, async () => {
    await using git = await GitFixture.make();
    await using sshd = await startSshd();
    await run(new World(git, {}, false), sshd, `ssh://${sshd.user}@127.0.0.1:${sshd.port}${git.bare}`);
  });
}

test("identity and known_hosts are enough; new commits, force push and moved tags are seen", async (w, sshd, url) => {
  await w.git.commit({ "a.yaml": "a: 0\n" });
  await w.git.commit({ "a.yaml": "a: 1\n" });
  w.api.putSecret("s", { identity: sshd.identity.trimEnd(), known_hosts: sshd.knownHosts });
  w.api.put({ url, ref: { branch: "main" }, secretRef: { name: "s" } });
  await w.look();
  assert.equal(w.api.ready.status, "True", w.api.ready.message);
  assert.deepEqual(await w.files(), { "a.yaml": "a: 1\n" });
  await w.look();
  assert.equal(w.api.writes, 1);
  await w.git.git("reset", "-q", "--hard", "HEAD~1");
  await w.git.git("tag", "-a", "-m", "x", "v2");
  const commit = await w.git.commit({ "a.yaml": "a: 2\n" }, "HEAD:main", "v2");
  await w.look();
  assert.equal(w.api.status.artifact!.revision, `main@sha1:${commit}`);
  assert.ok(w.api.events.some((e) => e.startsWith("Warning ForcePushed")), w.api.events.join("\n"));
  w.api.put({ url, ref: { tag: "v2" }, secretRef: { name: "s" } });
  await w.look();
  await w.git.git("tag", "-f", "-a", "-m", "x", "v2");
  await w.git.git("push", "-q", "-f", "origin", "v2");
  await w.look();
  assert.ok(w.api.events.some((e) => e.startsWith("Warning TagMoved")), w.api.events.join("\n"));
});

test("a host key that is unknown or another is refused", async (w, sshd, url) => {
  await w.git.commit({ a: "1" });
  const other = sshd.knownHosts.replace(/AAAAC3NzaC1lZDI1NTE5AAAAI.{4}/, (key) => key.slice(0, -4) + "AAAA");
  for (const known_hosts of ["[127.0.0.2]:22 ssh-ed25519 AAAA\n", other]) {
    w.api.putSecret("s", { identity: sshd.identity, known_hosts });
    w.api.put({ url, secretRef: { name: "s" } });
    await w.look();
    assert.equal(w.api.ready.reason, "HostKeyUnknown", w.api.ready.message);
    assert.match(w.api.ready.message, /known_hosts of the Secret/);
  }
  assert.equal(w.api.status.artifact, undefined);
});

test("a key that is refused, one that is none, and missing keys are told; no key is", async (w, sshd, url) => {
  await w.git.commit({ a: "1" });
  const reason = async (values: Record<string, string>) => {
    w.api.putSecret("s", values);
    w.api.put({ url, secretRef: { name: "s" } });
    await w.look();
    return `${w.api.ready.reason} ${w.api.ready.message}`;
  };
  const { knownHosts: known_hosts } = sshd;
  const identity = await sshd.otherKey();
  assert.match(await reason({ identity, known_hosts }), /^AuthFailed .*spec\.secretRef/);
  assert.match(await reason({ identity: "-----BEGIN OPENSSH PRIVATE KEY-----\nxx\n", known_hosts }), /^AuthFailed/);
  assert.match(await reason({ identity: "xx", known_hosts }), /^SecretInvalid .*"identity"/);
  assert.match(await reason({ identity }), /^SecretMissing .*"known_hosts"/);
  assert.match(await reason({ known_hosts }), /^SecretMissing .*"identity"/);
  assert.ok(!w.api.told.includes(identity.split("\n")[1]!));
});

test("a repository, a branch and a host that are not there are told apart", async (w, sshd, url) => {
  await w.git.commit({ a: "1" });
  w.api.putSecret("s", { identity: sshd.identity, known_hosts: sshd.knownHosts });
  const reason = async (address: string, branch = "main") => {
    w.api.put({ url: address, ref: { branch }, secretRef: { name: "s" } });
    await w.look();
    return w.api.ready.reason;
  };
  assert.equal(await reason(`${url}x`), "RepositoryNotFound");
  assert.equal(await reason(url, "nope"), "RefNotFound");
  assert.equal(await reason("ssh://git@127.0.0.1:1/x"), "HostUnreachable");
  assert.equal(await reason(url), "Succeeded");
});

import assert from "node:assert/strict";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FakeApi } from "./testing/fake_api.ts";
import { GitFixture } from "./testing/fixture.ts";
import { inWorld, World } from "./testing/world.ts";

function test(name: string, run: (w: World) => Promise<void>, limits: Record<string, number> = {}): void {
  Deno.test(name, () => inWorld(run, limits));
}

test("a branch is fetched, and looked at again after the interval without a write", async (w) => {
  const { git, api, clock } = w;
  const commit = await git.commit({ "a.yaml": "a: 1\n", "dir/b.sh": "b" });
  api.put({ url: git.url, ref: { branch: "main" } });
  assert.equal(await w.look(), 60_000);
  assert.deepEqual(await w.files(), { "a.yaml": "a: 1\n", "dir/b.sh": "b" });
  const { artifact, ...rest } = api.status;
  assert.deepEqual(artifact, {
    digest: artifact!.digest,
    revision: `main@sha1:${commit}`,
    lastUpdateTime: "2026-01-01T00:00:00Z",
    url: `http://me:1/artifacts/${artifact!.digest}`,
  });
  assert.deepEqual(rest, {
    observedGeneration: 1,
    lastFetchTime: "2026-01-01T00:00:00Z",
    observedRef: "refs/heads/main",
    conditions: [{
      type: "Ready",
      status: "True",
      reason: "Succeeded",
      message: `Fetched main@sha1:${commit}`,
      observedGeneration: 1,
      lastTransitionTime: "2026-01-01T00:00:00Z",
    }],
  });
  assert.deepEqual(api.events, [`Normal NewArtifact Fetched main@sha1:${commit}`]);
  await clock.advance(60_000);
  assert.equal(await w.look(), 60_000);
  assert.equal(api.writes, 1);
});

test("without a ref the remote's HEAD is meant, by the name of its branch", async (w) => {
  const { git, api } = w;
  const commit = await git.commit({ a: "1" });
  api.put({ url: git.url });
  await w.look();
  assert.equal(api.status.artifact!.revision, `main@sha1:${commit}`);
});

test("a new commit is a new revision; the same tree has the same digest", async (w) => {
  const { git, api } = w;
  await git.commit({ a: "1" });
  api.put({ url: git.url, ref: { branch: "main" } });
  await w.look();
  const { digest, revision } = api.status.artifact!;
  await git.commit({ a: "1" });
  await w.look();
  assert.notEqual(api.status.artifact!.revision, revision);
  assert.equal(api.status.artifact!.digest, digest);
  await git.commit({ a: "2" });
  await w.look();
  assert.notEqual(api.status.artifact!.digest, digest);
  assert.ok(api.events.every((e) => e.startsWith("Normal NewArtifact")), api.events.join());
});

test("a force-pushed branch is a new revision, and an event says so", async (w) => {
  const { git, api } = w;
  await git.commit({ a: "0" });
  const old = await git.commit({ a: "1" });
  api.put({ url: git.url, ref: { branch: "main" } });
  await w.look();
  await git.git("reset", "-q", "--hard", "HEAD~1");
  const now = await git.commit({ a: "2" });
  await w.look();
  assert.equal(api.status.artifact!.revision, `main@sha1:${now}`);
  assert.ok(
    api.events.some((e) => e.startsWith("Warning ForcePushed") && e.includes(old.slice(0, 12))),
    api.events.join(),
  );
});

test("C27: a tag that was moved by force is a new revision, and an event says so", async (w) => {
  const { git, api } = w;
  const one = await git.commit({ a: "1" });
  await git.git("tag", "-a", "-m", "x", "v1");
  await git.git("push", "-q", "origin", "v1");
  api.put({ url: git.url, ref: { tag: "v1" } });
  await w.look();
  assert.equal(api.status.artifact!.revision, `v1@sha1:${one}`);
  const two = await git.commit({ a: "2" });
  await git.git("tag", "-f", "-a", "-m", "x", "v1");
  await git.git("push", "-q", "-f", "origin", "v1");
  await w.look();
  assert.equal(api.status.artifact!.revision, `v1@sha1:${two}`);
  assert.ok(api.events.some((e) => e.startsWith("Warning TagMoved The tag v1 was moved by force")), api.events.join());
});

test("C27: of versions that differ in build data only the newest commit is taken", async (w) => {
  const { git, api } = w;
  const commits: string[] = [];
  for (const tag of ["3.0.0+b2", "3.0.0+b1"]) {
    commits.push(await git.commit({ a: tag }));
    await git.git("tag", tag);
  }
  await git.git("push", "-q", "--tags", "origin");
  api.put({ url: git.url, ref: { semver: "3.x" } });
  await w.look();
  assert.equal(api.status.artifact!.revision, `3.0.0+b1@sha1:${commits[1]}`);
});

test("a commit is fetched by its name, also an older one, and then not asked for again", async (w) => {
  const { git, api } = w;
  const old = await git.commit({ a: "1" });
  await git.commit({ a: "2" });
  api.put({ url: git.url, ref: { commit: old } });
  await w.look();
  assert.equal(api.status.artifact!.revision, `sha1:${old}`);
  assert.deepEqual(await w.files(), { a: "1" });
  assert.equal(api.status.observedRef, undefined);
  await Deno.remove(git.bare, { recursive: true });
  await w.look();
  assert.equal(api.ready.status, "True");
  api.put({ url: git.url, ref: { commit: "d".repeat(40) } });
  await w.look();
  assert.equal(api.ready.reason, "RepositoryNotFound");
});

test("a commit that is not there fails with the mend", async (w) => {
  const { git, api } = w;
  await git.commit({ a: "1" });
  api.put({ url: git.url, ref: { commit: "d".repeat(40) } });
  await w.look();
  assert.equal(api.ready.reason, "RefNotFound");
  assert.match(api.ready.message, /mend spec\.ref/);
});

test("include and exclude decide what is taken, and a change of them fetches again", async (w) => {
  const { git, api } = w;
  await git.commit({ "apps/a.yaml": "a", "apps/secret.yaml": "s", "README.md": "r" });
  api.put({ url: git.url, include: ["apps"] });
  await w.look();
  assert.deepEqual(Object.keys(await w.files()), ["apps/a.yaml", "apps/secret.yaml"]);
  api.put({ url: git.url, include: ["apps"], exclude: ["secret*"] });
  await w.look();
  assert.deepEqual(Object.keys(await w.files()), ["apps/a.yaml"]);
});

test("a failure after a changed spec does not make the old artifact count as current", async (w) => {
  const { git, api } = w;
  await git.commit({ a: "1", b: "2" });
  api.put({ url: git.url });
  await w.look();
  api.put({ url: git.url + "x", exclude: ["b"] });
  await w.look();
  assert.equal(api.ready.reason, "RepositoryNotFound");
  assert.deepEqual(Object.keys(await w.files()), ["a", "b"], "the artifact stays");
  const { spec } = api.repositories.get("t/r")!;
  spec.url = git.url;
  await w.look();
  assert.deepEqual(Object.keys(await w.files()), ["a"]);
});

test("C28: a link out of the tree is in the artifact and never read; hooks and filters do not run", async (w) => {
  const { git, api } = w;
  const mark = join(git.folder, "ran");
  await git.commit({
    "chart/values.yaml": "-> ../../../../etc/passwd",
    "chart/ok.yaml": "-> real.yaml",
    "chart/real.yaml": "ok",
    ".gitattributes": "* filter=evil text eol=crlf\n",
    ".gitmodules": `[submodule "x"]\n\tpath = x\n\turl = file:///etc\n\tupdate = !touch ${mark}\n`,
  });
  api.put({ url: git.url });
  await w.look();
  const got = await w.files();
  assert.match(got["chart/values.yaml"]!, /^! .*"chart\/values\.yaml": the link leaves the root/);
  assert.equal(got["chart/ok.yaml"], "ok");
  assert.equal(got[".gitattributes"], "* filter=evil text eol=crlf\n");
  await assert.rejects(Deno.stat(mark));
});

test("an artifact that is gone from this disk is fetched again without a write", async (w) => {
  const { git, api, clock, store } = w;
  await git.commit({ a: "1" });
  api.put({ url: git.url });
  await w.look();
  await clock.advance(3_600_000);
  await store.prune(new Set());
  assert.equal(await store.has(api.status.artifact!.digest), false);
  await w.look();
  assert.equal(await store.has(api.status.artifact!.digest), true);
  assert.equal(api.writes, 1);
});

test("failures are told with reason and mend, retried sooner, and written and reported once", async (w) => {
  const { git, api } = w;
  await git.commit({ a: "1" });
  api.put({ url: git.url, ref: { branch: "nope" }, interval: "1h" });
  assert.deepEqual([await w.look(), await w.look(), await w.look()], [10_000, 20_000, 40_000]);
  assert.equal(api.ready.reason, "RefNotFound");
  assert.match(api.ready.message, /the branch "nope"; push it or mend spec\.ref\.branch/);
  assert.equal(api.writes, 1);
  assert.equal(api.events.length, 1);
  api.put({ url: git.url, ref: { branch: "main" }, interval: "1h" });
  assert.equal(await w.look(), 3_600_000);
  assert.equal(api.ready.status, "True");
});

test("bad addresses, Secrets and unsupported fields are told", async (w) => {
  const { git, api } = w;
  const reason = async (spec: Parameters<FakeApi["put"]>[0]) => {
    api.put(spec);
    await w.look();
    assert.equal(api.ready.status, "False");
    return `${api.ready.reason}: ${api.ready.message}`;
  };
  assert.match(await reason({ url: "https://user:hunter2@127.0.0.1/x" }), /^InvalidURL: .*secretRef/);
  assert.match(await reason({ url: git.url, secretRef: { name: "gone" } }), /^SecretMissing: .*t\/gone.*create it/);
  assert.match(await reason({ url: "git@127.0.0.1:x" }), /^SecretMissing: .*identity and known_hosts/);
  api.putSecret("s", { password: "hunter2", username: "a:b", identity: "hunter2", known_hosts: " " });
  assert.match(await reason({ url: "git@127.0.0.1:x", secretRef: { name: "s" } }), /^SecretMissing: .*"known_hosts"/);
  assert.match(
    await reason({ url: "http://127.0.0.1:1/x", secretRef: { name: "s" } }),
    /^SecretInvalid: .*"username" has a colon/,
  );
  api.putSecret("s", { bearerToken: "hunter2\r\nX-Evil: 1" });
  assert.match(
    await reason({ url: "http://127.0.0.1:1/x", secretRef: { name: "s" } }),
    /^SecretInvalid: .*"bearerToken"/,
  );
  api.putSecret("s", { other: "x" });
  assert.match(await reason({ url: "http://127.0.0.1:1/x", secretRef: { name: "s" } }), /^SecretMissing: .*neither/);
  assert.match(await reason({ url: "http://127.0.0.1:1/x" }), /^HostUnreachable: .*127\.0\.0\.1:1/);
  assert.match(await reason({ url: git.url, include: ["!x"] }), /^InvalidPattern/);
  assert.match(await reason({ url: git.url, verify: { secretRef: { name: "k" } } }), /^Unsupported: .*take it out/);
  assert.doesNotMatch(api.told.replaceAll("https://user:hunter2@", ""), /hunter2/);
});

test("suspended and deleted repositories are left alone", async (w) => {
  const { git, api } = w;
  api.put({ url: git.url, suspend: true });
  assert.equal(await w.look(), "change");
  api.repositories.clear();
  assert.equal(await w.look(), "change");
  assert.equal(api.writes, 0);
});

test("a repository that is too large is refused by what is too much", async (w) => {
  const { git, api } = w;
  await git.commit({ "big.bin": "x".repeat(2000), a: "1" });
  api.put({ url: git.url });
  await w.look();
  assert.equal(api.ready.reason, "TooLarge");
  assert.match(api.ready.message, /"big\.bin" has 2000 bytes, at most 1000 .*spec\.exclude/);
  api.put({ url: git.url, exclude: ["*.bin"] });
  await w.look();
  assert.equal(api.ready.status, "True");
}, { fileBytes: 1000 });

test("a data folder that cannot be used is told, and the next look after it is mended succeeds", async (w) => {
  await w.git.commit({ a: "1" });
  await mkdir(join(w.git.folder, "data"));
  await writeFile(join(w.git.folder, "data", "artifacts"), "in the way");
  w.api.put({ url: w.git.url });
  assert.equal(await w.look(), 10_000);
  assert.match(w.api.ready.message, /data folder of Convoy cannot be used \(E[A-Z]+\)/);
  await rm(join(w.git.folder, "data", "artifacts"));
  await w.look();
  assert.equal(w.api.ready.status, "True");
});

Deno.test("a repository with SHA-256 object names is fetched too", async () => {
  await using git = await GitFixture.make("sha256");
  const w = new World(git);
  const commit = await git.commit({ a: "1" });
  w.api.put({ url: git.url, ref: { branch: "main" } });
  await w.look();
  assert.equal(commit.length, 64);
  assert.equal(w.api.status.artifact?.revision, `main@sha256:${commit}`, w.api.ready.message);
  assert.deepEqual(await w.files(), { a: "1" });
});

/** GitRepositories over http(s): real `git http-backend`, with what real servers do before it. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { GitFixture } from "../../controllers/sources/gitrepository/testing/fixture.ts";
import { World } from "../../controllers/sources/gitrepository/testing/world.ts";
import { type GitHttp, startGitHttp } from "../kit/git_http.ts";
import { type Before, startProxy } from "./git_proxy.ts";

const LOGIN = { username: "robot", password: "pässw0rd-hunter2" };
const AUTH = { user: LOGIN.username, password: "hunter2" };

function test(
  name: string,
  run: (w: World, http: GitHttp) => Promise<void>,
  o: { auth?: { user: string; password: string }; limits?: Record<string, number> } = {},
): void {
  Deno.test(`gitrepository over http: ${name}`, async () => {
    await using git = await GitFixture.make();
    const http = await startGitHttp(git.folder, o.auth);
    try {
      await run(new World(git, o.limits, false), http);
    } finally {
      await http.close();
    }
  });
}

/** Command lines and environments of all git processes that run now. */
function gitProcesses(): string {
  let out = "";
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const command = Deno.readTextFileSync(`/proc/${name}/cmdline`);
      if (command.includes("git")) out += `${command}\n${Deno.readTextFileSync(`/proc/${name}/environ`)}\n`;
    } catch {
      // It has ended meanwhile.
    }
  }
  return out;
}

test("a new commit is fetched; while nothing is new, nothing is fetched and nothing written", async (w, http) => {
  await w.git.commit({ "a.yaml": "a: 1\n" });
  w.api.put({ url: `${http.url}/repo.git`, ref: { branch: "main" } });
  await w.look();
  assert.deepEqual(await w.files(), { "a.yaml": "a: 1\n" });
  http.requests.splice(0);
  await w.look();
  assert.equal(
    http.requests.filter((r) => r.endsWith("/git-upload-pack")).length,
    1,
    "only the list of refs was asked for",
  );
  assert.equal(w.api.writes, 1);
  const commit = await w.git.commit({ "a.yaml": "a: 2\n" });
  await w.look();
  assert.equal(w.api.status.artifact!.revision, `main@sha1:${commit}`);
  assert.deepEqual(w.api.events.map((e) => e.split(" ")[1]), ["NewArtifact", "NewArtifact"]);
});

test("force push, moved tag, versions and a commit by its name", async (w, http) => {
  const url = `${http.url}/repo.git`;
  const first = await w.git.commit({ a: "0" });
  await w.git.git("tag", "-a", "-m", "x", "v1.0.0");
  await w.git.commit({ a: "1" }, "HEAD:main", "v1.0.0");
  w.api.put({ url, ref: { branch: "main" } });
  await w.look();
  await w.git.git("reset", "-q", "--hard", "HEAD~1");
  await w.git.commit({ a: "2" });
  await w.look();
  assert.ok(w.api.events.some((e) => e.startsWith("Warning ForcePushed The branch main")), w.api.events.join("\n"));

  w.api.put({ url, ref: { semver: "1.x" } });
  await w.look();
  assert.equal(w.api.status.artifact!.revision, `v1.0.0@sha1:${first}`);
  await w.git.git("tag", "-f", "v1.0.0");
  await w.git.git("push", "-q", "-f", "origin", "v1.0.0");
  await w.look();
  assert.ok(w.api.events.some((e) => e.startsWith("Warning TagMoved The tag v1.0.0")), w.api.events.join("\n"));

  w.api.put({ url, ref: { commit: first } });
  await w.look();
  assert.deepEqual(await w.files(), { a: "0" });
});

test("a branch, a repository and a host that are not there are told apart", async (w, http) => {
  await w.git.commit({ a: "1" });
  const reason = async (url: string, branch = "main") => {
    w.api.put({ url, ref: { branch } });
    await w.look();
    return w.api.ready.reason;
  };
  assert.equal(await reason(`${http.url}/repo.git`, "nope"), "RefNotFound");
  assert.equal(await reason(`${http.url}/other.git`), "RepositoryNotFound");
  assert.equal(await reason("http://127.0.0.1:1/repo.git"), "HostUnreachable");
  assert.equal(await reason(`${http.url}/repo.git`), "Succeeded");
});

test("user and password work; wrong or missing ones are told; none of them is ever seen", async (w, http) => {
  await w.git.commit({ a: "1" });
  let seen = "";
  const before: Before = () => (seen += gitProcesses(), false);
  await using proxy = await startProxy(http.url, { before });
  w.api.putSecret("s", { username: AUTH.user, password: `${AUTH.password}\n` });
  w.api.put({ url: `${proxy.url}/repo.git`, secretRef: { name: "s" } });
  await w.look();
  assert.equal(w.api.ready.status, "True", w.api.ready.message);
  assert.match(seen, /upload-pack|remote-http/);
  w.api.putSecret("s", { username: AUTH.user, password: "wrong-hunter2" });
  await w.git.commit({ a: "2" });
  await w.look();
  assert.equal(w.api.ready.reason, "AuthFailed");
  assert.match(w.api.ready.message, /spec\.secretRef/);
  w.api.put({ url: `${proxy.url}/repo.git` });
  await w.look();
  assert.equal(w.api.ready.reason, "AuthFailed");
  for (const secret of ["hunter2", btoa(`${AUTH.user}:hunter2`), btoa(`${AUTH.user}:wrong-hunter2`)]) {
    assert.ok(!seen.includes(secret) && !w.api.told.includes(secret));
  }
}, { auth: AUTH });

test("a bearer token works", async (w, http) => {
  await w.git.commit({ a: "1" });
  const before: Before = (request, response) => {
    const right = request.headers.authorization === "Bearer t0ken.x-y_z==";
    if (!right) response.writeHead(401, { "www-authenticate": "Bearer" }).end();
    return !right;
  };
  await using proxy = await startProxy(http.url, { before });
  w.api.putSecret("s", { bearerToken: "t0ken.x-y_z==" });
  w.api.put({ url: `${proxy.url}/repo.git`, secretRef: { name: "s" } });
  await w.look();
  assert.equal(w.api.ready.status, "True", w.api.ready.message);
  w.api.putSecret("s", { bearerToken: "other" });
  await w.git.commit({ a: "2" });
  await w.look();
  assert.equal(w.api.ready.reason, "AuthFailed");
});

test("a redirect is followed without credentials, and never with them", async (w, http) => {
  await w.git.commit({ a: "1" });
  const headers: (string | undefined)[] = [];
  await using goal = await startProxy(http.url, { before: (r) => (headers.push(r.headers.authorization), false) });
  const redirect: Before = (request, response) => {
    response.writeHead(301, { location: `${goal.url}${request.url?.replace("/old", "/repo.git")}` }).end();
    return true;
  };
  await using door = await startProxy(http.url, { before: redirect });
  w.api.put({ url: `${door.url}/old` });
  await w.look();
  assert.equal(w.api.ready.status, "True", w.api.ready.message);
  assert.ok(headers.length > 0);
  headers.length = 0;
  w.api.putSecret("s", LOGIN);
  w.api.put({ url: `${door.url}/old`, secretRef: { name: "s" } });
  await w.look();
  assert.equal(w.api.ready.status, "False");
  assert.match(w.api.ready.message, /redirects to another address; put the final address into spec\.url/);
  assert.deepEqual(headers, []);
});

test("a certificate is checked, by the authority in the Secret when it names one", async (w, http) => {
  await w.git.commit({ a: "1" });
  const [keyFile, certFile] = [join(w.git.folder, "k.pem"), join(w.git.folder, "c.pem")];
  const name = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"];
  const made = await new Deno.Command("openssl", {
    args: ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", keyFile, "-out", certFile, ...name],
    stderr: "null",
    stdout: "null",
  }).output();
  assert.ok(made.success);
  const [key, cert] = [await Deno.readTextFile(keyFile), await Deno.readTextFile(certFile)];
  await using proxy = await startProxy(http.url, { tls: { key, cert } });
  w.api.put({ url: `${proxy.url}/repo.git` });
  await w.look();
  assert.equal(w.api.ready.reason, "CertificateInvalid");
  assert.match(w.api.ready.message, /ca\.crt/);
  w.api.putSecret("s", { "ca.crt": cert });
  w.api.put({ url: `${proxy.url}/repo.git`, secretRef: { name: "s" } });
  await w.look();
  assert.equal(w.api.ready.status, "True", w.api.ready.message);
});

test("a server that does not answer ends at spec.timeout, and its git with it", async (w, http) => {
  await w.git.commit({ a: "1" });
  const asked = Promise.withResolvers<void>();
  await using proxy = await startProxy(http.url, { before: () => (asked.resolve(), true) });
  w.api.put({ url: `${proxy.url}/repo.git`, timeout: "30s" });
  const look = w.look();
  await asked.promise;
  await w.clock.advance(30_000);
  await look;
  assert.equal(w.api.ready.reason, "Timeout");
  assert.match(w.api.ready.message, /spec\.timeout \(30s\)/);
  assert.ok(!gitProcesses().includes(`${proxy.port}/repo.git`), "no git is left");
});

test("a huge repository is stopped while it comes, also by a server that then stalls", async (w, http) => {
  await w.git.commit({ big: randomBytes(3_000_000).toString("latin1"), a: "1" });
  await using proxy = await startProxy(http.url, { stallAfter: 2_000_000 });
  w.api.put({ url: `${proxy.url}/repo.git` });
  await w.look();
  assert.equal(w.api.ready.reason, "TooLarge", w.api.ready.message);
  assert.match(w.api.ready.message, /more than 1 MiB/);
  assert.equal(w.api.status.artifact, undefined);
}, { limits: { packBytes: 2 ** 20, watchMs: 20 } });

test("a list of refs without end is stopped", async (w, http) => {
  await w.git.commit({ a: "1" });
  for (let i = 0; i < 40; i++) await w.git.git("tag", `1.0.${i}`);
  await w.git.git("push", "-q", "--tags", "origin");
  w.api.put({ url: `${http.url}/repo.git`, ref: { semver: "1.x" } });
  await w.look();
  assert.equal(w.api.ready.reason, "TooLarge");
}, { limits: { refBytes: 1000 } });

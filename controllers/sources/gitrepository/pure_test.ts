import assert from "node:assert/strict";
import { parseAddress } from "./address.ts";
import { classify, GitFailure } from "./failure.ts";
import { pathFilter } from "./globs.ts";
import { parseRevision, pickRef, refPatterns, type RefSpec, revisionOf } from "./remote_refs.ts";
import { tagsInRange } from "./versions.ts";

const failed = (reason: string, message = /./) => (e: unknown) =>
  e instanceof GitFailure && e.reason === reason && message.test(e.message);

Deno.test("parseAddress() takes https, http, ssh and user@host:path, and file only when allowed", () => {
  const parse = (url: string, allowFile = false) => parseAddress(url, { allowFile });
  assert.deepEqual(parse("https://h:8443/a/b.git"), {
    url: "https://h:8443/a/b.git",
    protocol: "https",
    host: "h:8443",
  });
  assert.equal(parse("http://h/a").protocol, "http");
  assert.equal(parse("ssh://git@h:22/a").host, "h:22");
  assert.deepEqual(parse("git@h.example:org/a.git"), {
    url: "git@h.example:org/a.git",
    protocol: "ssh",
    host: "h.example",
  });
  assert.equal(parse("file:///srv/a", true).protocol, "file");
  assert.throws(() => parse("file:///srv/a"), failed("InvalidURL", /not allowed/));
});

Deno.test("parseAddress() refuses what git could take for an option, a helper or a secret", () => {
  const bad = [
    "--upload-pack=touch /tmp/x",
    "-oProxyCommand=x:y",
    "git@-oProxyCommand=x:y",
    "ssh://-oProxyCommand=x/y",
    "ext::sh -c touch",
    "ext::x",
    "fd::17",
    "git://h/x",
    "ftp://h/x",
    "/srv/repo",
    "https://h/a\n",
    "https:///x",
    "https://h\\@evil/x",
    "ssh://h\\x/y",
    "a::b@h:x",
    "git@h::x",
    "nothing",
  ];
  for (const url of bad) assert.throws(() => parseAddress(url, { allowFile: true }), failed("InvalidURL"), url);
  for (const url of ["https://user:hunter2@h/x", "https://hunter2@h/x", "ssh://git:hunter2@h/x"]) {
    assert.throws(() => parseAddress(url, { allowFile: true }), failed("InvalidURL", /secretRef/));
    assert.throws(() => parseAddress(url, { allowFile: true }), (e: Error) => !e.message.includes("hunter2"));
  }
});

Deno.test("refPatterns() asks for one name and refuses what is none", () => {
  assert.deepEqual(refPatterns({}), ["HEAD"]);
  assert.deepEqual(refPatterns({ branch: "a/b" }), ["refs/heads/a/b"]);
  assert.deepEqual(refPatterns({ tag: "v1" }), ["refs/tags/v1", "refs/tags/v1^{}"]);
  assert.equal(refPatterns({ commit: "a".repeat(40) }), undefined);
  for (const branch of ["-x", "a..b", "a b", "a*", "a:b", "/a", "a/", "a.lock", "a@{1}", "", "a\nb", ".a", "a~1"]) {
    assert.throws(() => refPatterns({ branch }), failed("InvalidRef", /spec\.ref\.branch/), branch);
  }
});

const c = (n: number) => String(n).repeat(40);
const REMOTE = [
  `ref: refs/heads/main\tHEAD`,
  `${c(9)}\tHEAD`,
  `${c(9)}\trefs/heads/main`,
  `${c(1)}\trefs/tags/1.2`,
  `${c(7)}\trefs/tags/1.2.5`,
  `${c(2)}\trefs/tags/1.2.5^{}`,
  `${c(3)}\trefs/tags/2.0.0-rc.1`,
  `${c(4)}\trefs/tags/3.0.0+b1`,
  `${c(5)}\trefs/tags/3.0.0+b2`,
  `${c(8)}\trefs/tags/nightly`,
].join("\n");
const pick = (ref: RefSpec) => pickRef(ref, REMOTE);

Deno.test("C27: an exact tag wins, also over a range that reads the same", () => {
  assert.deepEqual(pick({ tag: "1.2" }).map((r) => r.commit), [c(1)]);
  assert.deepEqual(pick({ semver: "1.2" }).map((r) => r.commit), [c(1)]);
});

Deno.test("C27: a range means the highest version, peeled to its commit", () => {
  assert.deepEqual(pick({ semver: "1.2.x" }), [{ name: "1.2.5", ref: "refs/tags/1.2.5", commit: c(2) }]);
  assert.deepEqual(pick({ tag: "1.2.5" }).map((r) => r.commit), [c(2)]);
});

Deno.test("C27: pre-releases count only when the range names one", () => {
  assert.throws(() => pick({ semver: ">=1.3.0 <3.0.0" }), failed("RefNotFound", /pre-releases count only/));
  assert.deepEqual(pick({ semver: ">=1.3.0-0 <3.0.0" }).map((r) => r.commit), [c(3)]);
});

Deno.test("C27: versions that differ in build data only are all candidates", () => {
  assert.deepEqual(pick({ semver: "3.x" }).map((r) => r.name), ["3.0.0+b1", "3.0.0+b2"]);
});

Deno.test("tagsInRange() reads v-prefixes, short versions, commas and alternatives", () => {
  const tags = ["v1.0.0", "v1.5", "v2", "2.1.0", "1.5.0-beta", "x"].map((name) => ({ name, commit: name }));
  const best = (range: string) => tagsInRange(tags, range)?.map((t) => t.name);
  assert.deepEqual(best("^1.0.0"), ["v1.5"]);
  assert.deepEqual(best(">=1.0.0, <2.1"), ["v2"]);
  assert.deepEqual(best("0.x || ~2.1"), ["2.1.0"]);
  assert.deepEqual(best("*"), ["2.1.0"]);
  assert.deepEqual(best("x"), ["x"]);
  assert.deepEqual(best("9.x"), []);
  assert.equal(best("not a range"), undefined);
});

Deno.test("pickRef() follows HEAD, and tells what is missing", () => {
  assert.deepEqual(pick({}), [{ name: "main", ref: "refs/heads/main", commit: c(9) }]);
  assert.deepEqual(pickRef({}, `${c(9)}\tHEAD`), [{ name: "HEAD", ref: "HEAD", commit: c(9) }]);
  assert.throws(() => pickRef({}, ""), failed("RefNotFound", /push a first commit/));
  assert.throws(() => pick({ branch: "prod" }), failed("RefNotFound", /"prod"; push it or mend spec\.ref\.branch/));
  assert.throws(() => pick({ tag: "v9" }), failed("RefNotFound", /spec\.ref\.tag/));
  assert.throws(() => pick({ semver: "not a range" }), failed("InvalidRef"));
});

Deno.test("revisionOf() and parseRevision() are each other's reverse", () => {
  for (
    const one of [{ name: "a@b", commit: c(1) }, { name: "", commit: c(2) }, { name: "main", commit: "f".repeat(64) }]
  ) {
    assert.deepEqual(parseRevision(revisionOf(one)), one);
  }
  assert.equal(revisionOf({ name: "main", commit: c(1) }), `main@sha1:${c(1)}`);
});

Deno.test("pathFilter() reads patterns as .gitignore does", () => {
  const takes = (path: string, include: string[], exclude: string[] = []) => pathFilter(include, exclude)(path);
  assert.ok(takes("a/b", []));
  assert.ok(takes("deep/x.yaml", ["*.yaml"]));
  assert.ok(!takes("x.yml", ["*.yaml"]));
  assert.ok(takes("apps/web/x", ["apps"]) && takes("apps/web/x", ["/apps/"]) && takes("apps/web/x", ["apps/*/x"]));
  assert.ok(!takes("deep/apps/x", ["/apps"]) && takes("deep/apps/x", ["apps"]) && !takes("apps", ["apps/"]));
  assert.ok(takes("a/b/c/d", ["a/**/d"]) && takes("a/d", ["a/**/d"]) && takes("x/y", ["**"]) && takes("q/z", ["**/z"]));
  assert.ok(takes("a1", ["a[0-9]"]) && !takes("ab", ["a[!a-z]"]) && takes("a?", ["a\\?"]) && !takes("a.b", ["a?b/"]));
  assert.ok(!takes("a/secret.yaml", ["a"], ["secret*"]) && takes("a/x.yaml", ["a"], ["secret*"]));
  assert.ok(!takes("a+b(c", [], ["a+b(c"]));
  assert.throws(() => pathFilter(["!a"]), failed("InvalidPattern", /spec\.include/));
  assert.throws(() => pathFilter([], [""]), failed("InvalidPattern", /spec\.exclude/));
});

Deno.test("pathFilter() is fast for patterns that make backtracking slow", () => {
  const filter = pathFilter([`${"**/a*".repeat(30)}b`, `${"*a".repeat(200)}`]);
  assert.equal(filter(`${"a".repeat(3000)}c`), false);
});

Deno.test("classify() sorts git's words and names the mend", () => {
  const words: [string, string, RegExp][] = [
    ["fatal: Authentication failed for 'http://h/x/'", "AuthFailed", /spec\.secretRef/],
    ["fatal: could not read Username for 'https://h': terminal prompts disabled", "AuthFailed", /Secret/],
    ["fatal: unable to access 'https://h/': The requested URL returned error: 403", "AuthFailed", /h:1/],
    ["git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.", "AuthFailed", /Secret/],
    ["Host key verification failed.\nfatal: Could not read from remote repository.", "HostKeyUnknown", /known_hosts/],
    ["fatal: unable to access 'https://h/': Could not resolve host: h", "HostUnreachable", /DNS/],
    [
      "fatal: unable to access 'http://h/': Failed to connect to h port 1: Connection refused",
      "HostUnreachable",
      /h:1/,
    ],
    [
      "fatal: unable to access 'https://h/': SSL certificate problem: self-signed certificate",
      "CertificateInvalid",
      /ca\.crt/,
    ],
    ["fatal: repository 'http://h/x/' not found", "RepositoryNotFound", /spec\.url/],
    ["fatal: couldn't find remote ref refs/heads/x", "RefNotFound", /spec\.ref/],
    ["fatal: unable to access 'https://h/x/': The requested URL returned error: 301", "FetchFailed", /spec\.url/],
    ["fatal: unable to access 'https://h/certificate/': Could not resolve host: h", "HostUnreachable", /h:1/],
    ["fatal: something\u0007 new", "FetchFailed", /fatal: something {2}?new|fatal: something/],
  ];
  for (const [stderr, reason, message] of words) assert.ok(failed(reason, message)(classify(stderr, "h:1")), stderr);
});

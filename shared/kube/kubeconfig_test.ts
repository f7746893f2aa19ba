import assert from "node:assert/strict";
import fc from "fast-check";
import { KubeconfigError, parseKubeconfig } from "./mod.ts";

const SECRET = "s3cr3t-t0ken";
const CA = btoa("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
const KEY = btoa("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");

function config(cluster: object = {}, user: object = { token: SECRET }, root: object = {}): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "k", user: "u", namespace: "team" } }],
    clusters: [{ name: "k", cluster: { server: "https://api.example:6443/prefix", ...cluster } }],
    users: [{ name: "u", user }],
    ...root,
  });
}
const parse = (text: string, options = {}) =>
  parseKubeconfig(text, { label: 'Secret a/b, key "kubeconfig"', ...options });

Deno.test("parseKubeconfig() reads the current context", () => {
  const text = config({ "certificate-authority-data": CA, "tls-server-name": "inner.example" }, {
    "client-certificate-data": CA,
    "client-key-data": KEY,
    as: "bot",
    "as-groups": ["g"],
  });
  const got = parse(text);
  assert.equal(got.server, "https://api.example:6443/prefix");
  assert.equal(got.namespace, "team");
  assert.deepEqual(got.tls, { ca: { pem: atob(CA) }, serverName: "inner.example" });
  assert.deepEqual(got.user, {
    cert: { pem: atob(CA) },
    key: { pem: atob(KEY) },
    impersonate: { user: "bot", groups: ["g"] },
  });
});

Deno.test("parseKubeconfig() reads YAML, another context, a user without anything", () => {
  const text = `
clusters:
- {name: k, cluster: {server: "http://h"}}
- {name: other, cluster: {server: "https://o", insecure-skip-tls-verify: true}}
users: [{name: u, user: }]
contexts:
- {name: c, context: {cluster: k, user: u}}
- {name: d, context: {cluster: other}}
`;
  assert.equal(parse(text, { context: "c" }).server, "http://h");
  const other = parse(text, { context: "d" });
  assert.deepEqual(other, { server: "https://o", tls: { insecure: true }, user: {} });
  assert.throws(() => parse(text), /no current-context; set "current-context"/);
});

const REFUSED: [string, string, RegExp][] = [
  ["nothing", "", /it is empty/],
  ["a text", `just ${SECRET}`, /it is not a kubeconfig; copy a whole kubeconfig/],
  ["a list", "[1, 2]", /it is not a kubeconfig/],
  ["broken YAML", `a: b\n  c: "${SECRET}\nd`, /it is not YAML \(line \d+, column \d+: [A-Z_]+\)/],
  ["base64 of a kubeconfig", btoa(config()), /base64-encoded twice/],
  ["another kind", JSON.stringify({ kind: "Secret", data: { a: SECRET } }), /its kind is not "Config"/],
  ["no clusters", "{}", /no list "clusters"/],
  ["an unknown context", config({}, {}, { "current-context": "z" }), /no context named "z"/],
  ["an unknown cluster", config({}, {}, { clusters: [] }), /no cluster named "k"/],
  ["an unknown user", config({}, {}, { users: [] }), /no user named "u"/],
  ["no server", config({ server: "" }), /cluster "k" has no server/],
  ["a server that is no address", config({ server: `//${SECRET}` }), /not an http or https address/],
  ["a password in the address", config({ server: `https://a:${SECRET}@h` }), /user or password in it; use a token/],
  ["a proxy", config({ "proxy-url": `http://${SECRET}` }), /proxy-url, which Convoy does not support/],
  ["basic auth", config({}, { username: "a", password: SECRET }), /username and password.*use a token/],
  [
    "an auth-provider",
    config({}, { "auth-provider": { name: SECRET } }),
    /auth-provider, which Kubernetes has removed/,
  ],
  ["a program", config({}, { exec: { command: SECRET } }), /not allowed here; allow it with --allow-exec-plugins/],
  ["a file", config({}, { tokenFile: "/var/run/secrets/x" }), /names a file \(tokenFile\).*--flatten/],
  [
    "a CA that is not base64",
    config({ "certificate-authority-data": "%%" }),
    /authority-data of cluster "k" is not base64/,
  ],
  ["a CA that is not PEM", config({ "certificate-authority-data": btoa(SECRET) }), /is not a PEM certificate/],
  ["a certificate without key", config({}, { "client-certificate-data": CA }), /without its key; add client-key-data/],
  ["a key without certificate", config({}, { "client-key-data": KEY }), /without its certificate/],
  ["both trust and none", config({ "insecure-skip-tls-verify": true, "certificate-authority-data": CA }), /remove one/],
  ["a token with a line in it", config({}, { token: `${SECRET}\nx` }), /spaces or unprintable marks/],
];
for (const [name, text, message] of REFUSED) {
  Deno.test(`parseKubeconfig() refuses ${name}, names the place and quotes nothing`, () => {
    assert.throws(() => parse(text), (error: unknown) => {
      assert(error instanceof KubeconfigError, String(error));
      assert.match(error.message, message);
      assert(error.message.startsWith('Cannot use the kubeconfig in Secret a/b, key "kubeconfig": '));
      assert(!error.message.includes(SECRET) && !String(error.cause ?? "").includes(SECRET));
      return true;
    });
  });
}

Deno.test("parseKubeconfig() never fails with anything but a KubeconfigError", () => {
  fc.assert(fc.property(
    fc.oneof(fc.string(), fc.json(), fc.object().map((o) => config(o, o)), fc.object().map((o) => config({}, o, o))),
    (text) => {
      try {
        parse(text, { allowExec: true, allowFiles: true });
      } catch (error) {
        assert(error instanceof KubeconfigError, String(error));
      }
    },
  ));
});

Deno.test("parseKubeconfig() reads exec where it is allowed", () => {
  const exec = {
    apiVersion: "client.authentication.k8s.io/v1",
    command: "./bin/get-token",
    args: ["--a", 1],
    env: [{ name: "X", value: "y" }],
    interactiveMode: "IfAvailable",
    installHint: "install it",
  };
  const got = parse(config({}, { exec }), { allowExec: true, baseDir: "/home/me" });
  assert.deepEqual(got.user.exec, {
    apiVersion: "client.authentication.k8s.io/v1",
    command: "/home/me/bin/get-token",
    args: ["--a", "1"],
    env: { X: "y" },
    provideClusterInfo: false,
    installHint: "install it",
  });
  const never = { ...exec, interactiveMode: "Always" };
  assert.throws(() => parse(config({}, { exec: never }), { allowExec: true }), /wants a terminal/);
  const old = { ...exec, apiVersion: "client.authentication.k8s.io/v1alpha1" };
  assert.throws(() => parse(config({}, { exec: old }), { allowExec: true }), /neither .*v1 nor …\/v1beta1/);
});

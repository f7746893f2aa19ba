import assert from "node:assert/strict";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { rename, rm, writeFile } from "node:fs/promises";
import { FakeClock } from "../runtime/clock.ts";
import {
  KubeconfigError,
  kubeconfigFileTransport,
  kubeconfigTransport,
  type Transport,
  TransportError,
} from "./mod.ts";
import { inClusterTransport } from "./connect.ts";
import { execCredentials, type ExecSpec } from "./exec_plugin.ts";

/** A server that answers each request with its headers. */
async function mirror() {
  const server = http.createServer((request, response) => {
    request.resume();
    response.end(JSON.stringify({ url: request.url, headers: request.headers }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function ask(transport: Transport): Promise<{ url: string; headers: Record<string, string> }> {
  return JSON.parse(await (await transport.request({ method: "GET", path: "/version" })).text());
}

const config = (server: string, user: object) =>
  JSON.stringify({
    clusters: [{ name: "k", cluster: { server } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
    "current-context": "c",
  });

Deno.test("kubeconfigTransport() sends the token, impersonates, and keeps the path of the server", async () => {
  await using server = await mirror();
  const transport = kubeconfigTransport(config(server.url + "/k8s/", { token: "t\n", as: "bot", "as-groups": ["g"] }), {
    label: "x",
  });
  const { url, headers } = await ask(transport);
  assert.equal(url, "/k8s/version");
  assert.equal(headers.authorization, "Bearer t");
  assert.equal(headers["impersonate-user"], "bot");
  assert.equal(headers["impersonate-group"], "g");
  transport.close();
});

Deno.test("kubeconfigFileTransport() reads a token file beside it, and again when it is rotated", async () => {
  await using server = await mirror();
  const dir = await Deno.makeTempDir();
  const clock = new FakeClock();
  try {
    await writeFile(`${dir}/token`, "one\n");
    await writeFile(`${dir}/config`, config(server.url, { token: "no", tokenFile: "token" }));
    const transport = await kubeconfigFileTransport(`${dir}/config`, { clock });
    assert.equal((await ask(transport)).headers.authorization, "Bearer one");
    await writeFile(`${dir}/next`, "two");
    await rename(`${dir}/next`, `${dir}/token`);
    await clock.advance(10_001);
    assert.equal((await ask(transport)).headers.authorization, "Bearer two");
    await rm(`${dir}/token`);
    await clock.advance(10_001);
    assert.equal((await ask(transport)).headers.authorization, "Bearer two");
    transport.close();
    await assert.rejects(kubeconfigFileTransport(`${dir}/none`), /Cannot read the kubeconfig .*none: ENOENT/);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("inClusterTransport() takes address, token and authority from the pod; outside it says so", async () => {
  const dir = await Deno.makeTempDir();
  try {
    await writeFile(`${dir}/ca.crt`, "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n");
    await writeFile(`${dir}/token`, "t");
    const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
    const transport = inClusterTransport({ env, folder: dir });
    assert.equal(transport.server, "https://[fd00::1]");
    transport.close();
    assert.throws(() => inClusterTransport({ env: {}, folder: dir }), (error: unknown) => {
      return error instanceof KubeconfigError && /run in a pod, or use a kubeconfig/.test(error.message);
    });
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

const SPEC: ExecSpec = {
  apiVersion: "client.authentication.k8s.io/v1beta1",
  command: "get-token",
  args: ["x"],
  env: { A: "b" },
  provideClusterInfo: true,
  installHint: "Install get-token",
};

Deno.test("execCredentials() runs the program once, keeps its answer until it expires or is refused", async () => {
  const clock = new FakeClock();
  const runs: { args: string[]; info: { spec: { cluster: { server: string } } } }[] = [];
  const source = execCredentials(SPEC, { server: "https://h" }, {
    clock,
    label: "x",
    run(command, args, env) {
      assert.equal(command, "get-token");
      assert.equal(env.A, "b");
      runs.push({ args, info: JSON.parse(env.KUBERNETES_EXEC_INFO!) });
      return Promise.resolve(JSON.stringify({
        apiVersion: SPEC.apiVersion,
        kind: "ExecCredential",
        status: { token: `t${runs.length}`, expirationTimestamp: new Date(clock.now() + 60_000).toISOString() },
      }));
    },
  });
  const both = await Promise.all([source.get(), source.get()]);
  assert.deepEqual(both, [{ authorization: "Bearer t1" }, { authorization: "Bearer t1" }]);
  assert.equal(runs[0]!.info.spec.cluster.server, "https://h");
  await clock.advance(59_999);
  assert.deepEqual(await source.get(), { authorization: "Bearer t1" });
  await clock.advance(1);
  assert.deepEqual(await source.get(), { authorization: "Bearer t2" });
  assert.equal(source.invalidate(), true);
  assert.deepEqual(await source.get(), { authorization: "Bearer t3" });
});

Deno.test("execCredentials() tells what is wrong and never what was printed", async () => {
  const secret = "s3cr3t";
  const answers: [string, RegExp][] = [
    [secret, /did not print JSON/],
    [JSON.stringify({ token: secret }), /did not print an ExecCredential/],
    [JSON.stringify({ kind: "ExecCredential", apiVersion: "x/v2", status: { token: secret } }), /apiVersion/],
    [
      JSON.stringify({ kind: "ExecCredential", apiVersion: SPEC.apiVersion, status: { clientKeyData: secret } }),
      /neither a token nor/,
    ],
  ];
  for (const [output, message] of answers) {
    const source = execCredentials(SPEC, { server: "https://h" }, {
      clock: new FakeClock(),
      label: "file x",
      run: () => Promise.resolve(output),
    });
    await assert.rejects(source.get(), (error: Error) => {
      assert(error instanceof TransportError);
      assert.match(error.message, message);
      assert.match(error.message, /^Cannot get credentials for file x from "get-token": /);
      assert(!error.message.includes(secret));
      return true;
    });
  }
});

Deno.test("execCredentials() with real programs: an answer, a failure, one that does not exist", async () => {
  const make = (command: string, args: string[]) =>
    execCredentials({ ...SPEC, command, args }, { server: "https://h" }, { clock: new FakeClock(), label: "x" });
  const answer = JSON.stringify({ apiVersion: SPEC.apiVersion, kind: "ExecCredential", status: { token: "real" } });
  assert.deepEqual(await make("/bin/echo", [answer]).get(), { authorization: "Bearer real" });
  await assert.rejects(make("/bin/sh", ["-c", "echo s3cr3t; exit 3"]).get(), (error: Error) => {
    return /it ended with code 3; Install get-token$/.test(error.message) && !error.message.includes("s3cr3t");
  });
  await assert.rejects(make("/no/such/program", []).get(), /there is no such program/);
});

Deno.test("kubeconfigTransport() names an authority file that cannot be read", () => {
  const text = config("https://h", {}).replace('"server"', '"certificate-authority":"/no/ca","server"');
  assert.throws(() => kubeconfigTransport(text, { label: "x", allowFiles: true }), /certificate-authority \/no\/ca/);
});

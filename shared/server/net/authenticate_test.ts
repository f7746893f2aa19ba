import assert from "node:assert/strict";
import { systemClock } from "../../runtime/clock.ts";
import type { Authorizer } from "../contract.ts";
import { makeCertificates } from "./certificates.ts";
import { ask, ask1, json, type Running, start } from "./test_kit.ts";

const whoAmI = { handle: ({ user }: { user: unknown }) => json(user) };

async function using(running: Promise<Running>, run: (r: Running) => Promise<void>): Promise<void> {
  const r = await running;
  try {
    await run(r);
  } finally {
    await r.close();
  }
}

Deno.test("serveHttps: no or wrong credentials are 401, and the handler is not asked", () =>
  using(start(whoAmI.handle), async (r) => {
    const session = r.h2();
    const bad = ["Bearer nope", "Bearer alice-token2", "Bearer alice-toke", "Basic YTpi", "Bearer", "Bearer a b"];
    for (const authorization of [undefined, ...bad]) {
      const answer = await ask(session, { ":path": "/api/v1/secrets", authorization });
      assert.equal(answer.status, 401, authorization);
      const status = JSON.parse(answer.body.toString());
      assert.deepEqual([status.kind, status.reason, status.message], ["Status", "Unauthorized", "Unauthorized"]);
    }
    assert.equal((await ask(session, { ":path": "/healthz", authorization: "Bearer nope" })).status, 401);
    assert.equal(r.asked.length, 0);
  }));

Deno.test("serveHttps: health and version are open, what only looks like them is not", () =>
  using(start(whoAmI.handle), async (r) => {
    const session = r.h2();
    for (const path of ["/healthz", "/readyz?verbose", "/livez/ping", "/version"]) {
      const answer = await ask(session, { ":path": path, authorization: undefined });
      assert.deepEqual(JSON.parse(answer.body.toString()), {
        name: "system:anonymous",
        groups: ["system:unauthenticated"],
      });
    }
    for (const path of ["/healthzz", "/api/healthz", "/version/x", "/metrics", "/"]) {
      assert.equal((await ask(session, { ":path": path, authorization: undefined })).status, 401, path);
    }
  }));

Deno.test("serveHttps: a client certificate gives CN as user and each O as group, on HTTP/2 and HTTP/1.1", () =>
  using(start(whoAmI.handle), async (r) => {
    const { certPem: cert, keyPem: key } = await r.certificates.issueClient("eve, of ops", ["a,b", "system:x"]);
    const wanted = { name: "eve, of ops", groups: ["a,b", "system:x", "system:authenticated"] };
    const two = await ask(r.h2({ cert, key }), { ":path": "/x", authorization: undefined });
    assert.deepEqual(JSON.parse(two.body.toString()), wanted);
    const one = await ask1(r, { path: "/x", cert, key, headers: { authorization: "" } });
    assert.deepEqual(JSON.parse(one.body.toString()), wanted);
    const both = await ask(r.h2({ cert, key }), { ":path": "/x", authorization: "Bearer nope" });
    assert.equal(both.status, 200, "one right credential is enough");
    const single = await r.certificates.issueClient("solo", ["one"]);
    const answer = await ask(r.h2({ cert: single.certPem, key: single.keyPem }), {
      ":path": "/x",
      authorization: undefined,
    });
    assert.deepEqual(JSON.parse(answer.body.toString()).groups, ["one", "system:authenticated"]);
  }));

Deno.test("serveHttps: certificates of another authority, expired, for servers, or without CN are 401", () =>
  using(start(whoAmI.handle), async (r) => {
    const other = await makeCertificates(["localhost"], systemClock);
    const refused = {
      other: await other.issueClient("root", ["system:masters"]),
      server: r.certificates.server,
      unnamed: await r.certificates.issueClient("", ["system:masters"]),
    };
    for (const [name, { certPem: cert, keyPem: key }] of Object.entries(refused)) {
      const answer = await ask(r.h2({ cert, key }), { ":path": "/x", authorization: undefined });
      assert.equal(answer.status, 401, name);
    }
  }));

Deno.test("serveHttps: impersonation is for those who may; groups keep their commas", async () => {
  const authorizer: Authorizer = {
    async authorize(user, a) {
      return { allowed: user.name === "root" && a.verb === "impersonate" && a.name !== "forbidden" };
    },
  };
  await using(start(whoAmI.handle, { authorizer }), async (r) => {
    const session = r.h2();
    const as = (token: string, headers: Record<string, string | string[]>) =>
      ask(session, { ":path": "/x", authorization: `Bearer ${token}`, ...headers });
    const user = await as("root-token", { "impersonate-user": "bob", "impersonate-group": ["a, b", "c"] });
    assert.deepEqual(JSON.parse(user.body.toString()), { name: "bob", groups: ["a, b", "c", "system:authenticated"] });
    assert.equal(r.asked[0]!.headers["impersonate-user"], undefined);
    const alice = await as("alice-token", { "impersonate-user": "root" });
    assert.equal(alice.status, 403);
    assert.equal(
      JSON.parse(alice.body.toString()).message,
      `users "root" is forbidden: User "alice" cannot impersonate resource "users" in API group "" at the cluster scope`,
    );
    assert.equal((await as("root-token", { "impersonate-user": "b", "impersonate-group": "forbidden" })).status, 403);
    assert.equal((await as("root-token", { "impersonate-group": "c" })).status, 400);
    assert.equal((await as("root-token", { "impersonate-user": "b", "impersonate-extra-x": "1" })).status, 400);
    const nobody = await as("root-token", { "impersonate-user": "system:anonymous" });
    assert.deepEqual(JSON.parse(nobody.body.toString()).groups, ["system:unauthenticated"]);
  });
});

Deno.test("serveHttps: an expired client certificate is 401", async () => {
  let now = Date.now();
  const certificates = await makeCertificates(["localhost", "127.0.0.1"], { ...systemClock, now: () => now });
  await using(start(whoAmI.handle, {}, certificates), async (r) => {
    const fresh = await certificates.issueClient("eve", []);
    now -= 400 * 86_400_000;
    const expired = await certificates.issueClient("eve", []);
    for (const [{ certPem: cert, keyPem: key }, status] of [[fresh, 200], [expired, 401]] as const) {
      const answer = await ask(r.h2({ cert, key }), { ":path": "/x", authorization: undefined });
      assert.equal(answer.status, status);
    }
  });
});

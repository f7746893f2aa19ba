import assert from "node:assert/strict";
import { EVENTS, LEASES, NAMESPACES, RELEASE_INVENTORIES, RELEASES, SECRETS } from "../shared/api/mod.ts";
import { type KubeObject, StatusError } from "../shared/kube/mod.ts";
import { FakeClock } from "../shared/runtime/mod.ts";
import { createMetrics } from "../shared/runtime/mod.ts";
import { startApiServer } from "./start.ts";
import { inFolder, release, withServer } from "./server_test_kit.ts";

type Obj = KubeObject & { spec?: Record<string, unknown>; status?: Record<string, unknown> };

/** Code of the refusal. */
async function codeOf(promise: Promise<unknown>): Promise<number> {
  try {
    await promise;
    return 200;
  } catch (error) {
    if (error instanceof StatusError) return error.code;
    throw error;
  }
}

const secret = (name: string, namespace = "default") => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace },
  stringData: { a: "b" },
});

Deno.test("startApiServer: serves its kinds over TLS; namespaces are there and must be", () =>
  withServer({}, async (_server, as) => {
    const admin = await as("root", "system:masters");
    const names = (await admin.list<KubeObject>(NAMESPACES)).items.map((n) => n.metadata.name);
    assert.deepEqual(names.sort(), ["convoy-system", "default"]);
    const made = await admin.create<Obj>(RELEASES, release("shop"));
    assert.equal(made.metadata.generation, 1);
    assert.equal(made.spec?.["interval"], "10m");
    assert.equal(await codeOf(admin.create(RELEASES, release("shop"))), 409);
    assert.equal(await codeOf(admin.create(RELEASES, release("shop", "nowhere"))), 404);
    assert.equal(await codeOf(admin.create(SECRETS, secret("s"))), 200);
    assert.equal(await codeOf(admin.create(RELEASES, { ...release("bad"), spec: {} } as KubeObject)), 422);
    const lease = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "l", namespace: "convoy-system" },
    };
    assert.equal(await codeOf(admin.create(LEASES, lease as KubeObject)), 200);
  }));

Deno.test("startApiServer: a watch over TLS tells of changes, and ends when the server closes", async () => {
  const seen: string[] = [];
  let ended = false;
  await withServer({}, async (server, as) => {
    const admin = await as("root", "system:masters");
    const watch = await admin.watch<KubeObject>(RELEASES, { resourceVersion: "0" });
    await admin.create(RELEASES, release("shop"));
    const reading = (async () => {
      for await (const event of watch) {
        if (event.type === "ERROR") break;
        seen.push(`${event.type} ${(event.object as KubeObject).metadata.name}`);
        if (seen.length === 1) await server.close();
      }
      ended = true;
    })().catch(() => ended = true);
    await reading;
  });
  assert.deepEqual(seen, ["ADDED shop"]);
  assert.equal(ended, true);
});

Deno.test("startApiServer: each role may do over TLS what its loops need, and no more", () =>
  withServer({}, async (_server, as) => {
    const admin = await as("root", "system:masters");
    await admin.create(RELEASES, release("shop"));
    await admin.create(SECRETS, secret("s"));
    const observer = await as("observer", "convoy:observer");
    const manager = await as("controller-manager", "convoy:controller-manager");
    const view = await as("viewer", "convoy:view");
    const nobody = await as("nobody");
    const key = { name: "shop", namespace: "default" };

    const condition = {
      type: "InSync",
      status: "True",
      reason: "InSync",
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const applied = await observer.apply<Obj>(RELEASES, {
      apiVersion: "convoy.kumodo.io/v1alpha1",
      kind: "Release",
      metadata: key,
      status: { conditions: [condition] },
    } as never, { fieldManager: "convoy-drift", force: true, subresource: "status" });
    assert.equal((applied.status?.["conditions"] as { type: string }[])[0]?.type, "InSync");
    const patch = { type: "merge" as const, body: { spec: { suspend: true } } };
    assert.equal(await codeOf(observer.patch(RELEASES, key, patch)), 403);
    assert.equal(await codeOf(observer.delete(RELEASES, key)), 403);
    assert.equal(await codeOf(observer.get(SECRETS, { name: "s", namespace: "default" })), 200);
    const inventory = {
      apiVersion: "convoy.kumodo.io/v1alpha1",
      kind: "ReleaseInventory",
      metadata: key,
      inventory: [],
    };
    const as_ = (fieldManager: string) => ({ fieldManager, force: true });
    assert.equal(await codeOf(observer.apply(RELEASE_INVENTORIES, inventory, as_("convoy-drift"))), 403);
    assert.equal(await codeOf(manager.apply(RELEASE_INVENTORIES, inventory, as_("convoy-release-inventory"))), 200);
    assert.equal(await codeOf(observer.apply(RELEASE_INVENTORIES, inventory, as_("convoy-drift"))), 200);

    assert.equal(await codeOf(manager.create(RELEASES, release("other"))), 403);
    assert.equal(await codeOf(manager.create(SECRETS, secret("key"))), 403);
    assert.equal(await codeOf(manager.create(SECRETS, secret("key", "convoy-system"))), 200);
    assert.equal(await codeOf(view.list(RELEASES)), 200);
    assert.equal(await codeOf(view.list(SECRETS)), 403);
    assert.equal(await codeOf(view.raw({ method: "POST", path: actionPath("sync") })), 403);
    assert.equal(await codeOf(nobody.list(RELEASES)), 403);
    assert.equal(await codeOf(nobody.raw({ method: "GET", path: "/apis" })), 200);
    await assert.rejects(view.list(SECRETS), (e) =>
      e instanceof StatusError &&
      /^secrets is forbidden: User "viewer" cannot list resource "secrets" in API group "" at the cluster scope/.test(
        e.message,
      ));
  }));

function actionPath(action: string): string {
  return `/apis/convoy.kumodo.io/v1alpha1/namespaces/default/releases/shop/${action}`;
}

Deno.test("rule 9: the four requests over TLS: stored in spec, annotation set, generation moves with spec only", () =>
  withServer({}, async (_server, as) => {
    const admin = await as("alice", "system:masters");
    await admin.create(RELEASES, release("shop"));
    const request = (method: "POST" | "PUT" | "DELETE", action: string, body?: unknown) =>
      admin.raw<Obj>({ method, path: actionPath(action), ...(body === undefined ? {} : { body }) });
    const at = (object: Obj) => object.metadata.annotations!["convoy.kumodo.io/sync-requested-at"]!;

    const [one, two] = [await request("POST", "sync"), await request("POST", "sync", {})];
    assert.equal(one.kind, "Release");
    assert.ok(at(one) < at(two));
    assert.equal(two.metadata.generation, 1);
    const pinned = await request("PUT", "pin", { revision: "main@sha1:1", reason: "hold" });
    assert.equal((pinned.spec!["pin"] as { by: string }).by, "alice");
    assert.equal(pinned.metadata.generation, 2);
    assert.equal((await request("DELETE", "pin")).spec!["pin"], undefined);
    const mutation = { name: "m", target: { kind: "Deployment" }, mergePatch: { spec: { replicas: 1 } } };
    const mutated = await request("PUT", "mutations", { mutations: [mutation] });
    assert.deepEqual((mutated.spec!["mutations"] as { mergePatch: unknown }[])[0]!.mergePatch, mutation.mergePatch);
    assert.equal((await request("DELETE", "mutations")).spec!["mutations"], undefined);
    const suspended = await request("POST", "lifecycle", { action: "Suspend" });
    assert.equal(suspended.spec!["suspend"], true);
    assert.ok(at(suspended) > at(pinned));
    assert.deepEqual(await admin.get(RELEASES, { name: "shop", namespace: "default" }), suspended);

    const refusals: [Promise<unknown>, number][] = [
      [request("PUT", "pin", {}), 422],
      [request("PUT", "pin", []), 400],
      [request("POST", "lifecycle", { action: "Explode" }), 422],
      [request("POST", "pin", { revision: "x" }), 405],
      [request("PUT", "sync"), 405],
      [request("POST", "nonsense"), 404],
      [admin.raw({ method: "POST", path: actionPath("sync").replace("shop", "missing") }), 404],
    ];
    for (const [promise, code] of refusals) assert.equal(await codeOf(promise), code);
  }));

Deno.test("POST /sync from many clients at once: none is lost, all annotations differ", () =>
  withServer({ storage: "sqlite::memory:" }, async (_server, as) => {
    const admin = await as("alice", "system:masters");
    await admin.create(RELEASES, release("shop"));
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => admin.raw<Obj>({ method: "POST", path: actionPath("sync") })),
    );
    const times = answers.map((a) => a.metadata.annotations!["convoy.kumodo.io/sync-requested-at"]);
    assert.equal(new Set(times).size, 12);
  }));

Deno.test("kubectl auth can-i: SelfSubjectAccessReview, rules and whoami answer for the one who asks", () =>
  withServer({}, async (_server, as) => {
    const view = await as("viewer", "convoy:view");
    const canI = async (verb: string, resource: string, group = "") => {
      const review = await view.raw<{ status: { allowed: boolean } }>({
        method: "POST",
        path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        body: {
          kind: "SelfSubjectAccessReview",
          apiVersion: "authorization.k8s.io/v1",
          spec: { resourceAttributes: { verb, resource, group, namespace: "default" } },
        },
      });
      return review.status.allowed;
    };
    assert.equal(await canI("get", "releases", "convoy.kumodo.io"), true);
    assert.equal(await canI("delete", "releases", "convoy.kumodo.io"), false);
    assert.equal(await canI("get", "secrets"), false);
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    assert.equal(await codeOf(view.raw({ method: "POST", path, body: { spec: {} } })), 422);
    assert.equal(await codeOf(view.raw({ method: "POST", path, body: { kind: "Pod" } })), 400);
    assert.equal(await codeOf(view.raw({ method: "GET", path })), 405);
    const who = await view.raw<{ status: unknown }>({
      method: "POST",
      path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      body: { kind: "SelfSubjectReview", apiVersion: "authentication.k8s.io/v1" },
    });
    assert.deepEqual(who.status, { userInfo: { username: "viewer", groups: ["convoy:view", "system:authenticated"] } });
  }));

Deno.test("/metrics counts requests by verb, resource and code, for those who may see it", () => {
  const metrics = createMetrics({ process: false });
  return withServer({ metrics }, async (_server, as) => {
    const view = await as("viewer", "convoy:view");
    const nobody = await as("nobody");
    const manager = await as("m", "convoy:controller-manager");
    await view.list(RELEASES);
    assert.equal(await codeOf(nobody.list(RELEASES)), 403);
    assert.equal(await codeOf(nobody.raw({ method: "GET", path: "/metrics" })), 403);
    assert.equal(await codeOf(manager.raw({ method: "GET", path: "/apis/x.y/v1/made-up-1" })), 403);
    const text = await metrics.text();
    assert.match(text, /convoy_apiserver_requests_total\{verb="list",resource="releases",code="200"\} 1/);
    assert.match(text, /convoy_apiserver_requests_total\{verb="list",resource="releases",code="403"\} 1/);
    assert.match(text, /convoy_storage_writes_total [1-9]/);
    assert.doesNotMatch(text, /made-up/);
  });
});

Deno.test("startApiServer: objects, certificates and revision outlive a restart on sqlite", () =>
  inFolder(async (folder) => {
    const options = { storage: `sqlite:${folder}/convoy.db`, dataDir: folder };
    let before: KubeObject | undefined, ca = "";
    await withServer(options, async (server, as) => {
      ca = server.caPem;
      before = await (await as("root", "system:masters")).create<KubeObject>(RELEASES, release("shop"));
      await server.writeKubeconfig(`${folder}/admin.kubeconfig`, { user: "root", groups: ["system:masters"] });
      assert.equal((await Deno.stat(`${folder}/admin.kubeconfig`)).mode! & 0o777, 0o600);
      await assert.rejects(startApiServer(options), /another process uses it/);
    });
    await withServer(options, async (server, as) => {
      assert.equal(server.caPem, ca);
      const after = await (await as("root", "system:masters")).get(RELEASES, { name: "shop", namespace: "default" });
      assert.deepEqual(after, before);
    });
  }));

Deno.test("startApiServer: an address, token file or store that cannot be used is an error and leaves nothing open", () =>
  inFolder(async (folder) => {
    await withServer({}, async (server) => {
      const taken = new URL(server.url).host;
      await assert.rejects(startApiServer({ listen: taken }), /Cannot listen on 127\.0\.0\.1:\d+/);
    });
    await assert.rejects(startApiServer({ storage: "floppy" }), /Cannot open the store "floppy"/);
    await assert.rejects(startApiServer({ tokenFile: `${folder}/none.csv` }), /Cannot read the token file/);
    await Deno.mkdir(`${folder}/pki`);
    await Deno.writeTextFile(`${folder}/pki/ca.pem`, "junk");
    const options = { dataDir: folder, storage: `sqlite:${folder}/convoy.db` };
    await assert.rejects(startApiServer(options), /Cannot use the certificates/);
    await Deno.remove(`${folder}/pki`, { recursive: true });
    await withServer(options, async () => {});
  }));

Deno.test("startApiServer: Events expire after an hour", async () => {
  const clock = new FakeClock(Date.now());
  await withServer({ clock }, async (server, as) => {
    const admin = await as("root", "system:masters");
    const event = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "e", namespace: "default" },
      involvedObject: { kind: "Release", name: "shop", namespace: "default" },
      reason: "R",
      message: "m",
      type: "Normal",
    };
    await admin.create(EVENTS, event as KubeObject);
    assert.equal((await admin.list(EVENTS)).items.length, 1);
    await clock.advance(3_600_000);
    await server.settled();
    assert.equal((await admin.list(EVENTS)).items.length, 0);
  });
});

Deno.test("startApiServer: a token file works over TLS, without it no token does", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/tokens.csv`, `s3cret,ann,1,"convoy:view"`);
    const get = async (server: { url: string; caPem: string }, token: string, path: string) => {
      const client = Deno.createHttpClient({ caCerts: [server.caPem] });
      try {
        const response = await fetch(server.url + path, {
          client,
          headers: token ? { authorization: `Bearer ${token}` } : {},
        });
        await response.text();
        return response.status;
      } finally {
        client.close();
      }
    };
    const releases = "/apis/convoy.kumodo.io/v1alpha1/releases";
    await withServer({ tokenFile: `${folder}/tokens.csv` }, async (server) => {
      assert.equal(await get(server, "s3cret", releases), 200);
      assert.equal(await get(server, "s3cret", "/api/v1/secrets"), 403);
      assert.equal(await get(server, "guess", releases), 401);
      assert.equal(await get(server, "", releases), 401);
      for (const path of ["/healthz", "/readyz", "/livez", "/version"]) {
        assert.equal(await get(server, "", path), 200, path);
      }
    });
    await withServer({}, async (server) => assert.equal(await get(server, "s3cret", releases), 401));
  }));

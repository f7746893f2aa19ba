/** create, update, patch: rules of ssa.md that are the server's, named by number. */
import assert from "node:assert/strict";
import { builtinKinds } from "../facts/mod.ts";
import type { JsonObject } from "../json/mod.ts";
import { failure } from "../kube/status.ts";
import { type Answer, TestServer, WIDGET, widget, WIDGETS, withServer } from "./test_kit.ts";

const meta = (a: Answer) => a.body.metadata as JsonObject;
const W = `${WIDGETS}/a`;

Deno.test("create: defaults, uid, generation, generateName", async () => {
  await withServer(async (s) => {
    const made = await s.create(WIDGETS, widget("a", { items: [{ name: "x" }] }));
    assert.equal(made.status, 201);
    assert.deepEqual(made.body.spec, { items: [{ name: "x", value: "v" }], color: "red" });
    assert.equal(meta(made).generation, 1);
    assert.equal(meta(made).namespace, "n");
    assert.match(String(meta(made).uid), /^[0-9a-f-]{36}$/);
    const generated = await s.create(WIDGETS, { ...widget(""), metadata: { generateName: "pre-" } });
    assert.match(String(meta(generated).name), /^pre-[a-z0-9]{5}$/);
  });
});

Deno.test("rule 24, 64: unknown and duplicate fields by fieldValidation", async () => {
  await withServer(async (s) => {
    const body =
      '{"apiVersion":"demo.example/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"nope":1,"size":1,"size":2}}';
    const strict = await s.create(`${WIDGETS}?fieldValidation=Strict`, body);
    assert.equal(strict.status, 400);
    assert.match(
      String(strict.body.message),
      /strict decoding error: duplicate field "spec\.size", unknown field "spec\.nope"$/,
    );
    const ignored = await s.create(`${WIDGETS}?fieldValidation=Ignore&dryRun=All`, body);
    assert.equal(ignored.headers["warning"], undefined);
    const warned = await s.create(WIDGETS, body);
    assert.equal(
      warned.headers["warning"],
      '299 - "duplicate field \\"spec.size\\"", 299 - "unknown field \\"spec.nope\\""',
    );
    assert.deepEqual(warned.body.spec, { size: 2, color: "red" });
  });
});

Deno.test("rule 52: an update needs the version it was made from", async () => {
  await withServer(async (s) => {
    const made = await s.create(WIDGETS, widget("a"));
    const missing = await s.put(W, widget("a"));
    assert.equal(missing.status, 422);
    assert.match(
      String(missing.body.message),
      /metadata\.resourceVersion: Invalid value: 0: must be specified for an update/,
    );
    await s.merge(W, { spec: { size: 1 } });
    const late = await s.put(W, { ...made.body, spec: { size: 2 } });
    assert.equal(late.status, 409);
    assert.equal(late.body.reason, "Conflict");
    assert.equal((await s.put(`${WIDGETS}/b`, widget("b"))).status, 404);
  });
});

Deno.test("rule 51: generation moves with the desired state only", async () => {
  await withServer(async (s) => {
    await s.create(WIDGETS, widget("a"));
    const generation = async () => meta(await s.get(W)).generation;
    await s.merge(W, { metadata: { annotations: { x: "1" } } });
    assert.equal(await generation(), 1);
    await s.send("PATCH", `${W}/status`, { body: { status: { phase: "P" } }, type: "application/merge-patch+json" });
    assert.equal(await generation(), 1);
    await s.merge(W, { metadata: { generation: 44 }, spec: { size: 2 } });
    assert.equal(await generation(), 2);
  });
});

Deno.test("rule 50: main writes keep status, /status writes nothing else", async () => {
  await withServer(async (s) => {
    const made = await s.create(WIDGETS, { ...widget("a"), status: { phase: "dropped" } });
    assert.equal(made.body.status, undefined);
    await s.put(`${W}/status`, {
      ...made.body,
      metadata: { ...meta(made), labels: { a: "b" } },
      spec: { size: 9 },
      status: { phase: "P" },
    });
    const after = await s.get(W);
    assert.deepEqual([after.body.status, after.body.spec, meta(after).labels], [
      { phase: "P" },
      { color: "red" },
      undefined,
    ]);
    await s.merge(W, { status: { phase: "Q" }, spec: { size: 2 } });
    assert.deepEqual((await s.get(W)).body.status, { phase: "P" });
    assert.equal((await s.get(`${WIDGETS}/none/status`)).status, 404);
  });
});

Deno.test("rule 53: a write that changes nothing stores nothing and sends no event", async () => {
  await withServer(async (s) => {
    await s.apply(W, widget("a", { size: 1 }));
    const before = await s.get(W);
    const watch = await s.watch(`${WIDGETS}?watch=1&resourceVersion=${meta(before).resourceVersion}`);
    await s.clock.advance(5_000);
    for (
      const again of [
        await s.apply(W, widget("a", { size: 1 })),
        await s.merge(W, { spec: { size: 1 } }),
        await s.put(W, before.body),
        await s.merge(W, { spec: { unknown: 1 } }),
      ]
    ) {
      assert.equal(meta(again).resourceVersion, meta(before).resourceVersion);
      assert.deepEqual(meta(again).managedFields, meta(before).managedFields);
    }
    await s.merge(W, { spec: { size: 2 } });
    const event = await watch.next();
    assert.deepEqual((event!.object.spec as JsonObject).size, 2);
    await watch.close();
  });
});

Deno.test("rule 54: a dry run makes all checks and stores nothing", async () => {
  await withServer(async (s) => {
    const dry = await s.create(`${WIDGETS}?dryRun=All`, widget("a"));
    assert.equal(dry.status, 201);
    assert.equal(meta(dry).resourceVersion, undefined);
    assert.ok(meta(dry).uid);
    assert.equal((await s.get(W)).status, 404);
    assert.equal((await s.create(`${WIDGETS}?dryRun=All`, widget("a", { size: 99 }))).status, 422);
    const made = await s.create(WIDGETS, widget("a"));
    assert.equal((await s.create(`${WIDGETS}?dryRun=All`, widget("a"))).status, 409);
    const patched = await s.merge(`${W}?dryRun=All`, { spec: { size: 3 } });
    assert.equal((patched.body.spec as JsonObject).size, 3);
    assert.equal((await s.apply(W, widget("a", { size: 4 }), "fieldManager=a&dryRun=All")).status, 200);
    assert.equal((await s.send("DELETE", `${W}?dryRun=All`)).status, 200);
    assert.equal(meta(await s.get(W)).resourceVersion, meta(made).resourceVersion);
  });
});

Deno.test("rule 26: the order in which an apply is refused", async () => {
  await withServer(async (s) => {
    await s.apply(W, widget("a", { size: 1 }));
    const body = (o: JsonObject) => ({ ...widget("zz", { size: 2 }), ...o });
    const codes: [string, unknown, string, number][] = [
      ["query", body({ kind: "Other" }), "", 422],
      ["kind", body({ kind: "Other", metadata: { name: "zz", managedFields: [] } }), "fieldManager=b", 400],
      [
        "managedFields",
        body({ metadata: { name: "zz", managedFields: [] }, spec: { nope: 1 } }),
        "fieldManager=b",
        400,
      ],
      ["typing", body({ spec: { size: "x" } }), "fieldManager=b", 400],
      ["conflict", body({}), "fieldManager=b", 409],
      ["name", body({ spec: { size: 1 } }), "fieldManager=b", 400],
      ["version", { ...widget("a", { size: 99 }, { resourceVersion: "1" }) }, "fieldManager=a", 409],
      ["validation", widget("a", { size: 99 }), "fieldManager=a", 422],
    ];
    for (const [what, config, query, code] of codes) {
      assert.equal((await s.apply(W, config, query)).status, code, what);
    }
  });
});

Deno.test("rule 40: parallel applies and patches do not conflict with each other", async () => {
  await withServer(async (s) => {
    await s.create(WIDGETS, widget("a"));
    const answers = await Promise.all([
      ...Array.from(
        { length: 20 },
        (_, i) => s.apply(W, widget("a", { labels: { [`k${i}`]: "v" } }), `fieldManager=m${i}`),
      ),
      ...Array.from({ length: 10 }, (_, i) => s.merge(W, { metadata: { annotations: { [`a${i}`]: "1" } } })),
    ]);
    assert.ok(answers.every((a) => a.status === 200));
    const after = await s.get(W);
    assert.equal(Object.keys((after.body.spec as JsonObject).labels as JsonObject).length, 20);
    assert.equal(Object.keys(meta(after).annotations as JsonObject).length, 10);
  });
});

Deno.test("rule 62: JSON patch: replace of a missing key adds; what cannot be applied is 422", async () => {
  await withServer(async (s) => {
    await s.create(WIDGETS, widget("a", { tags: ["x"] }));
    const patch = (ops: unknown) => s.send("PATCH", W, { body: ops, type: "application/json-patch+json" });
    assert.equal((await patch([{ op: "replace", path: "/spec/size", value: 3 }])).status, 200);
    const good = await patch([
      { op: "test", path: "/spec/size", value: 3 },
      { op: "add", path: "/spec/tags/-", value: "y" },
      { op: "copy", from: "/spec/tags/0", path: "/spec/note" },
      { op: "move", from: "/spec/size", path: "/spec/low" },
    ]);
    assert.deepEqual(good.body.spec, { tags: ["x", "y"], color: "red", note: "x", low: 3 });
    for (
      const ops of [
        [{ op: "test", path: "/spec/low", value: 4 }],
        [{ op: "remove", path: "/spec/none" }],
        [{ op: "add", path: "/spec/none/x", value: 1 }],
        [{ op: "add", path: "/spec/tags/9", value: "z" }],
        [{ op: "replace", path: "/spec/tags/9", value: "z" }],
        [{ op: "jump", path: "/spec" }],
        [{ op: "add", path: "/spec/size" }],
        [{ op: "add", path: "/__proto__/polluted", value: 1 }],
        [{ op: "replace", path: "", value: {} }],
      ]
    ) {
      const answer = await patch(ops);
      assert.equal(answer.status, 422, JSON.stringify(ops));
      assert.equal(answer.body.reason, "Invalid");
    }
    assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
    const odd = await patch([
      { op: "add", path: "/spec/labels", value: {} },
      { op: "add", path: "/spec/labels/constructor", value: "c" },
      { op: "add", path: "/spec/labels/a~1b~0c", value: "d" },
    ]);
    assert.deepEqual((odd.body.spec as JsonObject).labels, { constructor: "c", "a/b~c": "d" });
    assert.equal(
      (await patch(Array.from({ length: 10_001 }, () => ({ op: "test", path: "/kind", value: "Widget" })))).status,
      413,
    );
    const bomb = Array.from({ length: 40 }, (_, i) => ({ op: "copy", from: "/spec", path: `/spec/x${i}` }));
    assert.ok([413, 422].includes((await patch(bomb)).status));
  });
});

Deno.test("rules 57 to 61: query, media type and size of a body", async () => {
  await withServer(async (s) => {
    await s.create(WIDGETS, widget("a"));
    const code = async (method: string, path: string, body: unknown, type: string) =>
      (await s.send(method, path, { body, type })).status;
    assert.equal(await code("PATCH", W, widget("a"), "application/json"), 415);
    assert.equal(await code("POST", WIDGETS, widget("b"), "text/plain"), 415);
    assert.equal(
      await code(
        "POST",
        WIDGETS,
        "apiVersion: demo.example/v1\nkind: Widget\nmetadata: {name: yy}\n",
        "application/yaml",
      ),
      201,
    );
    assert.equal(await code("PATCH", `${W}?force=true`, {}, "application/merge-patch+json"), 422);
    assert.equal(await code("PATCH", `${W}?dryRun=Some`, {}, "application/merge-patch+json"), 422);
    assert.equal(await code("PATCH", W, "{", "application/merge-patch+json"), 400);
    assert.equal(await code("POST", WIDGETS, "x".repeat(3 * 1024 * 1024 + 1), "application/json"), 413);
    for (const name of ["fieldManager=%0a", `fieldManager=${"m".repeat(129)}`, "fieldValidation=Foo"]) {
      assert.equal(await code("POST", `${WIDGETS}?${name}`, widget("b"), "application/json"), 422, name);
    }
  });
});

Deno.test("bodies: bombs of depth and of aliases are refused, quickly", async () => {
  await withServer(async (s) => {
    const deep = "[".repeat(200_000) + "]".repeat(200_000);
    assert.equal(
      (await s.create(WIDGETS, `{"kind":"Widget","apiVersion":"demo.example/v1","spec":{"free":${deep}}}`)).status,
      400,
    );
    assert.equal((await s.apply(W, deep)).status, 400);
    const lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"];
    for (let i = 1; i < 12; i++) lines.push(`a${i}: &a${i} [${Array(10).fill(`*a${i - 1}`).join(",")}]`);
    const bomb = `apiVersion: demo.example/v1\nkind: Widget\nmetadata: {name: a}\n${lines.join("\n")}\n`;
    assert.equal((await s.apply(W, bomb)).status, 400);
    assert.equal((await s.send("POST", WIDGETS, { body: bomb, type: "application/yaml" })).status, 400);
  });
});

Deno.test("keys such as __proto__ are data", async () => {
  await withServer(async (s) => {
    const text =
      '{"apiVersion":"demo.example/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"free":{"__proto__":{"x":1},"constructor":2},"labels":{"__proto__":"y"}}}';
    assert.equal((await s.create(WIDGETS, text)).status, 201);
    assert.match((await s.get(W)).text, /"free":\{"__proto__":\{"x":1\},"constructor":2\}/);
    assert.equal((await s.merge(W, '{"spec":{"free":{"__proto__":{"z":3}}}}')).status, 200);
    assert.match((await s.get(W)).text, /"__proto__":\{"x":1,"z":3\}/);
    assert.equal(({} as Record<string, unknown>)["x"], undefined);
  });
});

Deno.test("admission: it changes what is stored, may refuse, and owns nothing", async () => {
  await withServer(async (s) => {
    const made = await s.create(WIDGETS, widget("a", { size: 1 }));
    assert.equal((made.body.spec as JsonObject).note, "admitted");
    assert.doesNotMatch(JSON.stringify(meta(made).managedFields), /f:note/);
    const refused = await s.create(WIDGETS, widget("b", { size: 7 }));
    assert.deepEqual([refused.status, refused.body.message], [403, "no sevens"]);
  }, {
    admit(object) {
      const spec = object.spec as JsonObject;
      if (spec.size === 7) throw failure(403, "Forbidden", "no sevens");
      spec.note = "admitted";
    },
  });
});

Deno.test("authorization: the verb, and create for an apply that creates", async () => {
  const seen: string[] = [];
  const server = new TestServer({
    authorizer: {
      async authorize(user, a) {
        seen.push(`${a.verb} ${a.resource} ${a.subresource}`);
        return { allowed: a.verb !== "create" && user.name === "u", reason: "not yours" };
      },
    },
  });
  try {
    const user = { name: "u", groups: [] };
    const answer = await server.send("PATCH", `${W}?fieldManager=a`, {
      body: widget("a"),
      type: "application/apply-patch+yaml",
      user,
    });
    assert.equal(answer.status, 403);
    assert.equal(
      answer.body.message,
      'widgets.demo.example "a" is forbidden: User "u" cannot create resource "widgets" in API group "demo.example" in the namespace "n": not yours',
    );
    await server.send("GET", `${W}/status`, { user });
    await server.send("GET", `${WIDGETS}?watch=0`, { user });
    await server.send("DELETE", WIDGETS, { user });
    assert.deepEqual(seen, [
      "patch widgets ",
      "create widgets ",
      "get widgets status",
      "list widgets ",
      "deletecollection widgets ",
    ]);
    assert.equal((await server.send("GET", "/version", { user: { name: "x", groups: [] } })).status, 403);
  } finally {
    await server.close();
  }
});

Deno.test("actions: a kind's own requests change the object with retries and their own answers", async () => {
  const kind = {
    ...WIDGET,
    actions: {
      poke: {
        methods: ["POST"],
        async run(ctx: import("./contract.ts").ActionContext) {
          if (ctx.body?.refuse) throw failure(422, "Invalid", "refused");
          const after = await ctx.modify((o) => void ((o.spec as JsonObject).size = 5));
          return { ok: true, size: (after.spec as JsonObject).size! };
        },
      },
    },
  };
  await withServer(async (s) => {
    await s.create(WIDGETS, widget("a"));
    assert.deepEqual((await s.create(`${W}/poke`, {})).body, { ok: true, size: 5 });
    assert.equal((await s.create(`${W}/poke`, { refuse: true })).status, 422);
    assert.equal((await s.create(`${W}/poke`, "{")).status, 400);
    assert.equal((await s.get(`${W}/poke`)).status, 405);
    assert.equal((await s.create(`${WIDGETS}/none/poke`, {})).status, 404);
    assert.equal((await s.create(`${W}/other`, {})).status, 404);
  }, { kinds: [kind] });
});

Deno.test("namespaces: nothing is made in one that is not there or on its way out", async () => {
  await withServer(async (s) => {
    const missing = await s.create(WIDGETS, widget("a"));
    assert.equal(missing.status, 404);
    assert.equal(missing.body.message, 'namespaces "n" not found');
    await s.create("/api/v1/namespaces", { metadata: { name: "n", finalizers: ["demo.example/f"] } });
    assert.equal((await s.create(WIDGETS, widget("a"))).status, 201);
    await s.send("DELETE", "/api/v1/namespaces/n");
    const leaving = await s.apply(`${WIDGETS}/b`, widget("b"));
    assert.equal(leaving.status, 403);
    assert.match(String(leaving.body.message), /because it is being terminated/);
  }, { kinds: [WIDGET, ...builtinKinds((k) => k.kind === "Namespace")] });
});

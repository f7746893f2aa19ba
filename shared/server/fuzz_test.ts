/** Whatever comes in: an answer that is a Status or an object, never 500, and the server lives on. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { builtinKinds } from "../facts/mod.ts";
import { stringifyJson } from "../json/mod.ts";
import { TestServer, WIDGET, widget, WIDGETS } from "./test_kit.ts";

const kinds = [
  WIDGET,
  ...builtinKinds((k) => ["Deployment", "ConfigMap", "Secret", "Service", "Job"].includes(k.kind)),
];
const RUNS = { numRuns: 300 };

/** JSON with keys that mean something to the server. */
const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ maxLength: 8 }),
    fc.array(tie("any"), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(
        fc.constantFrom(
          "spec",
          "metadata",
          "name",
          "namespace",
          "labels",
          "annotations",
          "finalizers",
          "ownerReferences",
          "managedFields",
          "fieldsV1",
          "apiVersion",
          "kind",
          "status",
          "items",
          "tags",
          "size",
          "color",
          "free",
          "containers",
          "template",
          "selector",
          "ports",
          "data",
          "stringData",
          "replicas",
          "conditions",
          "uid",
          "resourceVersion",
          "generation",
          "creationTimestamp",
          "deletionTimestamp",
          "$patch",
          "$setElementOrder/containers",
          "$retainKeys",
          "__proto__",
          "constructor",
          "strategy",
          "env",
          "value",
        ),
        fc.string({ maxLength: 5 }),
      ),
      tie("any"),
      { maxKeys: 5 },
    ),
  ),
})).any;

const path = fc.constantFrom(
  [`${WIDGETS}`, "demo.example/v1", "Widget"],
  ["/apis/apps/v1/namespaces/n/deployments", "apps/v1", "Deployment"],
  ["/api/v1/namespaces/n/configmaps", "v1", "ConfigMap"],
  ["/api/v1/namespaces/n/secrets", "v1", "Secret"],
  ["/api/v1/namespaces/n/services", "v1", "Service"],
  ["/apis/batch/v1/namespaces/n/jobs", "batch/v1", "Job"],
);

async function withFuzzed(test: (s: TestServer) => Promise<void>): Promise<void> {
  const server = new TestServer({ kinds });
  try {
    await test(server);
    assert.equal((await server.get("/readyz")).status, 200);
  } finally {
    await server.close();
  }
}

Deno.test("fuzz: random objects in POST, PUT and apply never give 500", async () => {
  await withFuzzed(async (s) => {
    await fc.assert(
      fc.asyncProperty(path, value, value, fc.boolean(), async ([base, apiVersion, kind], spec, metadata, whole) => {
        const object = whole ? spec : {
          ...(typeof spec === "object" && spec !== null && !Array.isArray(spec) ? spec : { spec }),
          apiVersion,
          kind,
          metadata: typeof metadata === "object" && metadata !== null && !Array.isArray(metadata)
            ? { ...metadata, name: "x" }
            : { name: "x" },
        };
        const body = stringifyJson(object);
        for (
          const answer of [
            await s.send("PATCH", `${base}/x?fieldManager=f&force=true`, {
              body,
              type: "application/apply-patch+yaml",
            }),
            await s.send("POST", base!, { body }),
            await s.send("PUT", `${base}/x`, { body }),
            await s.send("PUT", `${base}/x/status`, { body }),
          ]
        ) assert.notEqual(answer.status, 500, `${body} → ${answer.text}`);
      }),
      RUNS,
    );
  });
});

Deno.test("fuzz: random patches of all kinds never give 500, and what is stored stays readable", async () => {
  await withFuzzed(async (s) => {
    await s.create(WIDGETS, widget("x", { tags: ["a"], items: [{ name: "i" }], labels: { a: "b" } }));
    const made = await s.create("/apis/apps/v1/namespaces/n/deployments", {
      metadata: { name: "x" },
      spec: {
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
      },
    });
    assert.equal(made.status, 201);
    const op = fc.record({
      op: fc.constantFrom("add", "remove", "replace", "test", "move", "copy", "x"),
      path: fc.constantFrom(
        "/spec",
        "/spec/tags/0",
        "/spec/tags/-",
        "/metadata/labels",
        "/metadata/labels/a",
        "/spec/template/spec/containers/0",
        "/status",
        "",
        "/a~2b",
      ),
      from: fc.constantFrom("/spec", "/spec/tags", "/metadata/labels", "/kind"),
      value,
    }, { requiredKeys: ["op"] });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(`${WIDGETS}/x`, "/apis/apps/v1/namespaces/n/deployments/x"),
        fc.oneof(
          fc.tuple(fc.constant("application/json-patch+json"), fc.array(op, { maxLength: 5 })),
          fc.tuple(fc.constantFrom("application/merge-patch+json", "application/strategic-merge-patch+json"), value),
        ),
        async (target, [type, body]) => {
          const answer = await s.send("PATCH", target, { body: stringifyJson(body), type });
          assert.notEqual(answer.status, 500, `${stringifyJson(body)} → ${answer.text}`);
          const stored = await s.get(target);
          assert.equal(stored.status, 200);
          assert.equal((stored.body.metadata as Record<string, unknown>)["name"], "x");
        },
      ),
      RUNS,
    );
  });
});

Deno.test("fuzz: random text as body, path and query never gives 500", async () => {
  await withFuzzed(async (s) => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "X"),
        fc.oneof(
          fc.constant(WIDGETS),
          fc.constant(`${WIDGETS}/x`),
          fc.string().map((t) => `/${t}`),
          fc.array(
            fc.constantFrom(
              "api",
              "apis",
              "v1",
              "namespaces",
              "n",
              "configmaps",
              "x",
              "status",
              "demo.example",
              "widgets",
            ),
            { maxLength: 8 },
          )
            .map((p) => `/${p.join("/")}`),
        ),
        fc.oneof(
          fc.string().map((t) => `?${t}`),
          fc.tuple(
            fc.constantFrom(
              "labelSelector",
              "fieldSelector",
              "limit",
              "continue",
              "resourceVersion",
              "timeoutSeconds",
              "dryRun",
              "fieldManager",
            ),
            fc.string(),
          )
            .map(([k, v]) => `?${k}=${encodeURIComponent(v)}`),
        ),
        fc.oneof(fc.string(), fc.constant("{"), fc.constant("a: &a [*a]"), fc.constant("{{}}")),
        fc.constantFrom(
          "application/json",
          "application/yaml",
          "application/apply-patch+yaml",
          "application/merge-patch+json",
          "",
          "x",
        ),
        async (method, target, query, body, type) => {
          const answer = await s.send(method, target + query, { body, type });
          assert.notEqual(answer.status, 500, `${method} ${target}${query} ${body} → ${answer.text}`);
        },
      ),
      { numRuns: 600 },
    );
  });
});

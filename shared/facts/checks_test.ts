import assert from "node:assert/strict";
import type { JsonObject } from "../json/mod.ts";
import { created, errorsOf, kindOf, workload } from "./testkit.ts";

Deno.test("Secret: stringData goes into data, and no message tells a value", () => {
  const secret = created("Secret", { metadata: { name: "s" }, stringData: { p: "x" }, data: { q: "eQ==" } });
  assert.deepEqual(secret, { metadata: { name: "s" }, data: { p: "eA==", q: "eQ==" }, type: "Opaque" });
  const errors = errorsOf("Secret", { metadata: { name: "s" }, type: "Opaque", data: { k: "hunter2!", "a b": "" } });
  assert.equal(errors.length, 2);
  assert.ok(errors.every((e) => !e.includes("hunter2")), errors.join("\n"));
  assert.match(errors[0]!, /^data\[k\]: Invalid value: must be base64/);
});

Deno.test("validate: the mistakes people make, in the words of the real server", () => {
  const deployment = created("Deployment", workload("Deployment"));
  assert.deepEqual(errorsOf("Deployment", deployment), []);
  const other = created("Deployment", workload("Deployment", { selector: { matchLabels: { a: "c" } } }));
  assert.deepEqual(errorsOf("Deployment", other), [
    'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
  ]);
  const changed = structuredClone(other);
  ((changed["spec"] as JsonObject)["template"] as JsonObject)["metadata"] = { labels: { a: "c" } };
  assert.deepEqual(errorsOf("Deployment", changed, deployment), [
    'spec.selector: Invalid value: {"matchLabels":{"a":"c"}}: field is immutable',
  ]);
  assert.deepEqual(errorsOf("Deployment", created("Deployment", workload("Deployment", { selector: null }))), [
    "spec.selector: Required value",
    'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
  ]);
  assert.deepEqual(
    errorsOf(
      "Deployment",
      created("Deployment", workload("Deployment", {}, { containers: [{ name: "", image: "" }] })),
    ),
    ["spec.template.spec.containers[0].name: Required value", "spec.template.spec.containers[0].image: Required value"],
  );
  assert.deepEqual(
    errorsOf("Deployment", created("Deployment", workload("Deployment", {}, { restartPolicy: "Never" }))),
    ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
  );
  assert.deepEqual(errorsOf("Job", created("Job", workload("Job", { selector: null }))), [
    'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
  ]);
  assert.deepEqual(errorsOf("Service", created("Service", { metadata: { name: "s" }, spec: {} })), [
    "spec.ports: Required value",
  ]);
  assert.deepEqual(
    errorsOf("Service", created("Service", { metadata: { name: "s" }, spec: { ports: [{ port: 1 }, { port: 2 }] } })),
    ["spec.ports[0].name: Required value", "spec.ports[1].name: Required value"],
  );
  assert.match(
    errorsOf("ConfigMap", { metadata: { name: "c" }, data: { "a/b": "x" } })[0]!,
    /^data\[a\/b\]: Invalid value: "a\/b": a valid config key must consist of/,
  );
});

Deno.test("columns: cells of the main kinds", () => {
  const now = Date.parse("2026-01-01T00:02:05Z");
  const row = (kind: string, object: JsonObject, group?: string) =>
    kindOf(kind, group).versions[0]!.columns!.filter((c) => !c.priority).map((c) =>
      c.cell ? c.cell(object, now) : c.jsonPath
    );
  const age = ".metadata.creationTimestamp";
  assert.deepEqual(
    row("Deployment", {
      spec: { replicas: 3 },
      status: { readyReplicas: 2, updatedReplicas: 3, availableReplicas: 2 },
    }),
    ["2/3", 3, 2, age],
  );
  assert.deepEqual(
    row("Pod", {
      spec: { containers: [{}, {}] },
      status: {
        phase: "Running",
        containerStatuses: [{ ready: true }, { restartCount: 4, state: { waiting: { reason: "CrashLoopBackOff" } } }],
      },
    }),
    ["1/2", "CrashLoopBackOff", "4", age],
  );
  assert.deepEqual(
    row("Service", {
      spec: { type: "LoadBalancer", clusterIP: "10.0.0.1", ports: [{ port: 80, nodePort: 30080, protocol: "TCP" }] },
    }),
    ["LoadBalancer", "10.0.0.1", "<pending>", "80:30080/TCP", age],
  );
  assert.deepEqual(
    row("Job", {
      spec: { completions: 1 },
      status: { succeeded: 1, startTime: "2026-01-01T00:00:00Z", conditions: [{ type: "Complete", status: "True" }] },
    }),
    ["Complete", "1/1", "2m5s", age],
  );
  assert.deepEqual(row("ConfigMap", { data: { a: "1" }, binaryData: { b: "" } }), [2, age]);
});

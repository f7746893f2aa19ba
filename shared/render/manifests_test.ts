import assert from "node:assert/strict";
import type { Unstructured } from "../kube/mod.ts";
import { detectRenderType, RenderError, renderManifests } from "./mod.ts";

const files = (texts: Record<string, string | Uint8Array>) =>
  Object.entries(texts).map(([path, text]) => ({
    path,
    read: () => Promise.resolve(typeof text === "string" ? new TextEncoder().encode(text) : text),
  }));
const names = (objects: Unstructured[]) =>
  objects.map((o) => `${o.kind}/${o.metadata.namespace ?? ""}/${o.metadata.name}`);
async function failure(texts: Record<string, string | Uint8Array>): Promise<RenderError> {
  try {
    await renderManifests(files(texts));
  } catch (error) {
    assert.ok(error instanceof RenderError);
    return error;
  }
  return assert.fail("no error");
}
const configMap = (name: string, more = "") => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}${more}}\n`;

Deno.test("renderManifests() takes files in order, documents in order, and skips what is no manifest", async () => {
  const { objects, problems } = await renderManifests(files({
    "a/README.md": "not: [yaml",
    "a/1.yaml": `# head\n---\n${configMap("one")}---\n# nothing\n---\n${configMap("two")}`,
    "a/2.yml": configMap("three", ", namespace: team"),
    "a/3.json": JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } }),
    "a/empty.yaml": "",
  }));
  assert.deepEqual(names(objects), [
    "ConfigMap/default/one",
    "ConfigMap/default/two",
    "ConfigMap/team/three",
    "Namespace//team",
  ]);
  assert.deepEqual(problems, []);
});

Deno.test("renderManifests() expands lists, also typed and nested ones, and leaves other kinds called …List", async () => {
  const { objects } = await renderManifests(files({
    "l.yaml": `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
- apiVersion: v1
  kind: ConfigMapList
  items: [{metadata: {name: b}}]
---
apiVersion: demo.example/v1
kind: AllowList
metadata: {name: c, namespace: t}
`,
  }));
  assert.deepEqual(names(objects), ["ConfigMap/default/a", "ConfigMap/default/b", "AllowList/t/c"]);
  const error = await failure({ "l.yaml": "apiVersion: v1\nkind: List\nitems:\n- {kind: X}\n" });
  assert.match(error.message, /l\.yaml:1: item 1 of the list has no apiVersion/);
});

Deno.test("renderManifests() names file, line and column of text that does not parse", async () => {
  const error = await failure({ "ok.yaml": configMap("a"), "bad.yaml": "a: 1\nb: [1\nc: 2\n" });
  assert.deepEqual([error.file, error.line, error.column], ["bad.yaml", 3, 1]);
  assert.match(error.message, /^Cannot render: bad\.yaml:3:1: /);
});

Deno.test("renderManifests() tells all problems of all files, each with its mend", async () => {
  const error = await failure({
    "1.yaml": "x: 1\n",
    "2.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\n",
    "3.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: 1}\n---\n- a\n---\napiVersion: v1\nkind: Pod\n",
    "4.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {on: off}}\n",
    "5.yaml": new Uint8Array([0x61, 0xff, 0xfe]),
  });
  const told = error.problems.map((p) => `${p.file}:${p.line} ${p.message}`);
  assert.equal(told.length, 7);
  assert.match(told[0]!, /^1\.yaml:1 the document has no apiVersion; add it/);
  assert.match(told[1]!, /generateName.*give it a metadata\.name/);
  assert.match(told[2]!, /metadata\.name that is no string; put quotes/);
  assert.match(told[3]!, /^3\.yaml:5 .*is no object/);
  assert.match(told[4]!, /^3\.yaml:7 .*\(Pod\) has no metadata\.name/);
  assert.match(told[5]!, /metadata\.labels a "true" that is no string/);
  assert.match(told[6]!, /^5\.yaml:0 .*not UTF-8/);
  assert.match(error.message, /\(and 6 more\)$/);
});

Deno.test("renderManifests() refuses two objects with one identity and names both places", async () => {
  const error = await failure({
    "a.yaml": configMap("x"),
    "b.yaml": `\n${configMap("x", ", namespace: default")}---\n${configMap("x", ", namespace: other")}`,
  });
  assert.equal(error.problems.length, 1);
  assert.equal(
    error.message,
    "Cannot render: b.yaml:2: ConfigMap default/x is there twice: also at a.yaml:1; take one of them out",
  );
});

Deno.test("renderManifests() puts namespaces by scope: built in, from a CRD among the objects, asked", async () => {
  const asked: string[] = [];
  const { objects, problems } = await renderManifests(
    files({
      "a.yaml": `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: r, namespace: wrong}
---
apiVersion: demo.example/v1
kind: Zone
metadata: {name: z}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: zones.demo.example}
spec: {group: demo.example, scope: Cluster, names: {kind: Zone, plural: zones}}
---
apiVersion: other.example/v1
kind: App
metadata: {name: one}
---
apiVersion: other.example/v1
kind: App
metadata: {name: two}
---
apiVersion: unknown.example/v1
kind: What
metadata: {name: w}
`,
    }),
    {
      targetNamespace: "team",
      scopeOf: (group, kind) => {
        asked.push(`${group}/${kind}`);
        return group === "other.example" ? "Namespaced" : undefined;
      },
    },
  );
  assert.deepEqual(names(objects), [
    "ClusterRole//r",
    "Zone//z",
    "CustomResourceDefinition//zones.demo.example",
    "App/team/one",
    "App/team/two",
    "What//w",
  ]);
  assert.deepEqual(asked, ["other.example/App", "unknown.example/What"]);
  assert.match(problems[0]!.message, /ClusterRole "r" has no namespace/);
});

Deno.test("renderManifests() adds common labels and annotations and leaves out marks and what only a server sets", async () => {
  const { objects, problems } = await renderManifests(
    files({
      "a.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  uid: 123e
  resourceVersion: "7"
  creationTimestamp: null
  labels: {app: web, team: old, convoy.kumodo.io/release-uid: other}
  annotations: {convoy.kumodo.io/release: x/y}
`,
    }),
    { commonLabels: { team: "new" }, commonAnnotations: { by: "convoy" } },
  );
  assert.deepEqual(objects[0]!.metadata, {
    name: "a",
    namespace: "default",
    labels: { app: "web", team: "new" },
    annotations: { by: "convoy" },
  });
  assert.deepEqual(problems.map((p) => p.message), [
    'metadata.resourceVersion of ConfigMap "a" was left out',
    'metadata.uid of ConfigMap "a" was left out',
  ]);
});

Deno.test("renderManifests() keeps big integers and null as they are", async () => {
  const { objects } = await renderManifests(files({
    "a.yaml":
      "apiVersion: d/v1\nkind: L\nmetadata: {name: a}\nspec: {serial: 9007199254740993, gone: null, empty: {}}\n",
  }));
  assert.deepEqual(objects[0]!.spec, { serial: 9007199254740993n, gone: null, empty: {} });
});

Deno.test("C05: a bare word in a ConfigMap stays a boolean for the target to refuse, and the Pod is read", async () => {
  const { objects } = await renderManifests(files({
    "c05.yaml": `apiVersion: v1
kind: Pod
metadata: {name: p, namespace: t1}
spec:
  containers: [{name: c, image: x}]
  volumes:
  - {name: v1, secret: {secretName: s, defaultMode: 0644}}
  - {name: v2, secret: {secretName: s, defaultMode: 0o644}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: words, namespace: t1}
data: {q: "on", country: "no", flag: on}
`,
  }));
  const spec = objects[0]!.spec as unknown as { volumes: { secret: { defaultMode: number } }[] };
  assert.deepEqual(spec.volumes.map((v) => v.secret.defaultMode), [420, 420]);
  assert.deepEqual(objects[1]!.data, { q: "on", country: "no", flag: true });
});

Deno.test("detectRenderType() looks at the folder itself", () => {
  assert.equal(detectRenderType(["a/Chart.yaml", "a/values.yaml"], "./a/"), "Helm");
  assert.equal(detectRenderType(["a/kustomization.yml"], "a"), "Kustomize");
  assert.equal(detectRenderType(["a/b/Chart.yaml", "a/x.yaml"], "a"), "Manifests");
  assert.equal(detectRenderType(["Kustomization"], "."), "Kustomize");
});

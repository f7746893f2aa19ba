import assert from "node:assert/strict";
import { deepFreeze, type KubeObject } from "../kube/mod.ts";
import { OWNER_ANNOTATION, OWNER_LABEL, ownerOf, withOwnerMark } from "./mod.ts";

const release: KubeObject = {
  apiVersion: "convoy.kumodo.io/v1alpha1",
  kind: "Release",
  metadata: { namespace: "team", name: "shop", uid: "u-1" },
};

Deno.test("withOwnerMark() marks a copy and keeps what is there", () => {
  const object = deepFreeze({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", labels: { x: "y" }, annotations: { p: "q", [OWNER_ANNOTATION]: "other/one" } },
    data: { k: "v" },
  });
  const marked = withOwnerMark(object, release);
  assert.deepEqual(marked, {
    ...object,
    metadata: {
      name: "a",
      labels: { x: "y", [OWNER_LABEL]: "u-1" },
      annotations: { p: "q", [OWNER_ANNOTATION]: "team/shop" },
    },
  });
  assert.deepEqual(ownerOf(marked), { uid: "u-1", release: "team/shop" });
});

Deno.test("withOwnerMark() takes objects without labels, with null ones, and with hostile keys", () => {
  const hostile = JSON.parse('{"metadata":{"name":"a","labels":{"__proto__":"x"},"annotations":null}}');
  const marked = withOwnerMark(hostile, release);
  assert.deepEqual(Object.keys(marked.metadata.labels), ["__proto__", OWNER_LABEL]);
  assert.deepEqual(marked.metadata.annotations, { [OWNER_ANNOTATION]: "team/shop" });
  assert.throws(() => withOwnerMark(hostile, { ...release, metadata: { name: "shop" } }), /has no uid/);
});

Deno.test("ownerOf() tells each half of a mark, and nothing of an object without one", () => {
  const bare: KubeObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
  assert.equal(ownerOf(bare), undefined);
  assert.equal(ownerOf({ ...bare, metadata: { name: "a", labels: { app: "x" } } }), undefined);
  const half = { ...bare, metadata: { name: "a", annotations: { [OWNER_ANNOTATION]: "team/shop" } } };
  assert.deepEqual(ownerOf(half), { uid: "", release: "team/shop" });
});

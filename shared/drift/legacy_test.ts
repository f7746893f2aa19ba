import assert from "node:assert/strict";
import { legacyRemovals, parsePattern } from "./mod.ts";

const entry = (manager: string, operation: string, fieldsV1: object, subresource?: string) => ({
  manager,
  operation,
  apiVersion: "v1",
  fieldsType: "FieldsV1",
  fieldsV1,
  ...(subresource ? { subresource } : {}),
});
const cfg = (data: object, ...managedFields: object[]) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "cfg", namespace: "t1", managedFields },
  data,
});
const CSA = entry("kubectl-client-side-apply", "Update", { "f:data": { ".": {}, "f:a": {}, "f:old": {} } });
const OURS = entry("convoy", "Apply", { "f:data": { "f:a": {} } });
const LEGACY = new Set(["kubectl-client-side-apply", "helm"]);
const removals = (live: object, wanted: object) => legacyRemovals(live, wanted, LEGACY, "convoy");

Deno.test("C04: what only a legacy manager owns is drift, to be removed", () => {
  const live = cfg({ a: "1", old: "x" }, CSA);
  assert.deepEqual(removals(live, cfg({ a: "1", old: "x" }, OURS, CSA)), ["/data/old"]);
});

Deno.test("C04: a key that another Apply manager or an unrelated Update owns stays", () => {
  for (
    const other of [
      entry("hpa", "Apply", { "f:data": { "f:old": {} } }),
      entry("edit", "Update", { "f:data": { "f:old": {} } }),
    ]
  ) {
    const live = cfg({ a: "1", old: "x" }, other, CSA);
    assert.deepEqual(removals(live, cfg({ a: "1", old: "x" }, OURS, other, CSA)), []);
  }
});

Deno.test("C04: entries of managers that are not listed, of subresources and by Apply do not count", () => {
  const fields = { "f:data": { "f:old": {} } };
  for (
    const e of [
      entry("edit", "Update", fields),
      entry("helm", "Update", fields, "status"),
      entry("helm", "Apply", fields),
    ]
  ) {
    assert.deepEqual(removals(cfg({ old: "x" }, e), cfg({ old: "x" }, OURS, e)), []);
  }
});

Deno.test("C04: items of keyed lists, whole or in part", () => {
  const item = (fields: object) => ({ "f:spec": { "f:containers": fields } });
  const legacy = entry(
    "helm",
    "Update",
    item({
      'k:{"name":"a"}': { ".": {}, "f:name": {}, "f:image": {}, "f:tty": {} },
      'k:{"name":"b"}': { ".": {}, "f:name": {}, "f:image": {} },
    }),
  );
  const ours = entry("convoy", "Apply", item({ 'k:{"name":"a"}': { ".": {}, "f:name": {}, "f:image": {} } }));
  const live = {
    metadata: { managedFields: [legacy] },
    spec: { containers: [{ name: "b", image: "x" }, { name: "a", image: "y", tty: true }] },
  };
  assert.deepEqual(removals(live, { ...live, metadata: { managedFields: [ours, legacy] } }), [
    "/spec/containers[name=a]/tty",
    "/spec/containers[name=b]",
  ]);
});

Deno.test("C04: fields that are gone already, and managedFields of a wrong shape, are passed over", () => {
  assert.deepEqual(removals(cfg({ a: "1" }, CSA), cfg({ a: "1" }, OURS, CSA)), []);
  const wanted = cfg({ a: "1", old: "x" }, OURS, CSA);
  const ignore = [parsePattern("/data/old")];
  assert.deepEqual(legacyRemovals(cfg({ old: "x" }), wanted, LEGACY, "convoy", ignore), [], "ignored");
  assert.deepEqual(removals(cfg({ old: "x" }), wanted), ["/data/old"], "live without managedFields");
  const odd = { metadata: { managedFields: [null, 3, { manager: "helm", operation: "Update", fieldsV1: "x" }] } };
  assert.deepEqual(removals(odd, odd), []);
  const broken = cfg({}, entry("helm", "Update", { "k:{": {}, "x": {}, "f:data": { "k:nope": {} } }));
  assert.deepEqual(removals(broken, broken), []);
});

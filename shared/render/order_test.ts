import assert from "node:assert/strict";
import fc from "fast-check";
import { applyOrder, applyRank, deleteOrder } from "./mod.ts";

const object = (apiVersion: string, kind: string, name = "x") => ({ apiVersion, kind, metadata: { name } });

Deno.test("C14: order goes by kind and group: core Namespace and CRD first, the vendor's Namespace after them", () => {
  const objects = [
    object("bus.vendor.example/v1", "Namespace", "queue"),
    object("v1", "Namespace", "team"),
    object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "namespaces.bus.vendor.example"),
    object("v1", "ConfigMap", "late"),
  ];
  assert.deepEqual(applyOrder(objects).map((o) => o.metadata.name), [
    "team",
    "namespaces.bus.vendor.example",
    "late",
    "queue",
  ]);
  assert.deepEqual(deleteOrder(objects).map((o) => o.metadata.name), [
    "queue",
    "late",
    "namespaces.bus.vendor.example",
    "team",
  ]);
});

Deno.test("applyOrder() puts what others need before them and webhooks last", () => {
  const kinds = [
    ["admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"],
    ["demo.example/v1", "App"],
    ["networking.k8s.io/v1", "Ingress"],
    ["apps/v1", "Deployment"],
    ["v1", "Service"],
    ["rbac.authorization.k8s.io/v1", "RoleBinding"],
    ["rbac.authorization.k8s.io/v1", "Role"],
    ["v1", "PersistentVolumeClaim"],
    ["v1", "Secret"],
    ["v1", "ServiceAccount"],
  ].map(([v, k]) => object(v!, k!));
  assert.deepEqual(applyOrder(kinds).map((o) => o.kind), kinds.map((o) => o.kind).reverse());
});

Deno.test("applyOrder() is stable within a rank and loses nothing", () => {
  const some = fc.array(fc.constantFrom(["v1", "Secret"], ["v1", "ConfigMap"], ["v1", "Namespace"], ["x/v1", "Pod"]));
  fc.assert(fc.property(some, (kinds) => {
    const objects = kinds.map(([v, k], i) => object(v!, k!, String(i)));
    const ordered = applyOrder(objects);
    assert.equal(ordered.length, objects.length);
    for (let i = 1; i < ordered.length; i++) {
      const [a, b] = [ordered[i - 1]!, ordered[i]!];
      const rank = (o: typeof a) => applyRank(o.apiVersion.includes("/") ? "x" : "", o.kind);
      assert.ok(rank(a) < rank(b) || rank(a) === rank(b) && Number(a.metadata.name) < Number(b.metadata.name));
    }
  }));
});

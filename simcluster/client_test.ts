/** The project's own client against simulated clusters: HTTP/2 over TLS with a path in the server's address. */
import assert from "node:assert/strict";
import { createKubeClient, kubeconfigTransport, type Resource, type Unstructured } from "../shared/kube/mod.ts";
import { startSimClusters } from "./mod.ts";

const MAPS: Resource = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };

function configMap(name: string): Unstructured {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" }, data: { k: "v" } };
}

Deno.test("kubeconfig(): the client applies, watches, sees the watch break when the cluster is down, and goes on after", async () => {
  const sim = await startSimClusters({ names: ["a", "b"] });
  try {
    const connect = (name: string) =>
      createKubeClient(kubeconfigTransport(sim.cluster(name).kubeconfig(), { label: name }));
    const a = connect("a");
    const b = connect("b");
    const made = await a.apply(MAPS, configMap("one"), { fieldManager: "convoy" });
    assert.equal(made.metadata.managedFields?.[0]?.manager, "convoy");
    const list = await a.list<Unstructured>(MAPS, { namespace: "default" });
    const watch = await a.watch<Unstructured>(MAPS, {
      namespace: "default",
      resourceVersion: list.metadata.resourceVersion,
    });
    const seen: string[] = [];
    let onSeen = () => {};
    const first = new Promise<void>((resolve) => onSeen = resolve);
    const ended = (async () => {
      for await (const event of watch) {
        if (event.type !== "BOOKMARK") seen.push(`${event.type} ${(event.object as Unstructured).metadata.name}`);
        onSeen();
      }
    })();
    await a.apply(MAPS, configMap("two"), { fieldManager: "convoy" });
    await first;
    assert.deepEqual(seen, ["ADDED two"]);
    sim.cluster("a").faults.set({ down: true });
    await assert.rejects(ended);
    await assert.rejects(a.get(MAPS, { namespace: "default", name: "one" }));
    await assert.rejects(b.get(MAPS, { namespace: "default", name: "one" }), /not found/);
    sim.cluster("a").faults.set({});
    assert.equal((await a.get<Unstructured>(MAPS, { namespace: "default", name: "one" })).metadata.name, "one");
    a.close();
    b.close();
  } finally {
    await sim.close();
  }
});

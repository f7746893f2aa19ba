/** What a new cluster holds. @module */
import type { JsonObject } from "../shared/json/mod.ts";
import { rfc3339 } from "../shared/runtime/clock.ts";
import { PLACES, type SimStore } from "./controllers/mod.ts";

const NAMESPACES = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** Fills an empty cluster: namespaces, nodes, storage classes, the Service of the API. A filled one is left as it is. */
export async function seed(store: SimStore, nodes: number, now: number): Promise<void> {
  if (await store.get(PLACES.Namespace, "", "default")) return;
  for (const name of NAMESPACES) {
    await store.create(PLACES.Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  for (let i = 1; i <= nodes; i++) await makeNode(store, `node-${i}`, now);
  await store.create(PLACES.StorageClass, storageClass("standard", "Immediate", true));
  await store.create(PLACES.StorageClass, storageClass("local", "WaitForFirstConsumer", false));
  await store.create(PLACES.Service, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "kubernetes", namespace: "default", labels: { component: "apiserver", provider: "kubernetes" } },
    spec: { clusterIP: "10.96.0.1", ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: 6443 }] },
  });
}

function storageClass(name: string, volumeBindingMode: string, isDefault: boolean): JsonObject {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: {
      name,
      ...(isDefault ? { annotations: { "storageclass.kubernetes.io/is-default-class": "true" } } : {}),
    },
    provisioner: "sim.convoy.kumodo.io",
    volumeBindingMode,
    allowVolumeExpansion: true,
  };
}

async function makeNode(store: SimStore, name: string, now: number): Promise<void> {
  await store.create(PLACES.Node, {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux" } },
    spec: {},
  });
  const node = await store.get(PLACES.Node, "", name);
  if (!node) return;
  const time = rfc3339(now);
  await store.writeStatus(PLACES.Node, node, {
    capacity: { cpu: "8", memory: "32Gi", pods: "110" },
    allocatable: { cpu: "8", memory: "32Gi", pods: "110" },
    conditions: [{
      type: "Ready",
      status: "True",
      reason: "KubeletReady",
      message: "the simulated node is ready",
      lastHeartbeatTime: time,
      lastTransitionTime: time,
    }],
    addresses: [{ type: "InternalIP", address: "192.0.2.10" }, { type: "Hostname", address: name }],
    nodeInfo: {
      machineID: "",
      systemUUID: "",
      bootID: "",
      kernelVersion: "6.1.0-sim",
      osImage: "Simulated",
      containerRuntimeVersion: "sim://1",
      kubeletVersion: "v1.36.3",
      kubeProxyVersion: "",
      operatingSystem: "linux",
      architecture: "amd64",
    },
  });
}

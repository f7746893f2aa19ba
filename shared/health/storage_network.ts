/** Storage and network: PersistentVolumeClaim, PersistentVolume, Service, Ingress. @module */
import type { JsonObject } from "../json/mod.ts";
import { at, degraded, healthy, items, progressing, str } from "./read.ts";
import type { Assessment, HealthContext } from "./types.ts";

/** Set by the scheduler once a pod that uses the claim has a node: from then on a volume is on its way. */
const SELECTED_NODE = "volume.kubernetes.io/selected-node";

/** core PersistentVolumeClaim. A claim that waits for its first consumer by design is Healthy (C22). */
export function persistentVolumeClaim(object: JsonObject, ctx: HealthContext): Assessment {
  const phase = str(object, "status", "phase");
  if (phase === "Bound") return healthy();
  if (phase === "Lost") return degraded("lost its volume");
  const name = at(object, "spec", "storageClassName");
  const dynamic = name !== "" && !str(object, "spec", "volumeName");
  if (dynamic && !str(object, "metadata", "annotations", SELECTED_NODE)) {
    const info = ctx.storageClass?.(typeof name === "string" ? name : undefined);
    if (info?.volumeBindingMode === "WaitForFirstConsumer") return healthy("waiting for the first consumer");
  }
  return progressing("waits for a volume");
}

/** core PersistentVolume. */
export function persistentVolume(object: JsonObject): Assessment {
  const phase = str(object, "status", "phase");
  if (phase === "Failed") {
    return degraded(str(object, "status", "message") || str(object, "status", "reason") || "failed");
  }
  return phase === "" || phase === "Pending" ? progressing("not available yet") : healthy(phase.toLowerCase());
}

/** core Service: only a LoadBalancer has something to wait for. */
export function service(object: JsonObject): Assessment {
  if (str(object, "spec", "type") !== "LoadBalancer") return healthy();
  const address = addresses(object)[0];
  return address ? healthy(address) : progressing("has no address yet");
}

/** networking Ingress: many controllers never publish an address, so it never blocks (C22). */
export function ingress(object: JsonObject): Assessment {
  return healthy(addresses(object)[0] ?? "no address published");
}

function addresses(object: JsonObject): string[] {
  return items(object, "status", "loadBalancer", "ingress")
    .map((i) => str(i, "ip") || str(i, "hostname"))
    .filter(Boolean);
}

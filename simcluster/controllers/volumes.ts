/** PersistentVolumeClaims: bound to a volume made for them. @module */
import type { JsonObject } from "../../shared/json/mod.ts";
import { type Place, type SimContext, type SimController, waiting } from "./contract.ts";
import { at, items, nameOf, namespaceOf, text, uidOf } from "./fields.ts";
import { PLACES } from "./places.ts";

const PVC_PROTECTION = "kubernetes.io/pvc-protection";
const PV_PROTECTION = "kubernetes.io/pv-protection";
const DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class";

/** Claims are bound `delays.bind` after they, or their first consumer, appeared. */
export const claims: SimController = {
  place: PLACES.PersistentVolumeClaim,
  async reconcile(object, ctx) {
    if (at(object, "metadata")["deletionTimestamp"]) {
      if (!await hasConsumer(object, ctx)) await unprotect(object, PLACES.PersistentVolumeClaim, PVC_PROTECTION, ctx);
      return undefined;
    }
    if (text(at(object, "status"), "phase") === "Bound") return undefined;
    const spec = at(object, "spec");
    const volumeName = text(spec, "volumeName");
    if (volumeName) {
      await ctx.store.writeStatus(PLACES.PersistentVolumeClaim, object, {
        phase: "Bound",
        accessModes: spec["accessModes"] ?? [],
        capacity: { storage: at(spec, "resources", "requests")["storage"] ?? "1Gi" },
      });
      return undefined;
    }
    const storageClass = await classOf(object, ctx);
    if (!storageClass) return undefined; // Without a class there is nothing that makes a volume.
    if (typeof spec["storageClassName"] !== "string") {
      spec["storageClassName"] = nameOf(storageClass);
      await ctx.store.update(PLACES.PersistentVolumeClaim, object);
      return undefined;
    }
    const waits = text(storageClass, "volumeBindingMode") === "WaitForFirstConsumer";
    if (waits && !await hasConsumer(object, ctx)) return undefined;
    const key = uidOf(object);
    const r = ctx.rollouts.get(key);
    if (!r) {
      const readyAt = ctx.now + ctx.delays.bind;
      ctx.rollouts.set(key, waiting(readyAt));
      return ctx.delays.bind;
    }
    if (ctx.now < r.readyAt) return r.readyAt - ctx.now;
    ctx.rollouts.delete(key);
    const name = `pvc-${uidOf(object)}`;
    await ctx.store.create(PLACES.PersistentVolume, volumeFor(object, storageClass, name));
    spec["volumeName"] = name;
    await ctx.store.update(PLACES.PersistentVolumeClaim, object);
    return undefined;
  },
  async gone(object, ctx) {
    ctx.rollouts.delete(uidOf(object));
    const name = text(at(object, "spec"), "volumeName");
    const volume = name ? await ctx.store.get(PLACES.PersistentVolume, "", name) : undefined;
    if (volume && text(at(volume, "spec"), "persistentVolumeReclaimPolicy") === "Delete") {
      await ctx.store.remove(PLACES.PersistentVolume, "", name);
    }
  },
};

/** Takes a protecting finalizer off. */
async function unprotect(object: JsonObject, place: Place, finalizer: string, ctx: SimContext): Promise<void> {
  const metadata = at(object, "metadata");
  const finalizers = Array.isArray(metadata["finalizers"]) ? metadata["finalizers"] : [];
  if (!finalizers.includes(finalizer)) return;
  metadata["finalizers"] = finalizers.filter((f) => f !== finalizer);
  await ctx.store.update(place, object);
}

async function classOf(claim: JsonObject, ctx: SimContext): Promise<JsonObject | undefined> {
  const name = at(claim, "spec")["storageClassName"];
  if (typeof name === "string") return name ? await ctx.store.get(PLACES.StorageClass, "", name) : undefined;
  const all = await ctx.store.list(PLACES.StorageClass);
  return all.find((c) => text(at(c, "metadata", "annotations"), DEFAULT_CLASS) === "true");
}

async function hasConsumer(claim: JsonObject, ctx: SimContext): Promise<boolean> {
  const pods = await ctx.store.list(PLACES.Pod, namespaceOf(claim));
  return pods.some((p) => claimsOf(p).includes(nameOf(claim)));
}

/** Names of the claims that a pod uses. */
export function claimsOf(pod: JsonObject): string[] {
  return items(at(pod, "spec"), "volumes").map((v) => text(at(v, "persistentVolumeClaim"), "claimName")).filter((n) =>
    n
  );
}

function volumeFor(claim: JsonObject, storageClass: JsonObject, name: string): JsonObject {
  const spec = at(claim, "spec");
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name, annotations: { "pv.kubernetes.io/provisioned-by": text(storageClass, "provisioner") } },
    spec: {
      accessModes: spec["accessModes"] ?? [],
      capacity: { storage: at(spec, "resources", "requests")["storage"] ?? "1Gi" },
      claimRef: {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        namespace: namespaceOf(claim),
        name: nameOf(claim),
        uid: uidOf(claim),
      },
      csi: { driver: text(storageClass, "provisioner"), volumeHandle: name },
      persistentVolumeReclaimPolicy: text(storageClass, "reclaimPolicy") || "Delete",
      storageClassName: nameOf(storageClass),
      volumeMode: text(spec, "volumeMode") || "Filesystem",
    },
  };
}

/** Volumes: bound when they have a claim. */
export const volumes: SimController = {
  place: PLACES.PersistentVolume,
  async reconcile(object, ctx) {
    const claim = at(object, "spec", "claimRef");
    if (at(object, "metadata")["deletionTimestamp"]) {
      const place = PLACES.PersistentVolumeClaim;
      const used = await ctx.store.get(place, text(claim, "namespace"), text(claim, "name"));
      if (!used || uidOf(used) !== text(claim, "uid")) {
        await unprotect(object, PLACES.PersistentVolume, PV_PROTECTION, ctx);
      }
      return undefined;
    }
    const claimed = Object.keys(claim).length > 0;
    await ctx.store.writeStatus(PLACES.PersistentVolume, object, {
      ...at(object, "status"),
      phase: claimed ? "Bound" : "Available",
    });
    return undefined;
  },
};

/** Storage classes: claims that wait for one are looked at again. */
export const storageClasses: SimController = {
  place: PLACES.StorageClass,
  async reconcile(_object, ctx) {
    for (const claim of await ctx.store.list(PLACES.PersistentVolumeClaim)) {
      if (text(at(claim, "status"), "phase") !== "Bound") {
        ctx.wake(PLACES.PersistentVolumeClaim, namespaceOf(claim), nameOf(claim));
      }
    }
    return undefined;
  },
};

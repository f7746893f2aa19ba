/** Defaults and checks of PersistentVolume, PersistentVolumeClaim, StorageClass, CSIDriver. @module */
import type { JsonObject } from "../json/mod.ts";
import type { KindStrategy } from "../server/contract.ts";
import {
  asObject,
  ensureObject,
  fill,
  fillText,
  forbidden,
  invalid,
  objectAt,
  required,
  sameJson,
  stringIn,
  unsupported,
} from "./fields.ts";

const ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/** v1 PersistentVolume. */
export const persistentVolume: KindStrategy = {
  prepare(object) {
    const spec = ensureObject(object, "spec");
    if (spec) {
      fillText(spec, "persistentVolumeReclaimPolicy", "Retain");
      fillText(spec, "volumeMode", "Filesystem");
    }
    const hostPath = objectAt(spec, "hostPath");
    if (hostPath) fill(hostPath, "type", "");
    const status = ensureObject(object, "status");
    if (status) fillText(status, "phase", "Pending");
  },
  allocate(object, old) {
    if (old) return;
    protect(object, "kubernetes.io/pv-protection");
    const status = ensureObject(object, "status");
    const created = objectAt(object, "metadata")?.["creationTimestamp"];
    if (status && created !== undefined) fill(status, "lastPhaseTransitionTime", created);
  },
};

/** Adds the finalizer that keeps a volume or a claim while it is in use. */
function protect(object: JsonObject, finalizer: string): void {
  const metadata = ensureObject(object, "metadata");
  if (!metadata) return;
  const finalizers = Array.isArray(metadata["finalizers"]) ? metadata["finalizers"] : [];
  if (!finalizers.includes(finalizer)) metadata["finalizers"] = [...finalizers, finalizer];
}

/** v1 PersistentVolumeClaim. */
export const persistentVolumeClaim: KindStrategy = {
  prepare(object) {
    const spec = ensureObject(object, "spec");
    if (spec) fillText(spec, "volumeMode", "Filesystem");
    const status = ensureObject(object, "status");
    if (status) fillText(status, "phase", "Pending");
  },
  allocate(object, old) {
    if (!old) protect(object, "kubernetes.io/pvc-protection");
  },
  validate(object, old) {
    const spec = objectAt(object, "spec");
    const modes = Array.isArray(spec?.["accessModes"]) ? spec["accessModes"] : [];
    const errors = modes.length === 0
      ? [required("spec.accessModes", "at least 1 access mode is required")]
      : modes.filter((m) => !ACCESS_MODES.includes(String(m))).map((m) =>
        unsupported("spec.accessModes", m, ACCESS_MODES)
      );
    if (objectAt(spec, "resources", "requests")?.["storage"] === undefined) {
      errors.push(required("spec.resources[storage]"));
    }
    const was = objectAt(old, "spec");
    if (spec && was) {
      const bound = stringIn(objectAt(old, "status"), "phase") === "Bound";
      const strip = (s: typeof spec) => {
        const out = { ...s };
        if (bound) delete out["volumeAttributesClassName"];
        if (bound) delete out["resources"];
        // The volume controller binds a claim once, and may set the default class.
        if (!was["volumeName"]) delete out["volumeName"];
        if (!was["storageClassName"]) delete out["storageClassName"];
        return out;
      };
      if (!sameJson(strip(spec), strip(was))) {
        errors.push(forbidden(
          "spec",
          "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
        ));
      }
    }
    return errors;
  },
};

/** storage.k8s.io/v1 StorageClass. */
export const storageClass: KindStrategy = {
  prepare(object) {
    fillText(object, "reclaimPolicy", "Delete");
    fillText(object, "volumeBindingMode", "Immediate");
  },
  validate(object, old) {
    if (!stringIn(object, "provisioner")) return [required("provisioner")];
    if (!old) return [];
    const errors = ["parameters", "provisioner", "reclaimPolicy"].filter((f) =>
      !sameJson(object[f] ?? null, old[f] ?? null)
    ).map((f) => forbidden(f, `updates to ${f} are forbidden.`));
    if (!sameJson(object["volumeBindingMode"] ?? null, old["volumeBindingMode"] ?? null)) {
      errors.push(invalid("volumeBindingMode", object["volumeBindingMode"], "field is immutable"));
    }
    return errors;
  },
};

/** storage.k8s.io/v1 CSIDriver. */
export const csiDriver: KindStrategy = {
  prepare(object) {
    const spec = ensureObject(object, "spec");
    if (!spec) return;
    fill(spec, "attachRequired", true);
    for (const field of ["podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount"]) {
      fill(spec, field, false);
    }
    fillText(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    if (!Array.isArray(spec["volumeLifecycleModes"]) || spec["volumeLifecycleModes"].length === 0) {
      spec["volumeLifecycleModes"] = ["Persistent"];
    }
  },
  validate: (object) => asObject(object["spec"]) ? [] : [required("spec")],
};

/** Who acts on the target, by `spec.serviceAccountName`: the same for the apply and the drift dry run (rule 8). @module */
import type { Release } from "../api/types.ts";
import type { Impersonation } from "./apply.ts";

/** The option to spread into {@link ./apply.ts ApplyOptions}; empty without a ServiceAccount. */
export function impersonation(release: Release): { impersonate?: Impersonation } {
  const { serviceAccountName, render } = release.spec;
  if (!serviceAccountName) return {};
  const namespace = render.targetNamespace ?? "default";
  return {
    impersonate: {
      user: `system:serviceaccount:${namespace}:${serviceAccountName}`,
      groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
    },
  };
}

/** Services, Ingresses, Namespaces, PodDisruptionBudgets, APIServices. @module */
import type { JsonObject } from "../../shared/json/mod.ts";
import { selectorMatches } from "../../shared/facts/mod.ts";
import { type SimContext, type SimController, waiting } from "./contract.ts";
import { at, condition, hashOf, items, nameOf, namespaceOf, number, text, uidOf } from "./fields.ts";
import { PLACES } from "./places.ts";

/** An address in 198.51.100.0/24 (for documentation), the same for the same object. */
function addressOf(object: JsonObject): string {
  let n = 7;
  for (const c of hashOf(uidOf(object))) n = (n * 31 + c.charCodeAt(0)) % 254;
  return `198.51.100.${n + 1}`;
}

async function giveAddress(
  object: JsonObject,
  ctx: SimContext,
  place: SimController["place"],
): Promise<number | undefined> {
  const status = at(object, "status");
  if (items(at(status, "loadBalancer"), "ingress").length > 0) return undefined;
  const key = uidOf(object);
  const known = ctx.rollouts.get(key);
  const readyAt = known?.readyAt ?? ctx.now + ctx.delays.address;
  if (ctx.now < readyAt) {
    ctx.rollouts.set(key, waiting(readyAt));
    return readyAt - ctx.now;
  }
  ctx.rollouts.delete(key);
  await ctx.store.writeStatus(place, object, { ...status, loadBalancer: { ingress: [{ ip: addressOf(object) }] } });
  return undefined;
}

/** Services of type LoadBalancer get an address after `delays.address`, and lose it with the type. */
export const services: SimController = {
  place: PLACES.Service,
  async reconcile(object, ctx) {
    if (text(at(object, "spec"), "type") === "LoadBalancer") return giveAddress(object, ctx, PLACES.Service);
    const status = at(object, "status");
    if (items(at(status, "loadBalancer"), "ingress").length > 0) {
      await ctx.store.writeStatus(PLACES.Service, object, { ...status, loadBalancer: {} });
    }
    return undefined;
  },
  async gone(object, ctx) {
    ctx.rollouts.delete(uidOf(object));
  },
};

/** Ingresses get an address after `delays.address`. */
export const ingresses: SimController = {
  place: PLACES.Ingress,
  reconcile: (object, ctx) => giveAddress(object, ctx, PLACES.Ingress),
  async gone(object, ctx) {
    ctx.rollouts.delete(uidOf(object));
  },
};

/** Namespaces: each has the ServiceAccount `default`. */
export const namespaces: SimController = {
  place: PLACES.Namespace,
  async reconcile(object, ctx) {
    if (at(object, "metadata")["deletionTimestamp"]) return undefined;
    await ctx.store.create(PLACES.ServiceAccount, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "default", namespace: nameOf(object) },
    });
    return undefined;
  },
};

/** ServiceAccounts: `default` comes back when it is deleted. */
export const serviceAccounts: SimController = {
  place: PLACES.ServiceAccount,
  reconcile: () => Promise.resolve(undefined),
  async gone(object, ctx) {
    if (nameOf(object) === "default") ctx.wake(PLACES.Namespace, "", namespaceOf(object));
  },
};

/** PodDisruptionBudgets: counted from the pods that are there. */
export const disruptionBudgets: SimController = {
  place: PLACES.PodDisruptionBudget,
  async reconcile(object, ctx) {
    const spec = at(object, "spec");
    const before = at(object, "status");
    const pods = (await ctx.store.list(PLACES.Pod, namespaceOf(object))).filter((p) =>
      selectorMatches(at(spec, "selector"), at(p, "metadata", "labels"))
    );
    const healthy =
      pods.filter((p) =>
        items(at(p, "status"), "conditions").some((c) => c["type"] === "Ready" && c["status"] === "True")
      ).length;
    const share = (v: unknown): number =>
      typeof v === "number" ? v : typeof v === "string" ? Math.ceil(pods.length * Number.parseInt(v) / 100) : 0;
    const desired = spec["minAvailable"] !== undefined
      ? share(spec["minAvailable"])
      : Math.max(0, pods.length - share(spec["maxUnavailable"]));
    const allowed = Math.max(0, healthy - desired);
    await ctx.store.writeStatus(PLACES.PodDisruptionBudget, object, {
      observedGeneration: number(at(object, "metadata"), "generation"),
      conditions: [{
        ...condition(
          before,
          "DisruptionAllowed",
          allowed > 0 ? "True" : "False",
          allowed > 0 ? "SufficientPods" : "InsufficientPods",
          "",
          ctx.now,
        ),
        message: "",
        observedGeneration: number(at(object, "metadata"), "generation"),
      }],
      currentHealthy: healthy,
      desiredHealthy: desired,
      disruptionsAllowed: allowed,
      expectedPods: pods.length,
    });
    return undefined;
  },
};

/** APIServices: available at once. */
export const apiServices: SimController = {
  place: PLACES.APIService,
  async reconcile(object, ctx) {
    const local = Object.keys(at(object, "spec", "service")).length === 0;
    await ctx.store.writeStatus(PLACES.APIService, object, {
      conditions: [
        condition(
          at(object, "status"),
          "Available",
          "True",
          local ? "Local" : "Passed",
          local ? "Local APIServices are always available" : "all checks passed",
          ctx.now,
        ),
      ],
    });
    return undefined;
  },
};

/** Applies the objects of a render in the order of their kinds. @module */
import type { Release } from "../../shared/api/mod.ts";
import { applyObject, desiredObject, getLive, impersonation } from "../../shared/apply/mod.ts";
import { isObject } from "../../shared/json/mod.ts";
import { StatusError, type Unstructured } from "../../shared/kube/mod.ts";
import { applyRank } from "../../shared/render/mod.ts";
import type { Target } from "../../shared/target/contract.ts";
import { isCrd, type Item } from "./items.ts";
import type { Result } from "./memo.ts";
import { forEachLimit, runsBy } from "./pool.ts";
import { type AppliedReason, count, objectText, someOf } from "./reasons.ts";

const PARALLEL = 8;

/** What the apply needs. */
export interface ApplyStep {
  target: Target;
  release: Release;
  signal: AbortSignal;
  /** Results so far by item id; what was accepted is not sent again. Changed. */
  results: Map<string, Result>;
  /** Told of each object that was accepted. */
  onAccepted?(item: Item, live: Unstructured | undefined, object: Unstructured): void;
}

/**
 * Sends what is not accepted yet: one rank of kinds after the other, the objects of one rank side by side. An object
 * that fails does not hold up the others.
 *
 * @param items in apply order
 * @throws TargetError, TransportError when the target cannot be reached
 */
export async function applyItems(items: readonly Item[], step: ApplyStep): Promise<void> {
  const established = new Map<string, boolean>();
  for (const run of runsBy(items, (item) => applyRank(item.group, item.kind))) {
    let crds = false;
    await forEachLimit(run, PARALLEL, async (item) => {
      if (step.results.get(item.id)?.state === "accepted") return;
      const result = await applyItem(item, step, established);
      step.results.set(item.id, result);
      crds ||= isCrd(item.object) && result.state === "accepted" && result.change !== "unchanged";
    });
    if (crds) step.target.invalidateDiscovery();
  }
}

async function applyItem(item: Item, step: ApplyStep, established: Map<string, boolean>): Promise<Result> {
  const { target, release, signal } = step;
  if (item.crd && !await isEstablished(item.crd, target, established, signal)) {
    return { state: "waiting", why: `waits for CustomResourceDefinition ${item.crd} to be established` };
  }
  item.resource ??= await target.resourceFor({ group: item.group, kind: item.kind, version: item.version });
  if (!item.resource) {
    return item.crd
      ? { state: "waiting", why: `waits for its kind to be served by CustomResourceDefinition ${item.crd}` }
      : {
        state: "failed",
        why: `the cluster has no kind ${item.kind} in ${item.object.apiVersion}: install it or mend the manifest`,
      };
  }
  try {
    const outcome = await applyObject(
      target,
      item.resource,
      desiredObject(item.object, release, item.resource),
      release,
      {
        ...impersonation(release),
        signal,
      },
    );
    switch (outcome.kind) {
      case "conflict":
        return { state: "conflict", why: `belongs to Release ${outcome.owner}` };
      case "terminating":
        return { state: "waiting", why: `waits for its predecessor to go${held(outcome.live)}` };
      default:
        step.onAccepted?.(item, outcome.live, outcome.object);
        return { state: "accepted", change: outcome.adopted ? "adopted" : outcome.kind };
    }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return refused(error, item, target);
  }
}

/** Sorts a refusal of the target: what comes right by itself, and what somebody must mend. */
function refused(error: StatusError, item: Item, target: Target): Result {
  if (error.code === 404 && error.status.details?.kind === "namespaces") {
    return { state: "waiting", why: `waits for namespace ${item.namespace}, which does not exist` };
  }
  if (error.code === 404) {
    target.invalidateDiscovery();
    item.resource = undefined;
  }
  if (error.code === 403 && error.status.details?.causes?.some((c) => c.reason === "NamespaceTerminating")) {
    return { state: "waiting", why: `waits for namespace ${item.namespace}, which is being deleted` };
  }
  return { state: "failed", why: item.kind === "Secret" ? secretRefusal(error) : error.message };
}

// A validation message may quote the value that it is about.
function secretRefusal(error: StatusError): string {
  const fields = (error.status.details?.causes ?? []).flatMap((c) => c.field ? [c.field] : []);
  return `${error.reason || `HTTP ${error.code}`}${
    fields.length > 0 ? ` in ${fields.join(", ")}` : ""
  } (values are not shown)`;
}

function held(live: Unstructured): string {
  const finalizers = live.metadata.finalizers ?? [];
  return finalizers.length > 0 ? ` (held by finalizers ${finalizers.join(", ")})` : "";
}

async function isEstablished(
  name: string,
  target: Target,
  known: Map<string, boolean>,
  signal: AbortSignal,
): Promise<boolean> {
  let answer = known.get(name);
  if (answer === undefined) {
    const resource = await target.resourceFor({ group: "apiextensions.k8s.io", kind: "CustomResourceDefinition" });
    const crd = resource && await getLive(target, resource, { name }, signal);
    answer = crd !== undefined && isEstablishedObject(crd);
    known.set(name, answer);
    if (answer) target.invalidateDiscovery();
  }
  return answer;
}

function isEstablishedObject(crd: Unstructured): boolean {
  const conditions = isObject(crd.status) && Array.isArray(crd.status.conditions) ? crd.status.conditions : [];
  return conditions.some((c) => isObject(c) && c.type === "Established" && c.status === "True");
}

/** How an apply stands, in words of `Applied`. */
export interface ApplySummary {
  reason: AppliedReason;
  message: string;
  /** Every object was accepted. */
  complete: boolean;
  /** What is not there yet comes by itself. */
  onlyWaiting: boolean;
}

/** Sums the results up. */
export function summarize(
  items: readonly Item[],
  results: ReadonlyMap<string, Result>,
  revision: string,
): ApplySummary {
  const open = items.flatMap((item) => {
    const result = results.get(item.id) ?? { state: "waiting" as const, why: "was not sent yet" };
    return result.state === "accepted" ? [] : [{ item, result }];
  });
  if (open.length === 0) {
    return {
      reason: "Applied",
      message: `${count(items.length, "object")} of ${revision} applied`,
      complete: true,
      onlyWaiting: false,
    };
  }
  const order = ["conflict", "failed", "waiting"];
  open.sort((a, b) => order.indexOf(a.result.state) - order.indexOf(b.result.state));
  const worst = open[0]!.result.state;
  const texts = open.map(({ item, result }) =>
    `${objectText(item)} ${result.state === "failed" ? `failed: ${result.why}` : result.why}`
  );
  return {
    reason: worst === "conflict" ? "OwnershipConflict" : worst === "failed" ? "ApplyFailed" : "Progressing",
    message: `${open.length} of ${count(items.length, "object")} of ${revision} not applied: ${someOf(texts)}`,
    complete: false,
    onlyWaiting: worst === "waiting",
  };
}

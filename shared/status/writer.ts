/**
 * What the status and inventory writers share: sending one apply patch with force, counting it, and remembering what
 * was written until the informer's cache has caught up.
 *
 * @module
 */
import { hasReason } from "../kube/status.ts";
import type { KubeClient } from "../kube/contract.ts";
import { keyOf, type KubeObject, type Resource } from "../kube/types.ts";
import type { Metrics } from "../runtime/metrics.ts";
import { WriteMemory } from "./write_memory.ts";

/** What a write did. `skipped`: nothing to change, or the object is gone. */
export type WriteResult = "written" | "skipped";

/** What a writer needs. Make one per loop with {@link writerDeps}. */
export interface WriterDeps {
  client: KubeClient;
  metrics: Metrics;
  memory: WriteMemory;
  signal?: AbortSignal;
}

/** Dependencies of the writers of one loop, with a memory of its own. */
export function writerDeps(ctx: { client: KubeClient; metrics: Metrics; signal?: AbortSignal }): WriterDeps {
  return {
    client: ctx.client,
    metrics: ctx.metrics,
    memory: new WriteMemory(),
    ...(ctx.signal ? { signal: ctx.signal } : {}),
  };
}

/** One apply patch of a writer. */
export interface OwnedPatch {
  /** Label `writer` of the metric; the field manager's name. */
  manager: string;
  resource: Resource;
  body: KubeObject;
  subresource?: "status";
}

function count(deps: WriterDeps, writer: string, result: "written" | "skipped" | "gone" | "failed"): void {
  deps.metrics.counter(
    "convoy_status_writes_total",
    "Writes of the status and inventory writers by result: written, skipped (no change), gone, failed.",
    ["writer", "result"],
  ).inc({ writer, result });
}

/** Counts a write that was not needed. */
export function skip(deps: WriterDeps, manager: string): WriteResult {
  count(deps, manager, "skipped");
  return "skipped";
}

/**
 * Sends the patch with `force: true`. An object that is gone, or was made anew under the same name, is no error: its
 * new self gets its own reconcile. The body's uid keeps a late patch from bringing a deleted object back.
 */
export async function sendOwned(deps: WriterDeps, patch: OwnedPatch): Promise<WriteResult> {
  const { manager, resource, body, subresource } = patch;
  try {
    const stored = await deps.client.apply<KubeObject>(resource, body, {
      fieldManager: manager,
      force: true,
      ...(subresource ? { subresource } : {}),
      ...(deps.signal ? { signal: deps.signal } : {}),
    });
    deps.memory.remember(stored);
    count(deps, manager, "written");
    return "written";
  } catch (error) {
    if (hasReason(error, "NotFound") || await isReplaced(deps, patch, error)) {
      deps.memory.forget(body.kind, keyOf(body));
      count(deps, manager, "gone");
      return "skipped";
    }
    count(deps, manager, "failed");
    throw error;
  }
}

// A uid that does not match is told as 409 (no such object) or 422 (another object), as other faults are: look.
async function isReplaced(deps: WriterDeps, patch: OwnedPatch, error: unknown): Promise<boolean> {
  const { uid, name, namespace } = patch.body.metadata;
  if (!uid || !(hasReason(error, "Conflict") || hasReason(error, "Invalid"))) return false;
  try {
    const live = await deps.client.get<KubeObject>(patch.resource, { name, ...(namespace ? { namespace } : {}) });
    return live.metadata.uid !== uid;
  } catch (lookup) {
    return hasReason(lookup, "NotFound");
  }
}

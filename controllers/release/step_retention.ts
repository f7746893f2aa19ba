/** Deletes Renders that nobody needs any more. @module */
import { type Release, type Render, RENDERS } from "../../shared/api/mod.ts";
import { hasReason, type KubeClient } from "../../shared/kube/mod.ts";
import type { Draft } from "./draft.ts";
import { splitRenders } from "./retention.ts";

/** Deletes a Render, chunk 0 first: without it the others are nothing. One that is gone is fine. */
export async function deleteRender(client: KubeClient, namespace: string, renderRef: string): Promise<void> {
  let chunks = 1;
  try {
    chunks = (await client.get<Render>(RENDERS, { namespace, name: renderRef })).spec.chunks;
  } catch (error) {
    if (!hasReason(error, "NotFound")) throw error;
  }
  for (let chunk = 0; chunk < chunks; chunk++) {
    try {
      await client.delete(RENDERS, { namespace, name: chunk === 0 ? renderRef : `${renderRef}.${chunk}` });
    } catch (error) {
      if (!hasReason(error, "NotFound")) throw error;
    }
  }
}

/**
 * Drops the Renders beyond the retention policy from the store and from `status.renders`.
 *
 * @param inUse refs that members of the inventory name; they stay, as the live one does
 */
export async function retainRenders(
  draft: Draft,
  release: Release,
  client: KubeClient,
  inUse: readonly string[],
): Promise<void> {
  const rows = draft.status.renders ?? [];
  const live = [draft.status.renderRef, rows.at(-1)?.renderRef, release.spec.pin?.renderRef, ...inUse];
  const { keep, drop } = splitRenders(
    rows,
    draft.status.resolvedRetentionPolicy ?? { count: 10 },
    new Set(live.filter((ref) => ref !== undefined)),
    draft.now,
  );
  for (const row of drop) await deleteRender(client, release.metadata.namespace ?? "", row.renderRef);
  if (drop.length > 0) draft.status.renders = keep;
}

/** `Put`: the Release controller's full membership of the inventory, without hooks. The only writer of it. @module */
import { API_VERSION, type Release, RELEASE_INVENTORIES, type ReleaseInventory, RELEASES } from "../api/mod.ts";
import { keyOf } from "../kube/types.ts";
import { sendOwned, skip, type WriterDeps, type WriteResult } from "../status/mod.ts";
import { entryId, type EntryKey, entryKey, members, patchHead } from "./members.ts";

const MANAGER = "convoy-release-inventory";

/** One member as `Put` writes it. */
export interface PutEntry extends EntryKey {
  version: string;
  /** The render that this entry belongs to. An entry still to be pruned keeps the ref of its last render. */
  renderRef: string;
  wave: number;
}

/**
 * Writes the full membership. What is not in `entries` is given up; an observer that still owns its keys keeps the rest
 * of it alive until its next patch. Skips when the cached membership is the same.
 *
 * @param cached the inventory from the informer, when there is one
 */
export async function put(
  deps: WriterDeps,
  release: Release,
  cached: ReleaseInventory | undefined,
  entries: readonly PutEntry[],
): Promise<WriteResult> {
  const inventory = deps.memory.latest(RELEASE_INVENTORIES.kind, keyOf(release), cached);
  if (inventory && sameMembership(inventory, entries)) return skip(deps, MANAGER);
  const head = patchHead(release);
  return await sendOwned(deps, {
    manager: MANAGER,
    resource: RELEASE_INVENTORIES,
    body: {
      ...head,
      metadata: {
        ...head.metadata,
        ownerReferences: [{
          apiVersion: API_VERSION,
          kind: RELEASES.kind,
          name: release.metadata.name,
          uid: release.metadata.uid ?? "",
          controller: true,
        }],
      },
      inventory: entries.map((e) => ({ ...entryKey(e), version: e.version, renderRef: e.renderRef, wave: e.wave })),
    } as ReleaseInventory,
  });
}

function sameMembership(cached: ReleaseInventory, entries: readonly PutEntry[]): boolean {
  const current = members(cached);
  if (current.length !== entries.length) return false;
  const byId = new Map(current.map((e) => [entryId(e), e]));
  return entries.every((e) => {
    const c = byId.get(entryId(e));
    return c !== undefined && c.version === e.version && c.renderRef === e.renderRef && c.wave === e.wave;
  });
}

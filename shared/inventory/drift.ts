/** The drift loop's part of the inventory: `drift{state,fields,checkedRenderRef}`. The only writer of it. @module */
import { type InventoryEntry, RELEASE_INVENTORIES, type ReleaseInventory } from "../api/mod.ts";
import { equalJson } from "../json/mod.ts";
import { sendOwned, skip, type WriterDeps, type WriteResult } from "../status/mod.ts";
import { entryId, type EntryKey, entryKey, members, patchHeadOf } from "./members.ts";

const MANAGER = "convoy-drift";

/** `drift` of one entry. */
export type Drift = NonNullable<InventoryEntry["drift"]>;

/** What the drift loop found for one entry. */
export interface CheckedEntry extends EntryKey {
  drift: Drift;
}

/**
 * Writes what was found now; of all other members it sends again what the cached inventory says, because leaving an
 * entry out would clear it. Entries without a renderRef are dropped.
 *
 * @param cached the inventory from the informer
 */
export async function putDrift(
  deps: WriterDeps,
  cached: ReleaseInventory,
  found: readonly CheckedEntry[],
): Promise<WriteResult> {
  const inventory = deps.memory.fresher(cached);
  const byId = new Map(found.map((e) => [entryId(e), e.drift]));
  const entries = members(inventory).flatMap((e) => {
    const drift = byId.get(entryId(e)) ?? e.drift;
    return drift ? [{ ...entryKey(e), drift: driftPart(drift) }] : [];
  });
  const before = (inventory.inventory ?? []).flatMap((e) =>
    e.drift ? [{ ...entryKey(e), drift: driftPart(e.drift) }] : []
  );
  if (equalJson(before, entries)) return skip(deps, MANAGER);
  return await sendOwned(deps, {
    manager: MANAGER,
    resource: RELEASE_INVENTORIES,
    body: { ...patchHeadOf(inventory), ...(entries.length > 0 ? { inventory: entries } : {}) } as ReleaseInventory,
  });
}

function driftPart(d: Drift): Drift {
  return {
    state: d.state,
    ...(d.fields === undefined || d.fields.length === 0 ? {} : { fields: d.fields }),
    ...(d.checkedRenderRef === undefined ? {} : { checkedRenderRef: d.checkedRenderRef }),
  };
}

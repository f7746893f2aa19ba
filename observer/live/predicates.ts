/** Which changes of an inventory wake the observer (the page: "a similar handler on the ReleaseInventory"). @module */
import type { ReleaseInventory } from "../../shared/api/mod.ts";
import { entryId, hookId, memberHooks, members } from "../../shared/inventory/mod.ts";

/**
 * True when a member came, went or has another `renderRef`, version or wave; when an entry stopped being a member (the observer has to
 * drop it); or when a hook came, went or was started. What the observers write themselves does not count.
 */
export function membershipChanged(old: ReleaseInventory, inventory: ReleaseInventory): boolean {
  if (old === inventory) return false;
  const before = new Map((old.inventory ?? []).map((e) => [entryId(e), e]));
  const after = inventory.inventory ?? [];
  if (before.size !== after.length || members(old).length !== members(inventory).length) return true;
  for (const e of after) {
    const b = before.get(entryId(e));
    if (!b || b.renderRef !== e.renderRef || b.version !== e.version || b.wave !== e.wave) return true;
  }
  const hooks = new Map(memberHooks(old).map((h) => [hookId(h), h]));
  const now = memberHooks(inventory);
  return hooks.size !== now.length || now.some((h) => {
    const b = hooks.get(hookId(h));
    return !b || b.renderRef !== h.renderRef || b.startedAt !== h.startedAt;
  });
}

/**
 * `PutHooks`: the Release controller's part of the hooks, without the inventory. A field manager of its own, because
 * with that of `Put` each call would clear the list that the other wrote.
 *
 * @module
 */
import { type HookRecord, RELEASE_INVENTORIES, type ReleaseInventory } from "../api/mod.ts";
import { sendOwned, skip, type WriterDeps, type WriteResult } from "../status/mod.ts";
import { hookId, type HookKey, memberHooks, patchHeadOf } from "./members.ts";

const MANAGER = "convoy-release-hooks";

/** One hook as `PutHooks` writes it. */
export interface PutHook extends HookKey {
  renderRef: string;
  /** RFC 3339. */
  startedAt?: string;
}

/** Writes all hooks of the Release. Skips when the cached ones are the same. `Put` must have made the inventory. */
export async function putHooks(
  deps: WriterDeps,
  cached: ReleaseInventory,
  hooks: readonly PutHook[],
): Promise<WriteResult> {
  const inventory = deps.memory.fresher(cached);
  if (sameHooks(memberHooks(inventory), hooks)) return skip(deps, MANAGER);
  return await sendOwned(deps, {
    manager: MANAGER,
    resource: RELEASE_INVENTORIES,
    body: {
      ...patchHeadOf(inventory),
      hooks: hooks.map(({ name, phase, renderRef, startedAt }) => ({
        name,
        phase,
        renderRef,
        ...(startedAt === undefined ? {} : { startedAt }),
      })),
    } as ReleaseInventory,
  });
}

function sameHooks(current: readonly HookRecord[], hooks: readonly PutHook[]): boolean {
  if (current.length !== hooks.length) return false;
  const byId = new Map(current.map((h) => [hookId(h), h]));
  return hooks.every((h) => {
    const c = byId.get(hookId(h));
    return c !== undefined && c.renderRef === h.renderRef && c.startedAt === h.startedAt;
  });
}

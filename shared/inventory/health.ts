/**
 * The health loop's part of the inventory: `state`, `message`, `assessedRenderRef` of entries; `state`, `finishedAt`,
 * `message` of hooks. The only writer of them.
 *
 * @module
 */
import { type HealthState, type HookRecord, RELEASE_INVENTORIES, type ReleaseInventory } from "../api/mod.ts";
import { equalJson } from "../json/mod.ts";
import { sendOwned, skip, type WriterDeps, type WriteResult } from "../status/mod.ts";
import {
  entryId,
  type EntryKey,
  entryKey,
  hookId,
  type HookKey,
  memberHooks,
  members,
  patchHeadOf,
} from "./members.ts";

const MANAGER = "convoy-health";

/** What the health loop found for one entry. */
export interface AssessedEntry extends EntryKey {
  state: HealthState;
  /** Left out when there is nothing to say. */
  message?: string;
  /** The render that the object was judged against. */
  assessedRenderRef: string;
}

/** What the health loop found for one hook. */
export interface AssessedHook extends HookKey {
  state: NonNullable<HookRecord["state"]>;
  finishedAt?: string;
  message?: string;
}

/**
 * Writes what was found now; of all other members and of every hook that has a state it sends again what the cached
 * inventory says, because leaving an entry out would clear it: a finished hook would look unfinished. Entries without a
 * renderRef are dropped.
 *
 * @param cached the inventory from the informer
 */
export async function putHealth(
  deps: WriterDeps,
  cached: ReleaseInventory,
  found: { entries?: readonly AssessedEntry[]; hooks?: readonly AssessedHook[] },
): Promise<WriteResult> {
  const inventory = deps.memory.fresher(cached);
  const entries = ownEntries(inventory, new Map((found.entries ?? []).map((e) => [entryId(e), e])));
  const hooks = ownHooks(inventory, new Map((found.hooks ?? []).map((h) => [hookId(h), h])));
  const before = {
    entries: (inventory.inventory ?? []).filter(hasHealth).map(entryPart),
    hooks: (inventory.hooks ?? []).filter((h) => h.state !== undefined).map(hookPart),
  };
  if (equalJson(before, { entries, hooks })) return skip(deps, MANAGER);
  return await sendOwned(deps, {
    manager: MANAGER,
    resource: RELEASE_INVENTORIES,
    body: {
      ...patchHeadOf(inventory),
      ...(entries.length > 0 ? { inventory: entries } : {}),
      ...(hooks.length > 0 ? { hooks } : {}),
    } as ReleaseInventory,
  });
}

type HealthPart = EntryKey & { state?: HealthState; message?: string; assessedRenderRef?: string };

function hasHealth(
  e: { state?: unknown; message?: unknown; assessedRenderRef?: unknown; renderRef?: unknown },
): boolean {
  return e.state !== undefined || e.message !== undefined || e.assessedRenderRef !== undefined;
}

function entryPart(
  e: EntryKey & {
    state?: HealthState | undefined;
    message?: string | undefined;
    assessedRenderRef?: string | undefined;
  },
): HealthPart {
  return {
    ...entryKey(e),
    ...(e.state === undefined ? {} : { state: e.state }),
    ...(e.message === undefined ? {} : { message: e.message }),
    ...(e.assessedRenderRef === undefined ? {} : { assessedRenderRef: e.assessedRenderRef }),
  };
}

function hookPart(
  h: HookKey & { state?: HookRecord["state"]; finishedAt?: string | undefined; message?: string | undefined },
) {
  return {
    name: h.name,
    phase: h.phase,
    ...(h.state === undefined ? {} : { state: h.state }),
    ...(h.finishedAt === undefined ? {} : { finishedAt: h.finishedAt }),
    ...(h.message === undefined ? {} : { message: h.message }),
  };
}

function ownEntries(inventory: ReleaseInventory, found: ReadonlyMap<string, AssessedEntry>): HealthPart[] {
  return members(inventory)
    .map((e) => found.get(entryId(e)) ?? (hasHealth(e) ? e : undefined))
    .filter((e) => e !== undefined)
    .map(entryPart);
}

function ownHooks(inventory: ReleaseInventory, found: ReadonlyMap<string, AssessedHook>) {
  return memberHooks(inventory)
    .map((h) => found.get(hookId(h)) ?? (h.state === undefined ? undefined : h))
    .filter((h) => h !== undefined)
    .map(hookPart);
}

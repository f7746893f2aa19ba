/** What an inventory entry is, and which entries count. @module */
import {
  API_VERSION,
  type HookRecord,
  type InventoryEntry,
  type Release,
  RELEASE_INVENTORIES,
  type ReleaseInventory,
} from "../api/mod.ts";
import type { KubeObject } from "../kube/types.ts";

/** The keys of an entry of `inventory`. `namespace` is "" for objects of the cluster. */
export interface EntryKey {
  group: string;
  kind: string;
  namespace: string;
  name: string;
}

/** The keys of an entry of `hooks`. */
export interface HookKey {
  name: string;
  phase: HookRecord["phase"];
}

/** One text per entry: the keys, separated by a character that no name has. */
export function entryId(k: { group?: string; kind: string; namespace?: string; name: string }): string {
  return `${k.group ?? ""}|${k.kind}|${k.namespace ?? ""}|${k.name}`;
}

/** One text per hook. */
export function hookId(k: HookKey): string {
  return `${k.phase}|${k.name}`;
}

/** Just the keys: every writer of an entry must send them. */
export function entryKey(e: { group?: string; kind: string; namespace?: string; name: string }): EntryKey {
  return { group: e.group ?? "", kind: e.kind, namespace: e.namespace ?? "", name: e.name };
}

/** A member: an entry that has a `renderRef`. The others only live on because an observer still owns their keys. */
export type Member = InventoryEntry & { renderRef: string };

/** The entries that count. */
export function members(inventory: ReleaseInventory | undefined): Member[] {
  return (inventory?.inventory ?? []).filter((e): e is Member => e.renderRef !== undefined);
}

/** The hooks that count. */
export function memberHooks(inventory: ReleaseInventory | undefined): (HookRecord & { renderRef: string })[] {
  return (inventory?.hooks ?? []).filter((h): h is HookRecord & { renderRef: string } => h.renderRef !== undefined);
}

/** The head of a patch on the inventory of that Release. */
export function patchHead(release: Release): KubeObject {
  const { name, namespace } = release.metadata;
  return {
    apiVersion: API_VERSION,
    kind: RELEASE_INVENTORIES.kind,
    metadata: { name, ...(namespace ? { namespace } : {}) },
  };
}

/** The head of a patch on an inventory that must exist: with its uid, so that a late patch cannot bring it back. */
export function patchHeadOf(inventory: ReleaseInventory): KubeObject {
  const { name, namespace, uid } = inventory.metadata;
  return {
    apiVersion: API_VERSION,
    kind: RELEASE_INVENTORIES.kind,
    metadata: { name, ...(namespace ? { namespace } : {}), ...(uid ? { uid } : {}) },
  };
}

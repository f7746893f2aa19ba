/** Seeing the members of a Release as they are on the cluster, and knowing at which render they were seen. @module */
import type { Release } from "../../shared/api/mod.ts";
import { getLive, OWNER_LABEL } from "../../shared/apply/mod.ts";
import { entryId, type Member } from "../../shared/inventory/mod.ts";
import { keyOf, type KubeList, type Resource, type Unstructured } from "../../shared/kube/mod.ts";
import { isApplied, type View } from "../live/mod.ts";
import { type Memory, newest } from "./memory.ts";

const PAGE = 500;
/** That an object is gone is asked again after this time, at the next look, ms. */
const ABSENT_MS = 300_000;

/** Members that are applied and were not seen since then, by where their kind is served. */
export function toConfirm(release: Release, members: readonly Member[], view: View, memory: Memory) {
  const byKind = new Map<Resource, Member[]>();
  for (const m of members) {
    if (m.assessedRenderRef === m.renderRef || !isApplied(release, m)) continue;
    const resource = view.resourceOf(m);
    if (!resource || view.see(m).kind === "refused") continue;
    if (memory.entry(entryId(m)).confirmed === m.renderRef) continue;
    const list = byKind.get(resource);
    if (list) list.push(m);
    else byKind.set(resource, [m]);
  }
  return byKind;
}

/**
 * One consistent list of the Release's objects of one kind: it is newer than the apply that the status told of, which
 * the watch's cache need not be.
 */
export async function confirm(
  release: Release,
  resource: Resource,
  members: readonly Member[],
  view: View,
  memory: Memory,
  signal: AbortSignal,
): Promise<void> {
  const found = new Map<string, Unstructured>();
  let next: string | undefined;
  do {
    const page: KubeList<Unstructured> = await view.target.client.list<Unstructured>(resource, {
      labelSelector: `${OWNER_LABEL}=${release.metadata.uid ?? ""}`,
      limit: PAGE,
      signal,
      ...(next ? { continue: next } : {}),
    });
    // Items of a list bear no kind of their own.
    for (const item of page.items) found.set(keyOf(item), { ...item, ...typeOf(resource) });
    next = page.metadata.continue || undefined;
  } while (next);
  for (const m of members) {
    const entry = memory.entry(entryId(m));
    entry.confirmed = m.renderRef;
    const object = found.get(keyOf({ metadata: { name: m.name, ...(m.namespace ? { namespace: m.namespace } : {}) } }));
    if (object) {
      entry.fresh = object;
      delete entry.absentAt;
    } else delete entry.fresh;
  }
}

function typeOf(r: Resource): { apiVersion: string; kind: string } {
  return { apiVersion: r.group ? `${r.group}/${r.version}` : r.version, kind: r.kind };
}

/** What is known of one member's object. */
export type Observation =
  | { kind: "object"; object: Unstructured }
  | { kind: "absent" }
  | { kind: "unserved" }
  | { kind: "refused"; why: string }
  /** Not known yet. */
  | { kind: "pending" };

/**
 * Looks at one member. The cache knows only objects with the Release's mark, so that an object is gone is asked for by
 * name. `unmarked`: it is there without the mark, so no event will tell of it.
 */
export async function observe(
  m: Member,
  view: View,
  memory: Memory,
  now: number,
  signal: AbortSignal,
): Promise<Observation & { unmarked?: boolean }> {
  const entry = memory.entry(entryId(m));
  const seen = view.see(m);
  if (seen.kind === "pending" || seen.kind === "refused" || seen.kind === "unserved") return seen;
  const object = newest(entry, seen.kind === "object" ? seen.object : undefined);
  if (object) {
    delete entry.absentAt;
    return { kind: "object", object };
  }
  if (entry.absentAt !== undefined && now - entry.absentAt < ABSENT_MS) return { kind: "absent" };
  const resource = view.resourceOf(m)!;
  const live = await getLive(
    view.target,
    resource,
    { name: m.name, ...(resource.namespaced ? { namespace: m.namespace } : {}) },
    signal,
  );
  if (live) return { kind: "object", object: live, unmarked: true };
  entry.absentAt = now;
  return { kind: "absent" };
}

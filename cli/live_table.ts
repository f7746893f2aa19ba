/** The live table of Releases: redrawn in place on a terminal, one line a change elsewhere. @module */
import { RELEASES } from "../shared/api/mod.ts";
import type { Release } from "../shared/api/mod.ts";
import type { KubeClient } from "../shared/kube/contract.ts";
import { layRows } from "./output.ts";

/** The four signals of a Release, in the order of the columns. */
export const SIGNALS = ["Applied", "InSync", "Healthy", "RolloutSucceeded"] as const;

/** Status of one signal: `True`, `False`, `Unknown`, or `` when it has none yet. */
export function signalOf(release: Release, type: string): string {
  return release.status?.conditions?.find((c) => c.type === type)?.status ?? "";
}

/** Whether all four are True for the generation that is asked for. */
export function allTrue(release: Release): boolean {
  return SIGNALS.every((type) => signalOf(release, type) === "True") &&
    release.status?.observedGeneration === release.metadata.generation;
}

/** The table as text. */
export function releaseTable(releases: Iterable<Release>): string {
  const rows = [...releases].sort((a, b) => a.metadata.name.localeCompare(b.metadata.name)).map((r) => [
    r.metadata.name,
    r.spec.cluster.name,
    ...SIGNALS.map((type) => signalOf(r, type) || "-"),
    r.status?.source?.revision.replace(/(sha1:.{8}).*/, "$1") ?? "-",
    why(r),
  ]);
  return layRows([["RELEASE", "CLUSTER", "APPLIED", "INSYNC", "HEALTHY", "ROLLOUT", "REVISION", "MESSAGE"], ...rows]);
}

function why(release: Release): string {
  const conditions = release.status?.conditions ?? [];
  const first = conditions.find((c) => c.status === "False") ?? conditions.find((c) => c.status === "Unknown");
  return first ? `${first.reason}: ${first.message}`.replaceAll(/\s+/g, " ").slice(0, 60) : "";
}

/**
 * Shows the Releases of a namespace until `done` says that it is enough.
 *
 * @throws when the signal is aborted or the deadline passes; the message names the Releases that are not there
 */
export async function showUntil(
  client: KubeClient,
  namespace: string,
  names: ReadonlySet<string>,
  o: { terminal: boolean; write(text: string): void; signal: AbortSignal },
): Promise<void> {
  const releases = new Map<string, Release>();
  const shown = new Map<string, string>();
  let lines = 0;
  const draw = () => {
    if (o.terminal) {
      const text = releaseTable(releases.values());
      o.write((lines > 0 ? `\x1b[${lines}A\x1b[0J` : "") + text + "\n");
      lines = text.split("\n").length;
      return;
    }
    for (const [name, r] of releases) {
      const line = `${name}: ${SIGNALS.map((t) => `${t}=${signalOf(r, t) || "-"}`).join(" ")} ${why(r)}`.trimEnd();
      if (shown.get(name) !== line) o.write(`${line}\n`);
      shown.set(name, line);
    }
  };
  const complete = () => [...names].every((name) => releases.has(name) && allTrue(releases.get(name)!));
  while (!o.signal.aborted) {
    const list = await client.list<Release>(RELEASES, { namespace });
    releases.clear();
    for (const item of list.items) releases.set(item.metadata.name, item);
    draw();
    if (complete()) return;
    const enough = new AbortController();
    const signal = AbortSignal.any([o.signal, enough.signal]);
    try {
      const events = await client.watch<Release>(RELEASES, {
        namespace,
        resourceVersion: list.metadata.resourceVersion,
        signal,
      });
      for await (const event of events) {
        if (event.type === "ERROR") break;
        if (event.type === "BOOKMARK") continue;
        if (event.type === "DELETED") releases.delete(event.object.metadata.name);
        else releases.set(event.object.metadata.name, event.object);
        draw();
        if (complete()) return;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      enough.abort();
    }
  }
  const missing = [...names].filter((name) => !releases.has(name) || !allTrue(releases.get(name)!));
  throw new Error(
    `Not all Releases are there: ${
      missing.map((n) => `${n} (${releases.has(n) ? why(releases.get(n)!) : "missing"})`).join("; ")
    }`,
  );
}

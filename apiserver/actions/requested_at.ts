/** The annotation that wakes the Release controller (page: "Writes without SSA"). @module */
import { SYNC_REQUESTED_AT } from "../../shared/api/mod.ts";
import { isObject, type JsonObject } from "../../shared/json/mod.ts";

const RFC3339 = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9})\d*)?([Zz]|[+-]\d{2}:\d{2})$/;
/** A time this far ahead is a typing error or a broken clock, not a request that came just before. */
const AHEAD_NS = 3_600_000_000_000n;

/** Nanoseconds since the epoch of an RFC 3339 time; undefined when it is none. */
export function parseTime(text: string): bigint | undefined {
  const match = RFC3339.exec(text);
  if (!match) return undefined;
  const ms = Date.parse(`${match[1]}T${match[2]}${match[4]!.toUpperCase()}`);
  // Date.parse takes February 30 for March 2.
  const day = new Date(`${match[1]}T00:00:00Z`);
  if (Number.isNaN(ms) || !day.toISOString().startsWith(match[1]!)) return undefined;
  return BigInt(ms) * 1_000_000n + BigInt((match[3] ?? "").padEnd(9, "0") || "0");
}

/**
 * RFC 3339 in UTC with nanoseconds, and never the value before: two requests in one instant differ, and later ones sort
 * later.
 */
export function nextRequestTime(nowMs: number, before: string | undefined): string {
  let ns = BigInt(Math.trunc(nowMs)) * 1_000_000n;
  const last = before === undefined ? undefined : parseTime(before);
  if (last !== undefined && last >= ns && last - ns < AHEAD_NS) ns = last + 1n;
  const seconds = new Date(Number(ns / 1_000_000_000n) * 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(ns % 1_000_000_000n).padStart(9, "0")}Z`;
}

/** Sets the annotation on a Release that is being changed. */
export function markRequested(release: JsonObject, nowMs: number): void {
  const metadata = isObject(release["metadata"]) ? release["metadata"] : {};
  const annotations = isObject(metadata["annotations"]) ? metadata["annotations"] : {};
  const before = annotations[SYNC_REQUESTED_AT];
  annotations[SYNC_REQUESTED_AT] = nextRequestTime(nowMs, typeof before === "string" ? before : undefined);
  metadata["annotations"] = annotations;
  release["metadata"] = metadata;
}

/** The spec of a Release that is being changed. */
export function specOf(release: JsonObject): JsonObject {
  if (!isObject(release["spec"])) release["spec"] = {};
  return release["spec"] as JsonObject;
}

/** What the drift loop remembers of a Release; all of it may be lost at any time. @module */
import type { Release } from "../../shared/api/mod.ts";
import { type CompiledIgnore, compileIgnore } from "../../shared/drift/mod.ts";
import { canonicalJson } from "../../shared/json/mod.ts";
import { Poll } from "../live/mod.ts";

/** What a check found. */
export type Finding =
  | { state: "InSync" | "Missing" }
  | { state: "Drifted"; fields: string[] }
  /** The target did not let us look. */
  | { state: "Unknown"; why: string };

/** A check and what it holds for. */
export interface Check {
  finding: Finding;
  renderRef: string;
  /** What of the spec it depends on. */
  basis: string;
  /** Version of the object that was compared; undefined = there was none. */
  version: string | undefined;
  /** Not to be trusted after this time, ms: a failure, or an object of which no event tells. */
  until: number;
  /** Failures in a row. */
  failures: number;
}

/** Memory of one Release. */
export class Memory {
  /** By entry id. */
  readonly checks = new Map<string, Check>();
  /** Entries whose object changed in more than status, or went, or came. */
  readonly dirty = new Set<string>();
  readonly poll = new Poll();
  /** When something was last written, ms. */
  writtenAt = -Infinity;
  /** Until then what another life of this process recorded is believed, ms. */
  believeUntil: number | undefined;

  /** What of the spec a check depends on, beside the render. */
  basis = "";
  ignore: CompiledIgnore = compileIgnore([]);

  /** Takes over what the spec says now; tells the ignore paths that cannot be read, once. */
  read(release: Release): readonly string[] {
    const { drift, serviceAccountName, render } = release.spec;
    const basis = canonicalJson([drift.ignore ?? [], serviceAccountName ?? "", render.targetNamespace ?? ""]);
    if (basis === this.basis) return [];
    this.basis = basis;
    this.ignore = compileIgnore(drift.ignore ?? []);
    return this.ignore.errors;
  }

  /** Drops entries that are no members any more. */
  keep(ids: ReadonlySet<string>): void {
    for (const id of this.checks.keys()) if (!ids.has(id)) this.checks.delete(id);
    for (const id of this.dirty) if (!ids.has(id)) this.dirty.delete(id);
  }
}

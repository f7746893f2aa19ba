/** Which Renders are kept: pure. @module */
import { durationMs, type ReleaseStatus } from "../../shared/api/mod.ts";

/** One row of `status.renders`. */
export type RenderRow = NonNullable<ReleaseStatus["renders"]>[number];

/**
 * Splits the rows, oldest first. The live render, the one being rolled out, and pinned ones are kept whatever their age and number.
 *
 * @param now ms
 */
export function splitRenders(
  rows: readonly RenderRow[],
  policy: { count: number; maxAge?: string | undefined },
  protectedRefs: ReadonlySet<string>,
  now: number,
): { keep: RenderRow[]; drop: RenderRow[] } {
  const oldest = policy.maxAge === undefined ? -Infinity : now - durationMs(policy.maxAge);
  const keep: RenderRow[] = [], drop: RenderRow[] = [];
  rows.forEach((row, i) => {
    const inCount = rows.length - i <= policy.count;
    const inAge = Date.parse(row.time) >= oldest;
    (protectedRefs.has(row.renderRef) || (inCount && inAge) ? keep : drop).push(row);
  });
  return { keep, drop };
}

/** Bounded parallelism. @module */

/** Runs `f` for all items, at most `limit` at once; the first error is thrown after those under way have ended. */
export async function forEachLimit<T>(
  items: readonly T[],
  limit: number,
  f: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failed: { error: unknown } | undefined;
  const worker = async () => {
    while (next < items.length && !failed) {
      const item = items[next++]!;
      try {
        await f(item);
      } catch (error) {
        failed ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  if (failed) throw failed.error;
}

/** Splits a sorted list into runs of equal rank. */
export function runsBy<T>(items: readonly T[], rank: (item: T) => number): T[][] {
  const runs: T[][] = [];
  let last: number | undefined;
  for (const item of items) {
    const r = rank(item);
    if (runs.length === 0 || r !== last) runs.push([]);
    runs.at(-1)!.push(item);
    last = r;
  }
  return runs;
}

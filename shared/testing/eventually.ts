/** Waiting for a condition in tests, in place of sleeps. @module */

/** Options of {@link eventually}. */
export interface EventuallyOptions {
  /** Gives up after this time, ms. @default 5000 */
  timeout?: number;
  /** What is waited for, told when it does not come. */
  on?: string;
  /** Time between two looks, ms. @default 5 */
  every?: number;
}

/**
 * Looks until `condition` gives something truthy, and resolves to it. A condition that throws is not met yet.
 *
 * @throws Error that tells what was waited for and the last error or value.
 */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  { timeout = 5000, on = "the condition", every = 5 }: EventuallyOptions = {},
): Promise<NonNullable<T>> {
  const end = performance.now() + timeout;
  let last: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value) return value as NonNullable<T>;
      last = value;
    } catch (error) {
      last = error;
    }
    if (performance.now() >= end) {
      const why = last instanceof Error ? last.message : String(last);
      throw new Error(`Waited ${timeout} ms in vain for ${on}: last was ${why}`, { cause: last });
    }
    await new Promise((resolve) => setTimeout(resolve, every));
  }
}

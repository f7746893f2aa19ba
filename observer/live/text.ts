/** Words that both loops use in messages. @module */

/** `Kind namespace/name`. */
export function objectText(e: { kind: string; namespace: string; name: string }): string {
  return `${e.kind} ${e.namespace ? `${e.namespace}/` : ""}${e.name}`;
}

/** `1 object`, `2 objects`. */
export function count(n: number): string {
  return `${n} object${n === 1 ? "" : "s"}`;
}

/** The first three, and how many more. */
export function firstThree(texts: readonly string[]): string {
  const more = texts.length - 3;
  return texts.slice(0, 3).join("; ") + (more > 0 ? `; and ${more} more` : "");
}

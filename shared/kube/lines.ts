/** Splits text that comes in pieces at its newlines. @module */

/** Yields the non-empty lines of a stream; the last needs no newline. Costs linear time for lines of any length. */
export async function* splitLines(pieces: AsyncIterable<string> | Iterable<string>): AsyncIterable<string> {
  let parts: string[] = [];
  for await (const piece of pieces) {
    let from = 0;
    for (let at = piece.indexOf("\n"); at >= 0; at = piece.indexOf("\n", from)) {
      parts.push(piece.slice(from, at));
      const line = parts.length === 1 ? parts[0]! : parts.join("");
      parts = [];
      from = at + 1;
      if (line.trim() !== "") yield line;
    }
    if (from < piece.length) parts.push(from === 0 ? piece : piece.slice(from));
  }
  const rest = parts.join("");
  if (rest.trim() !== "") yield rest;
}

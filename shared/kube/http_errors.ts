/** What went wrong with a connection. @module */

/** Marks errors of requests that the server cannot have worked on. */
const NOT_PROCESSED = Symbol("not processed");

/** Marks an error as one of a request that never reached the server's handler. */
export function markNotProcessed<E extends Error>(error: E): E {
  (error as unknown as Record<symbol, boolean>)[NOT_PROCESSED] = true;
  return error;
}

/** True when the request may be sent again whatever its method. */
export function wasNotProcessed(error: unknown): boolean {
  return error instanceof Error && (error as unknown as Record<symbol, boolean>)[NOT_PROCESSED] === true;
}

/** The connection broke before the answer was whole. */
export class LostConnection extends Error {
  override readonly name = "LostConnection";
}

const LOST_CODES = new Set(["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE", "ERR_HTTP2_STREAM_ERROR"]);

/** True for a connection that was there and broke (not: could not be made). */
export function isLostConnection(error: unknown): boolean {
  if (error instanceof LostConnection) return true;
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && LOST_CODES.has(code);
}

/** The logger interface: constant messages, key/value pairs, two levels. @module */

/** Values of one log line. Never pass Secret values, tokens or whole objects. */
export type LogFields = Record<string, unknown>;

/** A logger. `message` is a constant; what varies goes into `fields`. */
export interface Logger {
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  error(message: string, error: unknown, fields?: LogFields): void;
  with(fields: LogFields): Logger;
}

/** Drops everything. */
export const silentLogger: Logger = {
  info() {},
  debug() {},
  error() {},
  with: () => silentLogger,
};

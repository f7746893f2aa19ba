/** A logger that keeps what it gets and insists on constant messages. @module */
import type { LogFields, Logger } from "../runtime/logger.ts";

/** One captured line. */
export interface CapturedLine {
  level: "debug" | "info" | "error";
  message: string;
  error?: unknown;
  fields: LogFields;
}

/** Messages begin with a capital and hold words only: digits, quotes, slashes and the like are things that vary. */
const CONSTANT = /^[A-Z][A-Za-z ,'()-]*$/;

/**
 * A logger for tests.
 *
 * @throws (from its methods) Error when a message is not constant: it holds digits or marks, or many messages come from
 * one place of the code.
 */
export function captureLogger(): Logger & { readonly lines: CapturedLine[]; messages(): string[] } {
  const lines: CapturedLine[] = [];
  const bySite = new Map<string, string>();
  const check = (message: string) => {
    if (!CONSTANT.test(message)) throw new Error(`Log message is not constant: ${JSON.stringify(message)}`);
    const site = callSite();
    if (!site) return;
    const seen = bySite.get(site);
    if (seen !== undefined && seen !== message) {
      throw new Error(`Log message is not constant: ${JSON.stringify(seen)} and ${JSON.stringify(message)} at ${site}`);
    }
    bySite.set(site, message);
  };
  const make = (base: LogFields): Logger => ({
    debug(message, fields = {}) {
      check(message);
      lines.push({ level: "debug", message, fields: { ...base, ...fields } });
    },
    info(message, fields = {}) {
      check(message);
      lines.push({ level: "info", message, fields: { ...base, ...fields } });
    },
    error(message, error, fields = {}) {
      check(message);
      lines.push({ level: "error", message, error, fields: { ...base, ...fields } });
    },
    with: (fields) => make({ ...base, ...fields }),
  });
  return Object.assign(make({}), { lines, messages: () => lines.map((line) => line.message) });
}

/** File, line and column of the code that logged. */
function callSite(): string | undefined {
  const frames = (new Error().stack ?? "").split("\n").slice(1);
  return frames.find((frame) => !frame.includes("capture_logger.ts"))?.trim();
}

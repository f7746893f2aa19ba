/** The logger of a process: text for people, JSON lines for machines. @module */
import type { LogFields, Logger } from "./logger.ts";
import { describeError, isSecretName, redact, redactText } from "./redact.ts";

/** Options of {@link createLogger}. */
export interface LoggerOptions {
  /** @default "text" */
  format?: "text" | "json";
  /** The least that is written. @default "info" */
  level?: "debug" | "info" | "error";
  /** Takes one line with its newline. @default standard error */
  write?: (line: string) => void;
  /** ms since the epoch. @default Date.now */
  now?: () => number;
}

const RANK = { debug: 0, info: 1, error: 2 } as const;

/** Errors that show a fault of the program: their stack is worth a line. */
const FAULTS = [TypeError, RangeError, ReferenceError, SyntaxError];

/** Makes a logger. Values of fields whose names say that they are secrets are never written. */
export function createLogger(o: LoggerOptions = {}): Logger {
  const least = RANK[o.level ?? "info"];
  const write = o.write ?? writeStderr;
  const now = o.now ?? Date.now;
  const print = o.format === "json" ? jsonLine : textLine;
  const make = (base: LogFields): Logger => {
    const line = (level: keyof typeof RANK, message: string, fields: LogFields) => {
      if (RANK[level] < least) return;
      const own: [string, unknown][] = [];
      for (const [name, value] of Object.entries({ ...base, ...fields })) {
        if (value !== undefined) own.push([name, isSecretName(name) ? "[redacted]" : redact(value)]);
      }
      try {
        write(print(new Date(now()).toISOString(), level, message, own) + "\n");
      } catch {
        // A log that cannot be written must not end the work.
      }
    };
    return {
      debug: (message, fields = {}) => line("debug", message, fields),
      info: (message, fields = {}) => line("info", message, fields),
      error(message, error, fields = {}) {
        const fault = error instanceof Error && FAULTS.some((F) => error instanceof F);
        line("error", message, {
          ...fields,
          error: redactText(describeError(error)),
          ...(fault && error.stack ? { stack: error.stack } : {}),
        });
      },
      with: (fields) => make({ ...base, ...fields }),
    };
  };
  return make({});
}

function jsonLine(time: string, level: string, message: string, fields: [string, unknown][]): string {
  return JSON.stringify({ time, level, message, ...Object.fromEntries(fields) });
}

function textLine(time: string, level: string, message: string, fields: [string, unknown][]): string {
  const values = fields.map(([name, value]) => `${name}=${textOf(value)}`);
  return [time, level.toUpperCase().padEnd(5), message, ...values].join(" ");
}

function textOf(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? String(value);
  return /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
}

const encoder = new TextEncoder();

function writeStderr(line: string): void {
  const bytes = encoder.encode(line);
  for (let at = 0; at < bytes.length;) at += Deno.stderr.writeSync(bytes.subarray(at));
}

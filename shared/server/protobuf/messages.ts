/** The message table, unpacked at first use. @module */
import { MESSAGES, ROOTS } from "./gen/messages.ts";

/**
 * Type of a field. `form`: s string, i integer, b boolean, B bytes, m message, t Time, u MicroTime,
 * q Quantity, o IntOrString, r raw JSON, x list of strings in a message.
 */
export interface FieldType {
  /** Name in JSON; "^" = its fields are fields of the parent. */
  name: string;
  form: string;
  message: number;
  /** A pointer in Go: present though it has the zero value. */
  pointer: boolean;
  repeated: boolean;
  /** A map from string to the form. */
  map: boolean;
}

/** Fields of a message by number. */
export type Message = ReadonlyMap<number, FieldType>;

interface Table {
  roots: Map<string, number>;
  lines: string[];
  messages: Map<number, Message>;
}

let table: Table | undefined;

function tableNow(): Table {
  if (table) return table;
  const roots = new Map<string, number>();
  for (const line of ROOTS.trim().split("\n")) {
    const [apiVersion, kind, number] = line.split(" ");
    roots.set(`${apiVersion} ${kind}`, Number(number));
  }
  // Not trimmed: a message without fields is an empty line.
  return table = { roots, lines: MESSAGES.slice(1, -1).split("\n"), messages: new Map() };
}

/** The message of a kind; undefined when it is not in the table. */
export function rootMessage(apiVersion: string, kind: string): number | undefined {
  const { roots } = tableNow();
  return roots.get(`${apiVersion} ${kind}`) ?? roots.get(`* ${kind}`);
}

/** A message by number. */
export function messageOf(number: number): Message {
  const { lines, messages } = tableNow();
  let message = messages.get(number);
  if (!message) messages.set(number, message = parseMessage(lines[number] ?? ""));
  return message;
}

function parseMessage(line: string): Message {
  const fields = new Map<number, FieldType>();
  for (const part of line === "" ? [] : line.split(",")) {
    const [number = "", name = "", code = ""] = part.split(" ");
    const [, prefix = "", form = "", message = ""] = /^([*+%]*)([a-zA-Z])(\d*)$/.exec(code) ?? [];
    fields.set(Number(number), {
      name,
      form,
      message: Number(message),
      pointer: prefix.startsWith("*"),
      repeated: prefix.includes("+"),
      map: prefix.includes("%"),
    });
  }
  return fields;
}

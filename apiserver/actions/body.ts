/** Reading the body of an action: every fault is told at once, each with its field. @module */
import { isObject, type JsonObject, type JsonValue, stringifyJson } from "../../shared/json/mod.ts";
import { failure, type StatusError } from "../../shared/kube/status.ts";
import type { ActionContext, FieldError } from "../../shared/server/contract.ts";
import { GROUP } from "../../shared/api/mod.ts";
import { parseTime } from "./requested_at.ts";

/** The most characters of a reason: what the schema of Release allows. */
const MAX_REASON = 1024;

/** Reads the fields of one JSON object and collects what is wrong with them. */
export class Fields {
  readonly #known = new Set<string>();

  /** `path` is put before the names of fields: `mutations[0]`. */
  constructor(readonly object: JsonObject, readonly errors: FieldError[] = [], readonly path = "") {}

  /** Full name of a field. */
  at(name: string): string {
    return this.path === "" ? name : `${this.path}.${name}`;
  }

  /** The value as it is; undefined when absent or null. */
  raw(name: string): JsonValue | undefined {
    this.#known.add(name);
    const value = Object.hasOwn(this.object, name) ? this.object[name] : undefined;
    return value === null ? undefined : value;
  }

  /** A string that is not empty; undefined when absent (an error when `required`) or wrong. */
  text(name: string, o: { required?: boolean; max?: number } = {}): string | undefined {
    const value = this.raw(name);
    if (value === undefined) {
      if (o.required) this.fail(name, "FieldValueRequired", "Required value");
      return undefined;
    }
    if (typeof value !== "string") return this.#type(name, value, "string");
    if (value === "") return void this.fail(name, "FieldValueInvalid", `Invalid value: "": must not be empty`);
    const { max = MAX_REASON } = o;
    if ([...value].length > max) {
      return void this.fail(name, "FieldValueTooLong", `Too long: may not be more than ${max} characters`);
    }
    return value;
  }

  /** One of some words. */
  word<T extends string>(name: string, words: readonly T[]): T | undefined {
    const value = this.text(name, { required: true });
    const found = words.find((word) => word === value);
    if (value !== undefined && found === undefined) {
      const list = words.map((word) => `"${word}"`).join(", ");
      this.fail(
        name,
        "FieldValueNotSupported",
        `Unsupported value: ${stringifyJson(value)}: supported values: ${list}`,
      );
    }
    return found;
  }

  /** An RFC 3339 time after `now` (ms). */
  future(name: string, now: number): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const time = parseTime(value);
    const shown = stringifyJson(value);
    if (time === undefined) {
      this.fail(name, "FieldValueInvalid", `Invalid value: ${shown}: must be a time such as 2026-01-31T15:04:05Z`);
    } else if (time <= BigInt(now) * 1_000_000n) {
      this.fail(name, "FieldValueInvalid", `Invalid value: ${shown}: must be in the future`);
    } else return value;
    return undefined;
  }

  /** A JSON object. */
  record(name: string, o: { required?: boolean } = {}): JsonObject | undefined {
    const value = this.raw(name);
    if (value === undefined) {
      if (o.required) this.fail(name, "FieldValueRequired", "Required value");
      return undefined;
    }
    return isObject(value) ? value : this.#type(name, value, "object");
  }

  /** A list of at most `max` items. */
  list(name: string, o: { required?: boolean; max: number }): JsonValue[] | undefined {
    const value = this.raw(name);
    if (value === undefined) {
      if (o.required) this.fail(name, "FieldValueRequired", "Required value");
      return undefined;
    }
    if (!Array.isArray(value)) return this.#type(name, value, "array");
    if (value.length > o.max) {
      const message = `Too many: ${value.length}: must have at most ${o.max} items`;
      return void this.fail(name, "FieldValueTooMany", message);
    }
    return value;
  }

  /** Exactly one of two fields must be set. */
  oneOf(a: string, b: string): void {
    const set = [a, b].filter((name) => this.raw(name) !== undefined);
    if (set.length === 1) return;
    if (set.length === 0) this.fail(a, "FieldValueRequired", `Required value: one of ${a} and ${b} must be set`);
    else this.fail(b, "FieldValueForbidden", `Forbidden: may not be set together with ${a}`);
  }

  /** Reports every field that nobody asked for. Call it last. */
  end(): void {
    for (const name of Object.keys(this.object)) {
      if (!this.#known.has(name)) this.fail(name, "FieldValueForbidden", "Forbidden: unknown field");
    }
  }

  /** Adds an error. */
  fail(name: string, type: FieldError["type"], message: string): void {
    this.errors.push({ field: this.at(name), type, message });
  }

  #type(name: string, value: JsonValue, wanted: string): undefined {
    const got = Array.isArray(value) ? "array" : typeof value;
    this.fail(name, "FieldValueTypeInvalid", `Invalid value: "${got}": must be of type ${wanted}`);
  }
}

/**
 * Reads the body with `read`.
 *
 * @throws StatusError 400 when there is no JSON object, 422 with a cause for each fault
 */
export function readBody<T>(ctx: ActionContext, read: (fields: Fields) => T): T {
  if (!isObject(ctx.body)) {
    throw failure(400, "BadRequest", "the body of the request must be a JSON object");
  }
  const fields = new Fields(ctx.body);
  const result = read(fields);
  fields.end();
  if (fields.errors.length > 0) throw invalidRequest(ctx.name, fields.errors);
  return result;
}

/** 422 of a Release, worded as a failed validation of it. */
export function invalidRequest(name: string, errors: readonly FieldError[]): StatusError {
  const texts = errors.map((error) => `${error.field}: ${error.message}`);
  const list = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  return failure(422, "Invalid", `Release.${GROUP} "${name}" is invalid: ${list}`, {
    name,
    group: GROUP,
    kind: "Release",
    causes: errors.map(({ type, message, field }) => ({ reason: type, message, field })),
  });
}

/**
 * From the protobuf form of Kubernetes objects, which kubectl sends for `create namespace`, `create secret`,
 * `auth can-i` and the like, to the JSON form. What Go would leave out of the JSON is left out.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { type JsonObject, type JsonValue, parseJson, setKey } from "../../json/mod.ts";
import { type FieldType, messageOf, rootMessage } from "./messages.ts";
import { fieldsOf, packedVarints, ProtobufError } from "./wire.ts";

export { ProtobufError };

/** Bytes before every object: "k8s" and a zero. */
const MAGIC = [0x6b, 0x38, 0x73, 0x00];
/** Nesting of messages; JSON schemas inside could go on for ever. */
const MAX_DEPTH = 100;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Decodes an object. @throws ProtobufError when the bytes are not a message of a kind in the table */
export function decodeProtobuf(bytes: Uint8Array): JsonObject {
  if (MAGIC.some((byte, i) => bytes[i] !== byte)) throw new ProtobufError("it does not begin as a Kubernetes object");
  let apiVersion = "", kind = "", raw: Uint8Array = new Uint8Array();
  for (const { number, value } of fieldsOf(bytes.subarray(MAGIC.length))) {
    if (number === 1) {
      for (const part of fieldsOf(asBytes(value))) {
        if (part.number === 1) apiVersion = text(part.value);
        else if (part.number === 2) kind = text(part.value);
      }
    } else if (number === 2) raw = asBytes(value);
  }
  const message = rootMessage(apiVersion, kind);
  if (message === undefined) {
    throw new ProtobufError(`kind "${kind}" of ${apiVersion} is not known in this form; send JSON`);
  }
  return { apiVersion, kind, ...decodeMessage(raw, message, 0) };
}

function decodeMessage(bytes: Uint8Array, message: number, depth: number): JsonObject {
  if (depth > MAX_DEPTH) throw new ProtobufError("it is nested too deeply");
  const object: JsonObject = {};
  const fields = messageOf(message);
  for (const { number, value } of fieldsOf(bytes)) {
    const field = fields.get(number);
    // A field that a newer client knows is left out, as Go does.
    if (field) put(object, field, value, depth);
  }
  return object;
}

function put(object: JsonObject, field: FieldType, value: bigint | Uint8Array, depth: number): void {
  const { name } = field;
  if (field.map) {
    const [key, item] = entry(field, asBytes(value), depth);
    const map = (object[name] ??= {}) as JsonObject;
    setKey(map, key, item);
  } else if (field.repeated) {
    const list = (object[name] ??= []) as JsonValue[];
    if (field.form === "i" && typeof value !== "bigint") {
      for (const n of packedVarints(value)) list.push(integer(n));
    } else list.push(one(field, value, depth));
  } else if (name === "^") {
    Object.assign(object, one(field, value, depth));
  } else {
    const decoded = one(field, value, depth);
    if (field.pointer || !isZero(decoded)) object[name] = decoded;
  }
}

function entry(field: FieldType, bytes: Uint8Array, depth: number): [string, JsonValue] {
  let key = "";
  let item: JsonValue | undefined;
  for (const { number, value } of fieldsOf(bytes)) {
    if (number === 1) key = text(value);
    else if (number === 2) item = one(field, value, depth);
  }
  return [key, item ?? (field.form === "m" ? {} : field.form === "x" ? [] : "")];
}

function one(field: FieldType, value: bigint | Uint8Array, depth: number): JsonValue {
  switch (field.form) {
    case "s":
      return text(value);
    case "i":
      return integer(asVarint(value));
    case "b":
      return asVarint(value) !== 0n;
    case "B":
      return Buffer.from(asBytes(value)).toString("base64");
    case "m":
      return decodeMessage(asBytes(value), field.message, depth + 1);
    case "t":
    case "u":
      return time(asBytes(value), field.form === "u");
    case "q":
      return text(find(asBytes(value), 1) ?? new Uint8Array());
    case "o":
      return intOrString(asBytes(value));
    case "r":
      return rawJson(find(asBytes(value), 1));
    case "x":
      return [...fieldsOf(asBytes(value))].filter((f) => f.number === 1).map((f) => text(f.value));
    default:
      throw new ProtobufError(`form "${field.form}" is not known`);
  }
}

/** Null for the zero time, which Go's JSON has as null. */
function time(bytes: Uint8Array, micro: boolean): JsonValue {
  const seconds = find(bytes, 1);
  if (seconds === undefined && find(bytes, 2) === undefined) return null;
  const at = new Date(Number(BigInt.asIntN(64, asVarint(seconds ?? 0n))) * 1000);
  if (Number.isNaN(at.getTime())) throw new ProtobufError("a time is out of range");
  const whole = at.toISOString().slice(0, -5);
  if (!micro) return `${whole}Z`;
  const nanos = Number(asVarint(find(bytes, 2) ?? 0n));
  return `${whole}.${String(Math.trunc(nanos / 1000)).padStart(6, "0")}Z`;
}

function intOrString(bytes: Uint8Array): JsonValue {
  const isText = asVarint(find(bytes, 1) ?? 0n) === 1n;
  return isText ? text(find(bytes, 3) ?? new Uint8Array()) : integer(asVarint(find(bytes, 2) ?? 0n));
}

function rawJson(value: bigint | Uint8Array | undefined): JsonValue {
  if (value === undefined) return null;
  try {
    return parseJson(text(value));
  } catch (error) {
    throw error instanceof ProtobufError ? error : new ProtobufError("JSON inside it cannot be read");
  }
}

/** The last field of a number, as protocol buffers say. */
function find(bytes: Uint8Array, number: number): bigint | Uint8Array | undefined {
  let found: bigint | Uint8Array | undefined;
  for (const field of fieldsOf(bytes)) if (field.number === number) found = field.value;
  return found;
}

function integer(value: bigint): JsonValue {
  const signed = BigInt.asIntN(64, value);
  const number = Number(signed);
  return Number.isSafeInteger(number) ? number : signed;
}

function text(value: bigint | Uint8Array): string {
  try {
    return utf8.decode(asBytes(value));
  } catch (error) {
    throw error instanceof ProtobufError ? error : new ProtobufError("a text in it is not UTF-8");
  }
}

function asBytes(value: bigint | Uint8Array): Uint8Array {
  if (typeof value === "bigint") throw new ProtobufError("a number stands where bytes belong");
  return value;
}

function asVarint(value: bigint | Uint8Array): bigint {
  if (typeof value !== "bigint") throw new ProtobufError("bytes stand where a number belongs");
  return value;
}

function isZero(value: JsonValue): boolean {
  if (value === null || value === "" || value === 0 || value === false) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

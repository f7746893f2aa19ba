/** The wire format of protocol buffers: fields of one message, in order. @module */

/** The bytes are not what they should be. */
export class ProtobufError extends Error {
  override readonly name = "ProtobufError";
}

/** One field: a varint, or bytes. Fixed-width values are given as bytes; no message in use has them. */
export interface WireField {
  number: number;
  value: bigint | Uint8Array;
}

/** Reads the fields of a message. @throws ProtobufError */
export function* fieldsOf(bytes: Uint8Array): Generator<WireField> {
  const reader = new Reader(bytes);
  while (!reader.done) {
    const key = Number(reader.varint());
    const number = Math.floor(key / 8);
    if (number === 0) throw new ProtobufError("a field has number 0");
    switch (key % 8) {
      case 0:
        yield { number, value: reader.varint() };
        break;
      case 1:
        yield { number, value: reader.take(8) };
        break;
      case 2:
        yield { number, value: reader.take(Number(reader.varint())) };
        break;
      case 5:
        yield { number, value: reader.take(4) };
        break;
      default:
        throw new ProtobufError(`wire type ${key % 8} is not known`);
    }
  }
}

/** The varints of a packed list. @throws ProtobufError */
export function* packedVarints(bytes: Uint8Array): Generator<bigint> {
  const reader = new Reader(bytes);
  while (!reader.done) yield reader.varint();
}

class Reader {
  #at = 0;
  constructor(readonly bytes: Uint8Array) {}

  get done(): boolean {
    return this.#at >= this.bytes.length;
  }

  take(length: number): Uint8Array {
    if (length > this.bytes.length - this.#at) throw new ProtobufError("it ends in the middle of a field");
    return this.bytes.subarray(this.#at, this.#at += length);
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.bytes[this.#at++];
      if (byte === undefined) throw new ProtobufError("it ends in the middle of a number");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new ProtobufError("a number is longer than 64 bits");
  }
}

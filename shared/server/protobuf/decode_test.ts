import assert from "node:assert/strict";
import fc from "fast-check";
import { decodeProtobuf, ProtobufError } from "./mod.ts";

interface Recorded {
  command: string;
  base64: string;
  object: unknown;
}

const recorded: Recorded[] = JSON.parse(
  await Deno.readTextFile(new URL("./testdata/kubectl.json", import.meta.url)),
);
const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

for (const { command, base64, object } of recorded) {
  Deno.test(`decodeProtobuf: ${command}`, () => assert.deepEqual(decodeProtobuf(bytesOf(base64)), object));
}

function varint(value: number | bigint): number[] {
  const out: number[] = [];
  let rest = BigInt(value);
  for (; rest > 127n; rest >>= 7n) out.push(Number(rest & 127n) | 128);
  return [...out, Number(rest)];
}

/** A length-delimited field. */
function field(number: number, value: string | number[]): number[] {
  const bytes = typeof value === "string" ? [...new TextEncoder().encode(value)] : value;
  return [...varint(number * 8 + 2), ...varint(bytes.length), ...bytes];
}

function number(number: number, value: number | bigint): number[] {
  return [...varint(number * 8), ...varint(value)];
}

function object(apiVersion: string, kind: string, raw: number[]): Uint8Array {
  const type = field(1, [...field(1, apiVersion), ...field(2, kind)]);
  return new Uint8Array([0x6b, 0x38, 0x73, 0, ...type, ...field(2, raw)]);
}

const TIME = number(1, Date.UTC(2026, 0, 2, 3, 4, 5) / 1000);

Deno.test("decodeProtobuf: times, micro times, integers and what is left out", () => {
  const spec = [
    ...field(1, "me"),
    ...number(2, 15),
    ...field(3, [...TIME, ...number(2, 1_000)]),
    ...field(4, TIME),
    ...number(5, 0),
    ...field(99, "from a newer client"),
  ];
  const metadata = [
    ...field(1, "l"),
    ...field(8, TIME),
    ...field(9, []),
    ...number(7, 2n ** 53n),
  ];
  assert.deepEqual(
    decodeProtobuf(object("coordination.k8s.io/v1", "Lease", [...field(1, metadata), ...field(2, spec)])),
    {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: {
        name: "l",
        creationTimestamp: "2026-01-02T03:04:05Z",
        generation: 9007199254740992n,
        deletionTimestamp: null,
      },
      spec: {
        holderIdentity: "me",
        leaseDurationSeconds: 15,
        acquireTime: "2026-01-02T03:04:05.000001Z",
        renewTime: "2026-01-02T03:04:05.000000Z",
        leaseTransitions: 0,
      },
    },
  );
});

Deno.test("decodeProtobuf: DeleteOptions come with any apiVersion", () => {
  const raw = [...number(1, 0), ...field(4, "Background")];
  assert.deepEqual(decodeProtobuf(object("apps/v1", "DeleteOptions", raw)), {
    apiVersion: "apps/v1",
    kind: "DeleteOptions",
    gracePeriodSeconds: 0,
    propagationPolicy: "Background",
  });
});

Deno.test("decodeProtobuf: other bytes and unknown kinds are refused with a reason", () => {
  const cases: [Uint8Array, RegExp][] = [
    [new Uint8Array(), /does not begin/],
    [new TextEncoder().encode(`{"kind":"Pod"}`), /does not begin/],
    [object("v1", "Widget", []), /kind "Widget" of v1 is not known/],
    [object("v1", "Namespace", [0x0a, 50, 1]), /ends in the middle of a field/],
    [object("v1", "Namespace", [0x08, 1]), /a number stands where bytes belong/],
    [object("v1", "Namespace", [0x0b]), /wire type 3/],
    [object("v1", "Namespace", field(1, field(1, [0xff]))), /not UTF-8/],
    [object("v1", "Namespace", Array(11).fill(0xff)), /longer than 64 bits/],
  ];
  for (const [bytes, wanted] of cases) {
    assert.throws(() => decodeProtobuf(bytes), (e) => e instanceof ProtobufError && wanted.test(e.message));
  }
});

Deno.test("decodeProtobuf: damaged bytes decode or are refused, nothing else happens", () => {
  const seeds = recorded.map((r) => bytesOf(r.base64));
  fc.assert(
    fc.property(
      fc.constantFrom(...seeds),
      fc.array(fc.tuple(fc.nat(1000), fc.nat(255)), { maxLength: 6 }),
      fc.nat(1000),
      (seed, changes, cut) => {
        const bytes = seed.slice(0, cut > 500 ? seed.length : cut % seed.length);
        for (const [at, value] of changes) if (bytes.length > 4) bytes[4 + at % (bytes.length - 4)] = value;
        try {
          assert.equal(typeof decodeProtobuf(bytes).kind, "string");
        } catch (error) {
          assert.ok(error instanceof ProtobufError, String(error));
        }
      },
    ),
    { numRuns: 3_000 },
  );
});

/** Test support: a kind with one field of each sort, and a small world in which writes happen. Not exported. @module */
import { pathText } from "./path_element.ts";
import {
  applyPatch,
  compileSchema,
  finishWrite,
  type KindInfo,
  type ManagedEntry,
  type Obj,
  type OpenApiSchema,
  parseFieldsV1,
  resetFields,
  updateManagedFields,
  type Value,
} from "./mod.ts";

const TEXT: OpenApiSchema = { type: "string" };
const TEXTS: OpenApiSchema = { type: "object", additionalProperties: TEXT };

/** Spec of the test kind. */
export const SPEC: OpenApiSchema = {
  type: "object",
  properties: {
    text: TEXT,
    number: { type: "integer", format: "int64" },
    ratio: { type: "number" },
    flag: { type: "boolean" },
    time: { type: "string", format: "date-time" },
    either: { "x-kubernetes-int-or-string": true },
    maybe: { type: "string", nullable: true },
    group: {
      type: "object",
      properties: { a: TEXT, b: TEXT, inner: { type: "object", properties: { c: TEXT, d: TEXT } } },
    },
    whole: { type: "object", "x-kubernetes-map-type": "atomic", properties: { a: TEXT, b: TEXT } },
    labels: TEXTS,
    wholeLabels: { ...TEXTS, "x-kubernetes-map-type": "atomic" },
    tags: { type: "array", items: TEXT, "x-kubernetes-list-type": "set" },
    ids: { type: "array", items: { type: "integer" }, "x-kubernetes-list-type": "set" },
    rows: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: {
        type: "object",
        required: ["name"],
        properties: {
          name: TEXT,
          value: TEXT,
          note: TEXT,
          tags: { type: "array", items: TEXT, "x-kubernetes-list-type": "set" },
        },
      },
    },
    ports: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["port", "protocol"],
      items: {
        type: "object",
        properties: { port: { type: "integer" }, protocol: { type: "string", default: "TCP" }, name: TEXT },
      },
    },
    plain: { type: "array", items: TEXT },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    semi: { type: "object", properties: { known: TEXT }, "x-kubernetes-preserve-unknown-fields": true },
    objects: { type: "array", items: { type: "object", properties: { a: TEXT } }, "x-kubernetes-list-type": "set" },
  },
};

/** Schema of the test kind. */
export const SCHEMA: OpenApiSchema = {
  type: "object",
  properties: {
    spec: SPEC,
    status: {
      type: "object",
      properties: {
        phase: TEXT,
        conditions: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["type"],
          items: { type: "object", properties: { type: TEXT, status: TEXT, message: TEXT } },
        },
      },
    },
  },
};

export const V1 = "test.example.com/v1";
export const V2 = "test.example.com/v2";

/** A kind of one schema at two versions. */
export function kindOf(schema: OpenApiSchema = SCHEMA, flavour: KindInfo["flavour"] = "custom"): KindInfo {
  const node = compileSchema(schema);
  return { schemas: new Map([[V1, node], [V2, node]]), flavour, statusSubresource: true };
}

/** Options of a write. */
export interface WriteOptions {
  force?: boolean;
  subresource?: string;
  apiVersion?: string;
}

/** Plays the server for one object: each write comes a second after the one before. */
export class World {
  live: Obj | undefined;
  /** Whether the last write had nothing to store. */
  noop = false;
  warning: string | undefined;
  seconds = 0;

  constructor(public kind: KindInfo = kindOf()) {}

  /** @throws TypedError, ConflictError */
  apply(manager: string, parts: Obj, o: WriteOptions = {}): Obj {
    const apiVersion = o.apiVersion ?? V1;
    const config = { apiVersion, kind: "Test", metadata: { name: "x" }, ...parts };
    const { object } = applyPatch({
      kind: this.kind,
      apiVersion,
      subresource: o.subresource ?? "",
      live: this.live,
      config,
      manager,
      force: o.force ?? false,
      now: this.now(),
    });
    return this.store(object, o);
  }

  /** A PUT (or the create) of the whole object; the posted managedFields may be given in `parts.metadata`. */
  put(manager: string, parts: Obj, o: WriteOptions = {}): Obj {
    const apiVersion = o.apiVersion ?? V1;
    const next = { apiVersion, kind: "Test", metadata: { name: "x" }, ...parts };
    const { object, warning } = updateManagedFields({
      kind: this.kind,
      apiVersion,
      subresource: o.subresource ?? "",
      live: this.live,
      next,
      manager,
      now: this.now(),
    });
    this.warning = warning;
    return this.store(object, o);
  }

  private now(): string {
    return new Date(Date.UTC(2026, 0, 1, 0, 0, ++this.seconds)).toISOString().replace(".000", "");
  }

  private store(object: Obj, o: WriteOptions): Obj {
    const next = resetFields(this.kind, o.subresource, this.live, object);
    const result = finishWrite(this.live && { ...this.live, apiVersion: next.apiVersion! }, next);
    this.noop = result.noop;
    return this.live = result.object;
  }

  get spec(): Value | undefined {
    return this.live?.spec;
  }

  /** Who owns what, as `{"a Apply": ".spec.text .spec.rows[name=\"x\"]"}`. */
  owners(): Record<string, string> {
    return Object.fromEntries(
      this.entries().map((e) => [title(e), parseFieldsV1(e.fieldsV1!).paths().map(pathText).join(" ")]),
    );
  }

  /** The second in which each entry was written; null = it has no time. */
  times(): Record<string, number | null> {
    return Object.fromEntries(
      this.entries().map((e) => [title(e), e.time ? (Date.parse(e.time) - Date.UTC(2026, 0, 1)) / 1000 : null]),
    );
  }

  entries(): ManagedEntry[] {
    return entriesOf(this.live);
  }
}

/** managedFields of an object. */
export function entriesOf(object: Obj | undefined): ManagedEntry[] {
  return ((object?.metadata as Obj | undefined)?.managedFields ?? []) as unknown as ManagedEntry[];
}

function title(e: ManagedEntry): string {
  const version = e.apiVersion === V1 ? "" : ` @${e.apiVersion}`;
  return `${e.manager ?? ""} ${e.operation}${e.subresource ? ` #${e.subresource}` : ""}${version}`;
}

/** Runs and returns what was thrown, as one of a class. */
export function thrown<T extends Error>(type: new (...args: never[]) => T, run: () => unknown): T {
  try {
    run();
  } catch (error) {
    if (error instanceof type) return error;
    throw error;
  }
  throw new Error(`Nothing was thrown where ${type.name} was expected`);
}

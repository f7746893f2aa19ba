/** Recorded sequences as they are on disk (`ssa_vectors/README.md`). @module */
import type { JsonObject, JsonValue } from "../../shared/json/mod.ts";

/** One request and what a real kube-apiserver answered. */
export interface Step {
  op: "apply" | "update" | "create" | "mergepatch" | "jsonpatch" | "smpatch" | "delete" | "get" | "schema";
  clock?: number;
  manager?: string;
  subresource?: string;
  contentType?: string | null;
  body?: JsonValue;
  force?: boolean;
  query?: Record<string, string>;
  rawQuery?: string;
  url?: string;
  name?: string;
  version?: string;
  userAgent?: string;
  impersonate?: string;
  /** op schema: openAPIV3Schema by version; `*` = all. */
  versions?: Record<string, JsonObject>;
  served?: string[];
  unserved?: string[];
  expect?: Expectation;
}

/** The recorded outcome of a step. */
export interface Expectation {
  code: number;
  object?: JsonObject;
  status?: JsonObject;
  warnings?: string[];
  /** The live object when it is not the answer. */
  stored?: JsonObject;
  /** false: there is no live object afterwards. */
  exists?: boolean;
  resourceVersionMoved?: boolean;
  timesMoved?: string[];
  causesUnordered?: boolean;
  messageVaries?: boolean;
  rawHasHtmlEscapes?: boolean;
}

/** A sequence of steps on one object. */
export interface Sequence {
  title: string;
  kind: { group: string; version: string; kind: string; plural: string };
  schemaRef: string;
  statusSubresource: boolean;
  servedVersions?: string[];
  steps: Step[];
}

/** A place where our answer is not the recorded one. */
export interface Difference {
  /** File name of the sequence. */
  sequence: string;
  step: number;
  /** `code`, `object.spec.a`, `stored…`, `warnings`, `timesMoved`… */
  path: string;
  expected: JsonValue | undefined;
  got: JsonValue | undefined;
  /** Id of the accepted difference that covers it. */
  accepted?: string;
}

/** What a step did here. */
export interface Outcome {
  code: number;
  body: JsonValue;
  raw: string;
  warnings: string[];
  /** The stored object before and after, with resourceVersion. */
  before: JsonObject | undefined;
  after: JsonObject | undefined;
}

/**
 * Test support: replays one recorded sequence through the library alone. It plays the API server as far as it must: patches,
 * defaults and prunes by schema, no HTTP. Not exported from mod.ts.
 *
 * @module
 */
import { applyPatch as jsonPatch } from "rfc6902";
import { parseAllDocuments } from "yaml";
import {
  applyPatch,
  compileSchema,
  ConflictError,
  finishWrite,
  type KindInfo,
  managerFromUserAgent,
  type Obj,
  type OpenApiSchema,
  resetFields,
  TypedError,
  updateManagedFields,
  updateScale,
  validateManagedFields,
  type Value,
} from "./mod.ts";
import { exactJson } from "./path_element.ts";
import { fill, mergePatch, pruneObject } from "./replay_shape.ts";
import { copyValue, equalValue, getKey, isObj, putKey } from "./value.ts";

/** A recorded step. */
export interface Step {
  op: string;
  clock: number;
  manager?: string;
  userAgent?: string;
  subresource?: string;
  contentType?: string;
  force?: boolean;
  version?: string;
  query?: Record<string, string>;
  rawQuery?: string;
  url?: string;
  name?: string;
  impersonate?: string;
  body?: Value;
  versions?: Record<string, OpenApiSchema>;
  served?: string[];
  unserved?: string[];
  expect?: Expected;
}

interface Expected {
  code: number;
  object?: Obj;
  status?: Obj;
  stored?: Obj;
  exists?: boolean;
  resourceVersionMoved: boolean;
  timesMoved: string[];
}

/** A recorded sequence. */
export interface Sequence {
  title: string;
  kind: { group: string; version: string; kind: string };
  schemaRef: string;
  statusSubresource?: boolean;
  servedVersions?: string[];
  steps: Step[];
}

/** What a replay found. */
export interface ReplayResult {
  /** Steps that the library decided and that were compared. */
  checked: number;
  /** Steps that are another layer's: validation, HTTP, authorisation. */
  skipped: number;
  differences: string[];
}

/** Reads a recorded sequence with exact integers. */
export function readSequence(text: string): Sequence {
  return exactJson(text) as unknown as Sequence;
}

const SERVER_SET = ["creationTimestamp", "generation", "resourceVersion", "uid", "selfLink"];

/** Replays one sequence. `schema` is the file that `schemaRef` names. */
export function replay(sequence: Sequence, schema: Value): ReplayResult {
  return new Replay(sequence, schema).run();
}

class Replay {
  private readonly result: ReplayResult = { checked: 0, skipped: 0, differences: [] };
  private readonly builtin: boolean;
  private kind: KindInfo;
  private live: Obj | undefined;

  constructor(private readonly sequence: Sequence, schema: Value) {
    this.builtin = sequence.schemaRef.includes("builtin-");
    this.kind = this.builtin ? this.builtinKind(schema as Obj) : this.customKind(schema as OpenApiSchema);
  }

  private apiVersion(version: string): string {
    const group = this.sequence.kind.group;
    return group === "" ? version : `${group}/${version}`;
  }

  private builtinKind(schema: Obj): KindInfo {
    const schemas = schema.schemas as Record<string, OpenApiSchema>;
    const root = schema.root as string | OpenApiSchema;
    const node = compileSchema(typeof root === "string" ? schemas[root] ?? { $ref: root } : root, schemas);
    return {
      schemas: new Map([[this.apiVersion(this.sequence.kind.version), node]]),
      flavour: "builtin",
      statusSubresource: this.sequence.kind.kind === "Deployment" || this.sequence.kind.kind === "Service",
    };
  }

  private customKind(schema: OpenApiSchema, versions = this.sequence.servedVersions ?? ["v1"]): KindInfo {
    const node = compileSchema(schema);
    return {
      schemas: new Map(versions.map((v) => [this.apiVersion(v), node])),
      flavour: "custom",
      statusSubresource: this.sequence.statusSubresource === true,
    };
  }

  run(): ReplayResult {
    this.sequence.steps.forEach((step, i) => {
      if (step.op === "schema") {
        const versions = [...step.served ?? this.sequence.servedVersions ?? ["v1"]];
        this.kind = this.customKind(step.versions!["*"]!, versions);
        return;
      }
      const where = `step ${i + 1} (${step.op})`;
      try {
        if (this.step(step, where)) this.result.checked++;
        else this.result.skipped++;
      } catch (error) {
        this.result.differences.push(`${where}: ${error instanceof Error ? error.stack : error}`);
      }
    });
    return this.result;
  }

  /** True when the step was the library's to decide. */
  private step(step: Step, where: string): boolean {
    const expect = step.expect!;
    if (step.op === "get") return false;
    if (step.subresource === "scale") return this.scale(step, where);
    if (step.op === "delete") {
      if (expect.code === 200) this.live = expect.exists === false ? undefined : this.live;
      if (expect.exists === undefined && expect.code === 200 && !this.live?.metadata) this.live = undefined;
      return false;
    }
    const outcome = this.attempt(step);
    if (expect.code === 409 && isConflict(expect)) {
      if (outcome.error instanceof ConflictError) this.compareConflict(outcome.error, expect, where);
      else this.differ(where, "no conflict", expect.status!);
      return true;
    }
    const message = String(getKey(expect.status ?? {}, "message") ?? "");
    if (expect.code === 500 && /failed to create (typed|manager)/.test(message)) {
      if (!(outcome.error instanceof TypedError)) this.differ(where, "no typed error", message);
      else if (!sameErrors(outcome.error.message, message)) this.differ(where, outcome.error.message, message);
      return true;
    }
    if (expect.code !== 200 && expect.code !== 201) return false;
    if (outcome.error) {
      this.differ(where, String(outcome.error), `code ${expect.code}`);
      this.live = this.serverSet(copyValue(expect.stored ?? expect.object!));
      return true;
    }
    this.compareStored(outcome, expect, where);
    return true;
  }

  private scale(step: Step, where: string): boolean {
    if (step.op === "apply" || step.expect?.code !== 200) return false;
    const spec = (step.body as Obj).spec as Obj;
    const live = this.live!;
    const next = { ...live, spec: { ...live.spec as Obj, replicas: spec.replicas! } };
    const apiVersion = this.apiVersion(this.sequence.kind.version);
    const manager = step.manager ?? "";
    const scaled = updateScale({
      kind: this.kind,
      apiVersion,
      live,
      next,
      replicasPath: ["spec", "replicas"],
      manager,
    });
    const { object, noop } = finishWrite(live, this.serverSet(scaled));
    this.compareStored({ object, noop, previous: live }, step.expect, where);
    return true;
  }

  private attempt(step: Step): { object?: Obj; noop?: boolean; previous: Obj | undefined; error?: unknown } {
    const previous = this.live;
    try {
      const { object, noop } = this.write(step);
      return { object, noop, previous };
    } catch (error) {
      return { error, previous };
    }
  }

  private write(step: Step): { object: Obj; noop: boolean } {
    const apiVersion = this.apiVersion(step.version ?? this.sequence.kind.version);
    const now = new Date(Date.UTC(2026, 0, 1) + step.clock * 1000).toISOString().replace(".000Z", "Z");
    const subresource = step.subresource ?? "";
    const live = this.live && this.prune({ ...this.live, apiVersion }, apiVersion);
    const query = new URLSearchParams(step.rawQuery ?? "");
    const manager = query.get("fieldManager") || step.manager ||
      managerFromUserAgent(step.userAgent ?? "recorder/1.0 (test)");
    const common = { kind: this.kind, apiVersion, subresource, live, manager, now };
    let next: Obj;
    if (step.op === "apply") {
      const config = typeof step.body === "string" ? yamlBody(step.body) : step.body as Obj;
      if (managedFieldsGiven(config) || config.apiVersion !== apiVersion) throw new Error("refused before apply");
      const force = step.force === true || step.query?.force === "true";
      next = applyPatch({ ...common, config, force }).object;
      next = this.settle(this.admit(this.default(next, apiVersion, step)), step);
    } else {
      const body = this.patched(step, live, apiVersion);
      if (validateManagedFields(managedFieldsGiven(body)).length > 0) throw new Error("invalid managedFields");
      const defaulted = this.serverSet(this.settle(this.default(this.prune(body, apiVersion), apiVersion, step), step));
      next = this.admit(updateManagedFields({ ...common, next: defaulted }).object);
    }
    // A built-in kind's status is there even when it is empty: that is content, too.
    next = this.serverSet(this.settle(resetFields(this.kind, subresource, live, next), step));
    const { object, noop } = finishWrite(live, next);
    return { object, noop };
  }

  /** The body of a write as the object that the client wants. */
  private patched(step: Step, live: Obj | undefined, apiVersion: string): Obj {
    if (typeof step.body === "string") throw new Error("raw body");
    const body = copyValue(step.body ?? {});
    if (step.op === "create" || step.op === "update") return body as Obj;
    if (!live) throw new Error("not found");
    const base = { ...copyValue(live), apiVersion };
    if (step.op === "mergepatch") return mergePatch(base, body as Obj);
    if (step.op === "jsonpatch") {
      const errors = jsonPatch(base, body as never).filter((e) => e !== null);
      if (errors.length > 0) throw errors[0];
      return base;
    }
    return mergePatch(base, body as Obj);
  }

  /** Content of built-in kinds hangs on their own defaulting: it is taken from the recording. */
  private settle(next: Obj, step: Step): Obj {
    const recorded = step.expect?.stored ?? step.expect?.object;
    if (!this.builtin || !recorded) return next;
    const fields = managedFieldsGiven(next);
    const { managedFields: _f, ...metadata } = copyValue(recorded.metadata as Obj);
    return {
      ...copyValue(recorded),
      metadata: fields === undefined ? metadata : { ...metadata, managedFields: fields },
    };
  }

  private admit(next: Obj): Obj {
    if (this.sequence.schemaRef !== "schemas/mutant.json") return next;
    return { ...next, spec: { ...next.spec as Obj, c: "injected" } };
  }

  private serverSet(next: Obj): Obj {
    const metadata: Obj = { name: "obj", namespace: "ns1" };
    const given = isObj(next.metadata) ? next.metadata : {};
    for (const key of Object.keys(given)) {
      const value = given[key]!;
      const empty = value === null ||
        (key !== "managedFields" && typeof value === "object" && Object.keys(value).length === 0);
      if (!SERVER_SET.includes(key) && !empty) putKey(metadata, key, value);
    }
    return { ...next, kind: this.sequence.kind.kind, metadata };
  }

  private prune(object: Obj, apiVersion: string): Obj {
    return this.builtin ? object : pruneObject(this.kind.schemas.get(apiVersion)!, object);
  }

  private default(object: Obj, apiVersion: string, step: Step): Obj {
    if (this.builtin) return object;
    const out = copyValue(object);
    fill(this.kind.schemas.get(apiVersion)!, out, step.op !== "apply");
    return out;
  }

  private compareStored(
    outcome: { object?: Obj; noop?: boolean; previous: Obj | undefined },
    expect: Expected,
    where: string,
  ): void {
    const object = outcome.object!;
    const recorded = this.serverSet(copyValue(expect.stored ?? expect.object!));
    const dry = expect.resourceVersionMoved === false && outcome.noop === false;
    const [mine, theirs] = [withoutTimes(object), withoutTimes(recorded)];
    if (!equalValue(mine, theirs)) this.differ(where, mine, theirs);
    else if (fieldsText(object) !== fieldsText(recorded)) this.differ(where, fieldsText(object), fieldsText(recorded));
    else if (outcome.noop === expect.resourceVersionMoved) {
      this.differ(where, { noop: outcome.noop! }, "resourceVersionMoved");
    }
    const moved = movedTimes(outcome.previous, object).sort(), wanted = [...expect.timesMoved].sort();
    if (!dry && !equalValue(moved, wanted)) this.differ(where, { moved }, { wanted });
    if (!dry) this.live = { ...object, apiVersion: this.apiVersion(this.sequence.kind.version) };
  }

  private compareConflict(error: ConflictError, expect: Expected, where: string): void {
    const status = expect.status!;
    const causes = ((status.details as Obj).causes as Obj[]).map((c) => ({ field: c.field!, message: c.message! }));
    const order = (list: { field: Value; message: Value }[]) =>
      [...list].sort((a, b) => JSON.stringify(a) < JSON.stringify(b) ? -1 : 1) as unknown as Value;
    if (error.message !== status.message) this.differ(where, error.message, status.message!);
    if (!equalValue(order([...error.causes]), order(causes))) {
      this.differ(where, order([...error.causes]), order(causes));
    }
  }

  private differ(where: string, mine: Value, theirs: Value): void {
    const [path, a, b] = firstDifference(mine, theirs, "");
    this.result.differences.push(
      `${where} at ${path || "."}:\n  ours   ${text(a ?? null)}\n  theirs ${text(b ?? null)}`,
    );
  }
}

/** Narrows two unlike values down to where they part. */
function firstDifference(a: Value, b: Value, path: string): [string, Value | undefined, Value | undefined] {
  if (isObj(a) && isObj(b)) {
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      const x = getKey(a, key), y = getKey(b, key);
      if (equalValue(x, y)) continue;
      return x === undefined || y === undefined ? [`${path}.${key}`, x, y] : firstDifference(x, y, `${path}.${key}`);
    }
  }
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    const i = a.findIndex((item, k) => !equalValue(item, b[k]));
    if (i >= 0) return firstDifference(a[i]!, b[i]!, `${path}[${i}]`);
  }
  return [path, a, b];
}

function yamlBody(body: string): Obj {
  const documents = parseAllDocuments(body, { version: "1.1", uniqueKeys: false });
  return (Array.isArray(documents) ? documents[0]!.toJS() : {}) as Obj;
}

function text(value: Value): string {
  return JSON.stringify(value, (_k, v) => typeof v === "bigint" ? `${v}n` : v);
}

function isConflict(expect: Expected): boolean {
  return String(getKey(expect.status ?? {}, "message")).startsWith("Apply failed");
}

/** Upstream tells one unknown field of a struct, in random order; we tell all. */
function sameErrors(mine: string, theirs: string): boolean {
  if (mine === theirs) return true;
  const lines = (m: string) => m.replace(/errors:\n/, "").split(/: (?=\.)|\n/).map((l) => l.trim());
  const have = new Set(lines(mine));
  return lines(theirs).every((l) => have.has(l) || mine.includes(l));
}

function managedFieldsGiven(object: Obj): Value | undefined {
  const fields = isObj(object.metadata) ? getKey(object.metadata, "managedFields") : undefined;
  return fields === null ? undefined : fields;
}

function entriesOf(object: Obj | undefined): Obj[] {
  const fields = object && managedFieldsGiven(object);
  return Array.isArray(fields) ? fields as Obj[] : [];
}

function nameOf(entry: Obj): string {
  const at = entry.operation === "Update" ? `@${entry.apiVersion}` : "";
  return `${entry.operation}:${entry.manager ?? ""}${at}${entry.subresource ? "#" + entry.subresource : ""}`;
}

function movedTimes(before: Obj | undefined, after: Obj): string[] {
  const old = new Map(entriesOf(before).map((e) => [nameOf(e), e.time]));
  return entriesOf(after).filter((e) => e.time !== undefined && old.get(nameOf(e)) !== e.time).map(nameOf);
}

/** Times as present or absent: the recording does not tell them. */
function withoutTimes(object: Obj): Obj {
  const { apiVersion: _v, ...rest } = object;
  if (managedFieldsGiven(object) === undefined) return rest;
  const entries = entriesOf(object).map((e) => e.time === undefined ? e : { ...e, time: "set" });
  return { ...rest, metadata: { ...object.metadata as Obj, managedFields: entries } };
}

function fieldsText(object: Obj): string {
  return JSON.stringify(entriesOf(object).map((e) => e.fieldsV1));
}

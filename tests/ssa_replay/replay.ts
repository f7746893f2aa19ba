/** Replays recorded sequences through the API server handler, in one process, on memory storage. @module */
import { isObject, type JsonObject, type JsonValue, parseJson, setKey, stringifyJson } from "../../shared/json/mod.ts";
import { FakeClock } from "../../shared/runtime/clock.ts";
import { type ApiServer, type Authorizer, createApiHandler, type KindDefinition } from "../../shared/server/mod.ts";
import { MemoryStorage } from "../../shared/server/storage/mod.ts";
import { compareStep } from "./compare.ts";
import { evolved, kindOf } from "./kinds.ts";
import { acceptedBy, EXACT_NUMBERS } from "./accepted.ts";
import type { Difference, Expectation, Outcome, Sequence, Step } from "./types.ts";

const NAMESPACE = "ns1", NAME = "obj";
const START = Date.UTC(2026, 5, 1);
/** What the recorded server's store took, bytes. */
const STORE_LIMIT = 1_572_864;

const CONTENT_TYPES: Partial<Record<Step["op"], string>> = {
  apply: "application/apply-patch+yaml",
  update: "application/json",
  create: "application/json",
  mergepatch: "application/merge-patch+json",
  jsonpatch: "application/json-patch+json",
  smpatch: "application/strategic-merge-patch+json",
};

const METHODS: Record<Exclude<Step["op"], "schema">, string> = {
  apply: "PATCH",
  mergepatch: "PATCH",
  jsonpatch: "PATCH",
  smpatch: "PATCH",
  update: "PUT",
  create: "POST",
  delete: "DELETE",
  get: "GET",
};

/** The recording's impersonated user may only get and patch. */
const authorizer: Authorizer = {
  async authorize(_user, { verb }) {
    return { allowed: verb === "get" || verb === "patch" };
  },
};

/** Replays one sequence; resolves to all differences, those that are accepted marked so. */
export async function replay(file: string, sequence: Sequence, schema: JsonObject): Promise<Difference[]> {
  const run = new Run(file, sequence, schema);
  try {
    return await run.all();
  } finally {
    await run.close();
  }
}

class Run {
  readonly #clock = new FakeClock(START);
  readonly #storage = new MemoryStorage({ clock: this.#clock });
  readonly #api: ApiServer;
  readonly #key: string;
  /** Stored resourceVersion after each step. */
  readonly #versions: string[] = [];
  #kind: KindDefinition;

  constructor(private readonly file: string, private readonly sequence: Sequence, schema: JsonObject) {
    this.#kind = kindOf(sequence, schema);
    const { group, plural } = sequence.kind;
    this.#key = `/${group || "core"}/${plural}/${NAMESPACE}/${NAME}`;
    this.#api = createApiHandler({
      kinds: [this.#kind],
      storage: this.#storage,
      clock: this.#clock,
      authorizer,
      checkNamespaces: false,
      // The recording had no controller manager.
      workers: false,
      maxObjectBytes: STORE_LIMIT,
      ...(sequence.kind.kind === "Mutant" ? { admit: injected } : {}),
    });
  }

  async close(): Promise<void> {
    await this.#api.close();
    await this.#storage.close();
  }

  async all(): Promise<Difference[]> {
    const differences: Difference[] = [];
    for (const [i, step] of this.sequence.steps.entries()) {
      const target = START + (step.clock ?? 0) * 1000;
      if (target > this.#clock.now()) await this.#clock.advance(target - this.#clock.now());
      if (step.op === "schema") {
        this.#kind = evolved(this.#kind, step);
        this.#api.setKinds([this.#kind]);
        this.#versions.push(await this.#version());
        continue;
      }
      const outcome = await this.#perform(step);
      const expected = step.expect!;
      const found = compareStep(expected, outcome).map((d): Difference => ({ sequence: this.file, step: i, ...d }));
      if (found.length > 0) {
        for (const d of found) {
          const id = acceptedBy({ difference: d, step, expected, outcome, sequence: this.sequence });
          if (id) d.accepted = id;
        }
        // Each step is judged by itself: go on from the state that the recorded server had. Exact numbers need no such
        // help: they lead to the same objects.
        const adopt = found.every((d) => d.accepted) && found.some((d) => d.accepted !== EXACT_NUMBERS);
        if (adopt) await this.#adopt(expected, outcome);
      }
      differences.push(...found);
      this.#versions.push(await this.#version());
    }
    return differences;
  }

  async #version(): Promise<string> {
    return String((await this.#storage.get(this.#key))?.revision ?? "");
  }

  async #live(): Promise<JsonObject | undefined> {
    const stored = await this.#storage.get(this.#key);
    if (!stored) return undefined;
    const object = parseJson(stored.value) as JsonObject;
    (object.metadata as JsonObject).resourceVersion = String(stored.revision);
    return object;
  }

  async #perform(step: Step): Promise<Outcome> {
    const before = await this.#live();
    const headers: Record<string, string> = {
      accept: "application/json",
      "user-agent": step.userAgent ?? "recorder/1.0 (test)",
    };
    const contentType = step.contentType === undefined ? CONTENT_TYPES[step.op] : step.contentType;
    if (contentType !== undefined && contentType !== null) headers["content-type"] = contentType;
    const body = this.#body(step, before);
    const answer = await this.#api.handle({
      method: METHODS[step.op as keyof typeof METHODS],
      path: this.#path(step),
      headers,
      ...(body === undefined ? {} : { body }),
      user: step.impersonate
        ? { name: step.impersonate, groups: ["system:authenticated"] }
        : { name: "admin", groups: ["system:masters"] },
    });
    const raw = String(answer.body);
    const warnings = [...(answer.headers["warning"] ?? "").matchAll(/299 - "(?:[^"\\]|\\.)*"/g)].map((m) => m[0]);
    return { code: answer.status, body: parseJson(raw), raw, warnings, before, after: await this.#live() };
  }

  #path(step: Step): string {
    if (step.url) return step.url;
    const { group, version, plural } = this.sequence.kind;
    const v = step.version ?? version;
    const base = `${group ? `/apis/${group}/${v}` : `/api/${v}`}/namespaces/${NAMESPACE}/${plural}`;
    const path = step.op === "create" ? base : `${base}/${step.name ?? NAME}`;
    const query = new URLSearchParams();
    if (step.manager !== undefined && step.manager !== null) query.set("fieldManager", step.manager);
    if (step.force !== undefined && step.force !== null) query.set("force", String(step.force));
    for (const [key, value] of Object.entries(step.query ?? {})) query.set(key, value);
    const text = step.rawQuery ?? query.toString();
    return path + (step.subresource ? `/${step.subresource}` : "") + (text ? `?${text}` : "");
  }

  #body(step: Step, live: JsonObject | undefined): string | undefined {
    if (step.body === undefined || step.body === null) return undefined;
    const meta = isObject(live?.metadata) ? live.metadata : {};
    const fill = (text: string) =>
      text.replace(/<rv>/g, String(meta.resourceVersion ?? "")).replace(/<uid>/g, String(meta.uid ?? ""))
        .replace(/<rv:(\d+)>/g, (_, n) => this.#versions[Number(n)] ?? "")
        .replace(/<repeat:(.):(\d+)>/gs, (_, c, n) => String(c).repeat(Number(n)));
    if (typeof step.body === "string") {
      const ops = /^<ops:(\d+)>$/.exec(step.body);
      return ops ? testOps(Number(ops[1]), this.#kind.kind) : fill(step.body);
    }
    return stringifyJson(filled(step.body, fill));
  }

  /** Makes the stored object what the recorded server had after the step. */
  async #adopt(expected: Expectation, outcome: Outcome): Promise<void> {
    let wanted = expected.stored ?? (expected.object?.kind === this.#kind.kind ? expected.object : undefined);
    if (expected.code >= 400) wanted = outcome.before;
    const stored = await this.#storage.get(this.#key);
    if (!wanted) {
      if (stored) await this.#storage.delete(this.#key, stored.revision);
      return;
    }
    const source = outcome.after ?? outcome.before;
    const object = unmasked(wanted, source) as JsonObject;
    object.apiVersion = this.#kind.group
      ? `${this.#kind.group}/${this.#kind.versions.find((v) => v.storage)!.name}`
      : this.#kind.versions[0]!.name;
    const { apiVersion, kind, metadata, ...rest } = object;
    const { resourceVersion: _, ...meta } = metadata as JsonObject;
    const text = stringifyJson({ apiVersion, kind, metadata: meta, ...rest });
    if (!stored) await this.#storage.create(this.#key, text);
    else if (text !== stored.value) await this.#storage.update(this.#key, text, stored.revision);
  }
}

/** The recording's admission step. */
function injected(object: JsonObject): void {
  if (!isObject(object.spec)) object.spec = {};
  object.spec.c = "injected";
}

function testOps(count: number, kind: string): string {
  return stringifyJson(Array.from({ length: count }, () => ({ op: "test", path: "/kind", value: kind })));
}

function filled(value: JsonValue, fill: (text: string) => string): JsonValue {
  if (typeof value === "string") {
    const ops = /^<ops:(\d+)>$/.exec(value);
    return ops ? parseJson(testOps(Number(ops[1]), "Thing")) : fill(value);
  }
  if (Array.isArray(value)) return value.map((v) => filled(v, fill));
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const key of Object.keys(value)) setKey(out, key, filled(value[key]!, fill));
  return out;
}

/** A recorded object with its placeholders replaced by what our object has at the same place. */
function unmasked(value: JsonValue, source: JsonValue | undefined): JsonValue {
  if (typeof value === "string") {
    if (!/^<(uid|rv|time|clusterip)>$/.test(value)) return value;
    return typeof source === "string" ? source : value === "<time>" ? "2026-06-01T00:00:00Z" : "1";
  }
  if (Array.isArray(value)) return value.map((v, i) => unmasked(v, Array.isArray(source) ? source[i] : undefined));
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const key of Object.keys(value)) {
    setKey(out, key, unmasked(value[key]!, isObject(source) ? source[key] : undefined));
  }
  return out;
}

/** A server on memory storage for the tests of this folder. @module */
import { isObject, type JsonObject, parseJson, stringifyJson } from "../json/mod.ts";
import { FakeClock } from "../runtime/clock.ts";
import type { ApiServer, ApiServerOptions, KindDefinition, UserInfo } from "./contract.ts";
import { createApiHandler } from "./handler.ts";
import { MemoryStorage } from "./storage/mod.ts";

/** One answer. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** {} when the body is no JSON object. */
  body: JsonObject;
}

/** What a request may have besides method and path. */
export interface SendOptions {
  body?: unknown;
  type?: string;
  accept?: string;
  user?: UserInfo;
  headers?: Record<string, string>;
}

const ADMIN: UserInfo = { name: "admin", groups: ["system:masters"] };

/** A custom kind for tests: lists of all types, defaults, enums, bounds, CEL, nullable. */
export const WIDGET: KindDefinition = {
  group: "demo.example",
  kind: "Widget",
  plural: "widgets",
  shortNames: ["wd"],
  namespaced: true,
  flavour: "custom",
  versions: [{
    name: "v1",
    served: true,
    storage: true,
    statusSubresource: true,
    scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
    selectableFields: ["spec.color"],
    columns: [
      { name: "Color", type: "string", jsonPath: ".spec.color" },
      { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ],
    schema: {
      type: "object",
      properties: {
        spec: {
          type: "object",
          properties: {
            color: { type: "string", enum: ["red", "green", "blue"], default: "red" },
            size: { type: "integer", minimum: 1, maximum: 10 },
            name: { type: "string", pattern: "^[a-z]+$", maxLength: 5, minLength: 2 },
            replicas: { type: "integer", format: "int32" },
            big: { type: "integer", format: "int64" },
            note: { type: "string", nullable: true },
            port: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
            tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set", maxItems: 4 },
            items: {
              type: "array",
              "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["name"],
              items: {
                type: "object",
                required: ["name"],
                properties: { name: { type: "string" }, value: { type: "string", default: "v" } },
              },
            },
            labels: { type: "object", additionalProperties: { type: "string" } },
            free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
            fixed: {
              type: "string",
              "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "fixed cannot be changed" }],
            },
            low: { type: "integer" },
            high: { type: "integer" },
          },
          "x-kubernetes-validations": [{
            rule: "!has(self.low) || !has(self.high) || self.low <= self.high",
            message: "low must not be above high",
          }],
        },
        status: {
          type: "object",
          properties: {
            replicas: { type: "integer" },
            phase: { type: "string" },
            conditions: {
              type: "array",
              "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["type"],
              items: {
                type: "object",
                required: ["type"],
                properties: { type: { type: "string" }, status: { type: "string" } },
              },
            },
          },
        },
      },
    },
  }],
};

/** Path of widgets in a namespace. */
export const WIDGETS = "/apis/demo.example/v1/namespaces/n/widgets";

/** A widget's manifest. */
export function widget(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: "demo.example/v1", kind: "Widget", metadata: { name, ...metadata }, spec };
}

/** The server under test. */
export class TestServer {
  readonly clock = new FakeClock();
  readonly storage: MemoryStorage;
  readonly api: ApiServer;

  constructor(options: Partial<ApiServerOptions> = {}, history?: { count: number }) {
    this.storage = new MemoryStorage({ clock: this.clock, ...(history ? { history } : {}) });
    this.api = createApiHandler({
      kinds: [WIDGET],
      storage: this.storage,
      clock: this.clock,
      ...options,
    });
  }

  async send(method: string, path: string, o: SendOptions = {}): Promise<Answer> {
    const answer = await this.api.handle({
      method,
      path,
      headers: {
        "user-agent": "test/1",
        ...(o.accept ? { accept: o.accept } : {}),
        ...(o.body === undefined ? {} : { "content-type": o.type ?? "application/json" }),
        ...o.headers,
      },
      ...(o.body === undefined ? {} : { body: typeof o.body === "string" ? o.body : stringifyJson(o.body) }),
      user: o.user ?? ADMIN,
    });
    const text = typeof answer.body === "string" ? answer.body : "";
    let body: JsonObject = {};
    try {
      const value = parseJson(text);
      if (isObject(value)) body = value;
    } catch {
      // Not JSON: the test looks at the text.
    }
    return { status: answer.status, headers: answer.headers, text, body };
  }

  get(path: string, accept?: string): Promise<Answer> {
    return this.send("GET", path, accept ? { accept } : {});
  }

  create(path: string, body: unknown): Promise<Answer> {
    return this.send("POST", path, { body });
  }

  put(path: string, body: unknown): Promise<Answer> {
    return this.send("PUT", path, { body });
  }

  merge(path: string, body: unknown): Promise<Answer> {
    return this.send("PATCH", path, { body, type: "application/merge-patch+json" });
  }

  apply(path: string, body: unknown, query = "fieldManager=a"): Promise<Answer> {
    return this.send("PATCH", `${path}?${query}`, { body, type: "application/apply-patch+yaml" });
  }

  /** Starts a watch. */
  async watch(path: string, accept?: string): Promise<WatchReader> {
    const abort = new AbortController();
    const answer = await this.api.handle({
      method: "GET",
      path,
      headers: accept ? { accept } : {},
      user: ADMIN,
      signal: abort.signal,
    });
    return new WatchReader(answer.status, answer.body, abort);
  }

  async close(): Promise<void> {
    await this.api.close();
    await this.storage.close();
  }
}

/** An event of a watch. */
export interface TestEvent {
  type: string;
  object: JsonObject;
}

/** Reads a watch event by event. */
export class WatchReader {
  readonly #iterator: AsyncIterator<string> | undefined;
  #buffer: TestEvent[] = [];
  /** The Status when the watch was refused. */
  readonly refused: JsonObject | undefined;

  constructor(
    readonly status: number,
    body: string | Uint8Array | AsyncIterable<string>,
    private readonly abort: AbortController,
  ) {
    if (typeof body === "string") this.refused = parseJson(body) as JsonObject;
    else if (!(body instanceof Uint8Array)) this.#iterator = body[Symbol.asyncIterator]();
  }

  /** The next event; undefined when the stream has ended. */
  async next(): Promise<TestEvent | undefined> {
    while (this.#buffer.length === 0) {
      const { done, value } = await this.#iterator!.next();
      if (done) return undefined;
      this.#buffer = value.trimEnd().split("\n").map((line) => parseJson(line) as unknown as TestEvent);
    }
    return this.#buffer.shift();
  }

  /** `TYPE name` of the next `count` events. */
  async take(count: number): Promise<string[]> {
    const out: string[] = [];
    for (let i = 0; i < count; i++) {
      const event = await this.next();
      if (!event) break;
      const meta = event.object.metadata as JsonObject;
      out.push(event.type === "BOOKMARK" ? "BOOKMARK" : `${event.type} ${String(meta?.name ?? event.object.code)}`);
    }
    return out;
  }

  /** Hangs up. */
  async close(): Promise<void> {
    this.abort.abort();
    await this.#iterator?.return?.();
  }
}

/** Runs `test` with a server and closes it. */
export async function withServer(
  test: (server: TestServer) => Promise<void>,
  options: Partial<ApiServerOptions> = {},
  history?: { count: number },
): Promise<void> {
  const server = new TestServer(options, history);
  try {
    await test(server);
  } finally {
    await server.close();
  }
}

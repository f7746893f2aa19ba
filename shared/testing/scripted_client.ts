/** A client whose lists and watches are answered by the test, one by one. @module */
import type { KubeClient, KubeList, KubeObject, ListOptions, Resource, WatchEvent, WatchOptions } from "../kube/mod.ts";

/** A list that waits for its answer. */
export interface ListCall {
  verb: "list";
  resource: Resource;
  options: ListOptions;
  answer(resourceVersion: string, items: KubeObject[], more?: string): void;
  fail(error: Error): void;
}

/** A watch that waits for its answer. */
export interface WatchCall {
  verb: "watch";
  resource: Resource;
  options: WatchOptions;
  /** Opens the stream. */
  open(): WatchStream;
  fail(error: Error): void;
}

/** A stream in the test's hand. */
export interface WatchStream {
  send(...events: WatchEvent<KubeObject>[]): void;
  end(): void;
  break(error: Error): void;
  /** True when the client left it. */
  readonly left: boolean;
}

/** The client and the calls it got. */
export interface ScriptedClient {
  client: KubeClient;
  /** The next call; waits for it. @throws Error when it has another verb. */
  list(): Promise<ListCall>;
  watch(): Promise<WatchCall>;
  /** Calls that nobody has answered. */
  readonly waiting: number;
  /** All calls so far: `list`, or `watch RV`. */
  readonly log: string[];
}

/** Makes one; verbs other than list and watch fail. */
export function scriptedClient(): ScriptedClient {
  const calls: (ListCall | WatchCall)[] = [];
  const takers: ((call: ListCall | WatchCall) => void)[] = [];
  const log: string[] = [];
  const push = (call: ListCall | WatchCall) => {
    const taker = takers.shift();
    if (taker) taker(call);
    else calls.push(call);
  };
  const take = async () => calls.shift() ?? await new Promise<ListCall | WatchCall>((resolve) => takers.push(resolve));
  const unexpected = () => Promise.reject(new Error("The test does not expect this verb"));
  const client = {
    list(resource: Resource, options: ListOptions = {}) {
      log.push("list");
      const { promise, resolve, reject } = Promise.withResolvers<KubeList<KubeObject>>();
      options.signal?.addEventListener("abort", () => reject(options.signal!.reason), { once: true });
      push({
        verb: "list",
        resource,
        options,
        fail: reject,
        answer: (resourceVersion, items, more) =>
          resolve({
            apiVersion: "v1",
            kind: `${resource.kind}List`,
            metadata: { resourceVersion, ...(more ? { continue: more } : {}) },
            items,
          }),
      });
      return promise;
    },
    watch(resource: Resource, options: WatchOptions = {}) {
      log.push(options.sendInitialEvents ? "watch initial" : `watch ${options.resourceVersion}`);
      const { promise, resolve, reject } = Promise.withResolvers<AsyncIterable<WatchEvent<KubeObject>>>();
      options.signal?.addEventListener("abort", () => reject(options.signal!.reason), { once: true });
      push({
        verb: "watch",
        resource,
        options,
        fail: reject,
        open() {
          const { stream, iterable } = makeStream(options.signal);
          resolve(iterable);
          return stream;
        },
      });
      return promise;
    },
    get: unexpected,
    create: unexpected,
    update: unexpected,
    patch: unexpected,
    apply: unexpected,
    delete: unexpected,
    raw: unexpected,
    close() {},
  } as unknown as KubeClient;
  const expect = async (verb: "list" | "watch") => {
    const call = await take();
    if (call.verb !== verb) throw new Error(`Expected a ${verb}, got ${log.at(-1)}`);
    return call;
  };
  return {
    client,
    list: async () => await expect("list") as ListCall,
    watch: async () => await expect("watch") as WatchCall,
    get waiting() {
      return calls.length;
    },
    log,
  };
}

function makeStream(signal: AbortSignal | undefined) {
  const queue: WatchEvent<KubeObject>[] = [];
  let ended = false, left = false;
  let failure: Error | undefined;
  let wake = () => {};
  const change = (f: () => void) => {
    f();
    wake();
  };
  signal?.addEventListener("abort", () => wake(), { once: true });
  async function* iterate(): AsyncIterable<WatchEvent<KubeObject>> {
    try {
      for (;;) {
        while (queue.length > 0) yield queue.shift()!;
        if (signal?.aborted || ended) return;
        if (failure) throw failure;
        await new Promise<void>((resolve) => wake = resolve);
      }
    } finally {
      left = true;
    }
  }
  const stream: WatchStream = {
    send: (...events) => change(() => queue.push(...events)),
    end: () => change(() => ended = true),
    break: (error) => change(() => failure = error),
    get left() {
      return left;
    },
  };
  return { stream, iterable: iterate() };
}

/** A ConfigMap-like object for caches. */
export function someObject(
  name: string,
  resourceVersion: string,
  more: Partial<KubeObject["metadata"]> = {},
): KubeObject {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "ns", name, uid: `uid-${name}`, resourceVersion, ...more },
  };
}

/** For the tests of simulated clusters: a cluster in this process whose time the test moves. @module */
import { type JsonObject, parseJson, stringifyJson } from "../shared/json/mod.ts";
import { FakeClock } from "../shared/runtime/clock.ts";
import { silentLogger } from "../shared/runtime/logger.ts";
import { ADMIN, SimCluster, type SimClusterOptions } from "./cluster.ts";
import { DEFAULT_DELAYS } from "./types.ts";

/** An answer, parsed. */
export interface Answer {
  status: number;
  body: JsonObject;
}

/** A cluster under test. */
export class TestCluster {
  readonly clock: FakeClock;
  readonly cluster: SimCluster;

  constructor(options: Partial<SimClusterOptions> & { clock?: FakeClock } = {}) {
    this.clock = options.clock ?? new FakeClock();
    this.cluster = new SimCluster({
      name: "test",
      logger: silentLogger,
      delays: DEFAULT_DELAYS,
      children: true,
      nodes: 2,
      kubeconfig: () => "",
      ...options,
      clock: this.clock,
    });
  }

  /** A request as the outside makes it. */
  async request(method: string, path: string, body?: JsonObject, contentType = "application/json"): Promise<Answer> {
    const answer = await this.cluster.handle({
      method,
      path,
      headers: { accept: "application/json", "content-type": contentType },
      ...(body ? { body: stringifyJson(body) } : {}),
      user: ADMIN,
    });
    return { status: answer.status, body: parseJson(String(answer.body)) as JsonObject };
  }

  /** Server-Side Apply by `manager`. */
  apply(path: string, body: JsonObject, manager = "convoy"): Promise<Answer> {
    return this.request("PATCH", `${path}?fieldManager=${manager}`, body, "application/apply-patch+yaml");
  }

  /** The object at a path. */
  async get(path: string): Promise<JsonObject> {
    const { status, body } = await this.request("GET", path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${stringifyJson(body)}`);
    return body;
  }

  /** Names of the objects in a collection. */
  async names(path: string): Promise<string[]> {
    const list = (await this.get(path))["items"] as JsonObject[];
    return list.map((o) => String((o["metadata"] as JsonObject)["name"]));
  }

  /** Lets `ms` pass in small steps; all controllers have done their work after each. */
  async pass(ms: number): Promise<void> {
    await this.cluster.settled();
    for (let left = ms; left > 0; left -= 100) {
      await this.clock.advance(Math.min(100, left));
      await this.cluster.settled();
    }
  }
}

/** Runs a test with a cluster that is closed after it. */
export async function withCluster(
  test: (t: TestCluster) => Promise<void>,
  options: Partial<SimClusterOptions> & { clock?: FakeClock } = {},
): Promise<void> {
  const t = new TestCluster(options);
  try {
    await test(t);
  } finally {
    await t.cluster.close();
  }
}

/** A Deployment or the like with one container. */
export function workload(kind: string, name: string, spec: JsonObject = {}, image = "app:1"): JsonObject {
  const labels = { app: name };
  return {
    apiVersion: kind === "Job" ? "batch/v1" : "apps/v1",
    kind,
    metadata: { name, namespace: "default" },
    spec: {
      ...(kind === "Job" ? {} : { selector: { matchLabels: labels } }),
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "app", image }], ...(kind === "Job" ? { restartPolicy: "Never" } : {}) },
      },
      ...spec,
    },
  };
}

/** `type=status/reason` of each condition. */
export function conditionsOf(object: JsonObject): string[] {
  const conditions = (object["status"] as JsonObject | undefined)?.["conditions"] as JsonObject[] | undefined;
  return (conditions ?? []).map((c) => `${c["type"]}=${c["status"]}/${c["reason"] ?? ""}`);
}

/** The built-in kinds as an API server serves them. */
import assert from "node:assert/strict";
import { type JsonObject, parseJson, stringifyJson } from "../json/mod.ts";
import { FakeClock } from "../runtime/clock.ts";
import type { ApiServer } from "../server/contract.ts";
import { createApiHandler } from "../server/mod.ts";
import { MemoryStorage } from "../server/storage/mod.ts";
import { builtinKinds } from "./mod.ts";

interface Answer {
  status: number;
  body: JsonObject;
}

class Server {
  readonly #clock = new FakeClock();
  readonly #storage = new MemoryStorage({ clock: this.#clock });
  readonly #api: ApiServer = createApiHandler({
    kinds: builtinKinds(),
    storage: this.#storage,
    clock: this.#clock,
    checkNamespaces: false,
  });

  async send(method: string, path: string, body?: unknown, contentType = "application/json"): Promise<Answer> {
    const answer = await this.#api.handle({
      method,
      path,
      headers: { accept: "application/json", "content-type": contentType },
      ...(body === undefined ? {} : { body: stringifyJson(body as JsonObject) }),
      user: { name: "test", groups: ["system:masters"] },
    });
    return { status: answer.status, body: parseJson(String(answer.body)) as JsonObject };
  }

  apply(path: string, body: JsonObject, manager = "convoy", force = false): Promise<Answer> {
    const query = `?fieldManager=${manager}${force ? "&force=true" : ""}`;
    return this.send("PATCH", path + query, body, "application/apply-patch+yaml");
  }

  async close(): Promise<void> {
    await this.#api.close();
    await this.#storage.close();
  }
}

async function withServer(test: (s: Server) => Promise<void>): Promise<void> {
  const server = new Server();
  try {
    await test(server);
  } finally {
    await server.close();
  }
}

const PATH = "/apis/apps/v1/namespaces/n/deployments/d";

function deployment(container: JsonObject, extra: JsonObject = {}): JsonObject {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "d", ...extra },
    spec: {
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i:1", ...container }] } },
    },
  };
}

function containerOf(object: JsonObject): JsonObject {
  const spec = object["spec"] as { template: { spec: { containers: JsonObject[] } } };
  return spec.template.spec.containers[0]!;
}

Deno.test("C08 A: a port without protocol is matched to the live TCP one, UDP on the same number is another item", () =>
  withServer(async (s) => {
    const live = deployment({ ports: [{ containerPort: 53, name: "t", protocol: "TCP" }] });
    assert.equal((await s.apply(PATH, live)).status, 201);
    const ports = [{ containerPort: 53, name: "t" }, { containerPort: 53, protocol: "UDP", name: "u" }];
    const answer = await s.apply(PATH, deployment({ ports }));
    assert.equal(answer.status, 200, stringifyJson(answer.body));
    assert.deepEqual(containerOf(answer.body)["ports"], [
      { name: "t", containerPort: 53, protocol: "TCP" },
      { name: "u", containerPort: 53, protocol: "UDP" },
    ]);
    const again = await s.apply(PATH, deployment({ ports }));
    assert.deepEqual(again.body["metadata"], answer.body["metadata"], "a repeated apply is a no-op");
  }));

Deno.test("C08 B: live duplicates survive an apply that does not speak of them", () =>
  withServer(async (s) => {
    const env = [{ name: "P", value: "a" }, { name: "P", value: "$(P):b" }];
    const created = await s.send("POST", PATH.slice(0, -2), deployment({ env }));
    assert.equal(created.status, 201, stringifyJson(created.body));
    const labels = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d", labels: { team: "x" } } };
    const answer = await s.apply(PATH, labels);
    assert.equal(answer.status, 200, stringifyJson(answer.body));
    assert.deepEqual(containerOf(answer.body)["env"], env);
  }));

Deno.test("C08 C: duplicates in the applied manifest are refused with the path and the key", () =>
  withServer(async (s) => {
    const answer = await s.apply(PATH, deployment({ env: [{ name: "P", value: "a" }, { name: "P", value: "b" }] }));
    assert.ok(answer.status === 400 || answer.status === 500, String(answer.status));
    assert.match(String(answer.body["message"]), /\.env: duplicate entries for key \[name="P"\]/);
    assert.equal((await s.send("GET", PATH)).status, 404);
  }));

Deno.test("C08 D: an owned TCP port that the manifest replaces by UDP leaves exactly the UDP one", () =>
  withServer(async (s) => {
    const path = "/api/v1/namespaces/n/services/s";
    const service = (protocol: string) => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "s" },
      spec: { selector: { a: "b" }, ports: [{ port: 80, protocol }] },
    });
    assert.equal((await s.apply(path, service("TCP"))).status, 201);
    const answer = await s.apply(path, service("UDP"));
    assert.equal(answer.status, 200, stringifyJson(answer.body));
    const { ports } = answer.body["spec"] as { ports: JsonObject[] };
    assert.deepEqual(ports, [{ protocol: "UDP", port: 80, targetPort: 80 }]);
  }));

/** The least that the real server takes, by kind; kinds not named here need metadata alone. */
const LEAST: Record<string, JsonObject> = {
  Pod: { spec: { containers: [{ name: "c", image: "i" }] } },
  Service: { spec: { ports: [{ port: 80 }] } },
  PersistentVolume: {
    spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } },
  },
  PersistentVolumeClaim: {
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  },
  LimitRange: { spec: { limits: [{ type: "Container", max: { cpu: "1" } }] } },
  PodTemplate: { template: { spec: { containers: [{ name: "c", image: "i" }] } } },
  "events.k8s.io/Event": {
    regarding: { kind: "Pod", name: "p", namespace: "n" },
    eventTime: "2026-01-01T00:00:00.000000Z",
    reportingController: "test",
    reportingInstance: "test-1",
    action: "Testing",
    reason: "Tested",
    type: "Normal",
  },
  Event: { involvedObject: { kind: "Pod", name: "p", namespace: "n" }, reason: "Tested", type: "Normal" },
  CronJob: {
    spec: {
      schedule: "0 * * * *",
      jobTemplate: {
        spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } },
      },
    },
  },
  Job: { spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } } },
  RoleBinding: { roleRef: { kind: "Role", name: "r" } },
  ClusterRoleBinding: { roleRef: { kind: "ClusterRole", name: "r" } },
  Ingress: { spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } } },
  IngressClass: { spec: { controller: "example.com/x" } },
  NetworkPolicy: { spec: { podSelector: {} } },
  PodDisruptionBudget: { spec: { minAvailable: 1, selector: { matchLabels: { a: "b" } } } },
  HorizontalPodAutoscaler: {
    spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" } },
  },
  StorageClass: { provisioner: "p" },
  CSIDriver: { spec: {} },
  PriorityClass: { value: 1 },
  ControllerRevision: { revision: 1, data: { spec: { any: ["thing", 1] } } },
  EndpointSlice: { addressType: "IPv4", endpoints: [] },
  APIService: { spec: { group: "g.example.com", version: "v1", groupPriorityMinimum: 1, versionPriority: 1 } },
  CustomResourceDefinition: {
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  },
};

const SELECTED = new Set(["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController"]);

Deno.test("builtinKinds: every kind is created from its least manifest; applied twice it is a no-op; its table has rows", () =>
  withServer(async (s) => {
    for (const kind of builtinKinds()) {
      const version = kind.versions[0]!.name;
      const apiVersion = kind.group ? `${kind.group}/${version}` : version;
      const root = kind.group ? `/apis/${kind.group}/${version}` : `/api/${version}`;
      const scope = kind.namespaced ? "/namespaces/n" : "";
      const name = kind.kind === "CustomResourceDefinition"
        ? "things.example.com"
        : kind.kind === "APIService"
        ? "v1.g.example.com"
        : "x";
      const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
      const selector = kind.kind === "ReplicationController" ? { a: "b" } : { matchLabels: { a: "b" } };
      const least = SELECTED.has(kind.kind)
        ? { spec: { selector, template } }
        : LEAST[`${kind.group}/${kind.kind}`] ?? LEAST[kind.kind] ?? {};
      const manifest: JsonObject = { apiVersion, kind: kind.kind, metadata: { name, labels: { t: "x" } }, ...least };
      const path = `${root}${scope}/${kind.plural}/${name}`;
      const made = await s.apply(path, manifest);
      assert.equal(made.status, 201, `${path}: ${stringifyJson(made.body)}`);
      const again = await s.apply(path, manifest);
      assert.equal(again.status, 200, `${path}: ${stringifyJson(again.body)}`);
      assert.deepEqual(again.body, made.body, `${path} must not change when applied again`);
      const { generation } = made.body["metadata"] as { generation?: number };
      assert.equal(generation, kind.noGeneration ? undefined : 1, path);
      const replaced = await s.send("PUT", path, again.body);
      assert.equal(replaced.status, 200, `${path}: ${stringifyJson(replaced.body)}`);
    }
  }));

Deno.test("builtinKinds: common mistakes give 422 with the cause's field", () =>
  withServer(async (s) => {
    const other = deployment({});
    (other["spec"] as JsonObject)["selector"] = { matchLabels: { a: "c" } };
    const answer = await s.send("POST", PATH.slice(0, -2), other);
    assert.equal(answer.status, 422);
    const details = answer.body["details"] as { causes: { field: string; reason: string }[] };
    assert.deepEqual(details.causes.map((c) => [c.field, c.reason]), [
      ["spec.template.metadata.labels", "FieldValueInvalid"],
    ]);
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, data: { k: "hunter2!" } };
    const bad = await s.send("POST", "/api/v1/namespaces/n/secrets", secret);
    assert.ok(bad.status === 422 || bad.status === 400, String(bad.status));
    assert.ok(!stringifyJson(bad.body).includes("hunter2"));
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m" }, data: { k: 1 } };
    const number = await s.send("POST", "/api/v1/namespaces/n/configmaps", map);
    assert.ok(number.status === 400 || number.status === 422, String(number.status));
  }));

import assert from "node:assert/strict";
import type { JsonObject } from "../shared/json/mod.ts";
import { FakeClock } from "../shared/runtime/clock.ts";
import { conditionsOf, withCluster, workload } from "./testkit.ts";

const APPS = "/apis/apps/v1/namespaces/default";
const CORE = "/api/v1/namespaces/default";

const status = (o: JsonObject) => o["status"] as JsonObject;

Deno.test("Deployment: becomes available after the delay, with ReplicaSet and pods, and not before", () =>
  withCluster(async (t) => {
    const path = `${APPS}/deployments/web`;
    assert.equal((await t.apply(path, workload("Deployment", "web", { replicas: 3 }))).status, 201);
    await t.pass(0);
    let web = await t.get(path);
    assert.equal(status(web)["observedGeneration"], 1);
    assert.equal(status(web)["readyReplicas"], undefined);
    assert.equal(status(web)["unavailableReplicas"], 3);
    assert.deepEqual(conditionsOf(web), [
      "Available=False/MinimumReplicasUnavailable",
      "Progressing=True/ReplicaSetUpdated",
    ]);
    await t.pass(1_600);
    web = await t.get(path);
    assert.equal(status(web)["readyReplicas"], 3);
    assert.equal(status(web)["availableReplicas"], 3);
    assert.equal(status(web)["updatedReplicas"], 3);
    assert.deepEqual(conditionsOf(web), [
      "Available=True/MinimumReplicasAvailable",
      "Progressing=True/NewReplicaSetAvailable",
    ]);
    await t.pass(2_000);
    const pods = (await t.get(`${CORE}/pods`))["items"] as JsonObject[];
    assert.equal(pods.length, 3);
    for (const pod of pods) {
      assert.equal(status(pod)["phase"], "Running");
      assert.ok(conditionsOf(pod).includes("Ready=True/"), conditionsOf(pod).join());
    }
    assert.equal((await t.names(`${APPS}/replicasets`)).length, 1);
  }));

Deno.test("Deployment: steady state writes nothing", () =>
  withCluster(async (t) => {
    await t.apply(`${APPS}/deployments/web`, workload("Deployment", "web"));
    await t.pass(5_000);
    const before = (await t.get(`${APPS}/deployments`))["metadata"];
    assert.equal(t.clock.pending, 0, "no timer runs for a cluster at rest");
    await t.pass(60_000);
    assert.deepEqual((await t.get(`${APPS}/deployments`))["metadata"], before);
  }));

Deno.test("Deployment: an update keeps the old pods serving and ends with one ReplicaSet scaled up", () =>
  withCluster(async (t) => {
    const path = `${APPS}/deployments/web`;
    await t.apply(path, workload("Deployment", "web", { replicas: 2 }));
    await t.pass(4_000);
    await t.apply(path, workload("Deployment", "web", { replicas: 2 }, "app:2"));
    await t.pass(0);
    let web = await t.get(path);
    assert.equal(status(web)["observedGeneration"], 2);
    assert.equal(status(web)["availableReplicas"], 2);
    assert.equal(status(web)["updatedReplicas"], 1);
    await t.pass(4_000);
    web = await t.get(path);
    assert.equal(status(web)["updatedReplicas"], 2);
    assert.equal(status(web)["unavailableReplicas"], undefined);
    const sets = (await t.get(`${APPS}/replicasets`))["items"] as JsonObject[];
    assert.deepEqual(sets.map((s) => (s["spec"] as JsonObject)["replicas"]).sort(), [0, 2]);
    assert.equal((await t.names(`${CORE}/pods`)).length, 2);
  }));

Deno.test("Deployment: scaling, a deleted pod that comes back, and deletion that takes the children along", () =>
  withCluster(async (t) => {
    const path = `${APPS}/deployments/web`;
    await t.apply(path, workload("Deployment", "web", { replicas: 1 }));
    await t.pass(4_000);
    await t.apply(path, workload("Deployment", "web", { replicas: 3 }));
    await t.pass(0);
    assert.equal(status(await t.get(path))["availableReplicas"], 1);
    await t.pass(4_000);
    assert.equal(status(await t.get(path))["availableReplicas"], 3);
    const [first] = await t.names(`${CORE}/pods`);
    await t.request("DELETE", `${CORE}/pods/${first}`);
    await t.pass(4_000);
    assert.equal((await t.names(`${CORE}/pods`)).length, 3);
    await t.request("DELETE", path);
    await t.pass(1_000);
    assert.deepEqual(await t.names(`${CORE}/pods`), []);
    assert.deepEqual(await t.names(`${APPS}/replicasets`), []);
  }));

Deno.test("Deployment: crash fault before it is ready leads to ProgressDeadlineExceeded, and taking it back to ready", () =>
  withCluster(async (t) => {
    const path = `${APPS}/deployments/web`;
    t.cluster.faults.set({ crash: [{ kind: "Deployment", name: "web" }] });
    await t.apply(path, workload("Deployment", "web", { progressDeadlineSeconds: 30 }));
    await t.pass(20_000);
    assert.deepEqual(conditionsOf(await t.get(path)), [
      "Available=False/MinimumReplicasUnavailable",
      "Progressing=True/ReplicaSetUpdated",
    ]);
    const pods = (await t.get(`${CORE}/pods`))["items"] as JsonObject[];
    assert.match(JSON.stringify(status(pods[0]!)), /CrashLoopBackOff/);
    await t.pass(11_000);
    assert.ok(conditionsOf(await t.get(path)).includes("Progressing=False/ProgressDeadlineExceeded"));
    t.cluster.faults.set({});
    await t.pass(4_000);
    assert.deepEqual(conditionsOf(await t.get(path)), [
      "Available=True/MinimumReplicasAvailable",
      "Progressing=True/NewReplicaSetAvailable",
    ]);
  }));

Deno.test("Deployment: a crash after the rollout takes availability at once; the tag broken breaks it by manifest", () =>
  withCluster(async (t) => {
    const path = `${APPS}/deployments/web`;
    await t.apply(path, workload("Deployment", "web"));
    await t.pass(4_000);
    t.cluster.faults.set({ crash: [{ name: "w*" }] });
    await t.pass(100);
    const web = await t.get(path);
    assert.equal(status(web)["readyReplicas"], undefined);
    assert.deepEqual(conditionsOf(web), [
      "Available=False/MinimumReplicasUnavailable",
      "Progressing=True/NewReplicaSetAvailable",
    ]);
    t.cluster.faults.set({});
    await t.pass(2_000);
    await t.apply(path, workload("Deployment", "web", { progressDeadlineSeconds: 20 }, "app:broken"));
    await t.pass(5_000);
    const broken = await t.get(path);
    assert.equal(status(broken)["availableReplicas"], 1, "the pods before go on serving");
    assert.equal(status(broken)["unavailableReplicas"], 1);
    const pods = (await t.get(`${CORE}/pods`))["items"] as JsonObject[];
    assert.ok(pods.some((p) => JSON.stringify(status(p)).includes("ImagePullBackOff")));
    await t.pass(20_000);
    assert.ok(conditionsOf(await t.get(path)).includes("Progressing=False/ProgressDeadlineExceeded"));
  }));

Deno.test("StatefulSet: pods by ordinal, a bound claim for each, and a new revision", () =>
  withCluster(async (t) => {
    const path = `${APPS}/statefulsets/store`;
    const claim = {
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    };
    const spec = { replicas: 2, serviceName: "store", volumeClaimTemplates: [claim] };
    const made = await t.apply(path, workload("StatefulSet", "store", spec));
    assert.equal(made.status, 201, JSON.stringify(made.body));
    await t.pass(4_000);
    let store = await t.get(path);
    assert.equal(status(store)["readyReplicas"], 2);
    assert.equal(status(store)["currentRevision"], status(store)["updateRevision"]);
    assert.deepEqual(await t.names(`${CORE}/pods`), ["store-0", "store-1"]);
    const claims = (await t.get(`${CORE}/persistentvolumeclaims`))["items"] as JsonObject[];
    assert.deepEqual(claims.map((c) => status(c)["phase"]), ["Bound", "Bound"]);
    await t.apply(path, workload("StatefulSet", "store", spec, "app:2"));
    await t.pass(0);
    store = await t.get(path);
    assert.notEqual(status(store)["currentRevision"], status(store)["updateRevision"]);
    await t.pass(3_000);
    store = await t.get(path);
    assert.equal(status(store)["currentRevision"], status(store)["updateRevision"]);
    assert.equal(status(store)["updatedReplicas"], 2);
  }));

Deno.test("C22: OnDelete and partition sets stay at the old revision; a LoadBalancer gets an address after its delay", () =>
  withCluster(async (t) => {
    const path = `${APPS}/statefulsets/store`;
    for (const updateStrategy of [{ type: "OnDelete" }, { type: "RollingUpdate", rollingUpdate: { partition: 2 } }]) {
      await t.apply(path, workload("StatefulSet", "store", { replicas: 3, updateStrategy }));
      await t.pass(4_000);
      await t.apply(path, workload("StatefulSet", "store", { replicas: 3, updateStrategy }, "app:2"));
      await t.pass(4_000);
      const s = status(await t.get(path));
      assert.equal(s["readyReplicas"], 3);
      assert.equal(s["updatedReplicas"], updateStrategy.type === "OnDelete" ? undefined : 1);
      assert.notEqual(s["currentRevision"], s["updateRevision"]);
      await t.request("DELETE", path);
      await t.pass(1_000);
    }
    const service = { apiVersion: "v1", kind: "Service", metadata: { name: "lb" } };
    await t.apply(`${CORE}/services/lb`, { ...service, spec: { type: "LoadBalancer", ports: [{ port: 80 }] } });
    await t.pass(500);
    assert.deepEqual(status(await t.get(`${CORE}/services/lb`))["loadBalancer"], {});
    await t.pass(500);
    assert.match(JSON.stringify(status(await t.get(`${CORE}/services/lb`))), /"ip":"198\.51\.100\.\d+"/);
  }));

Deno.test("DaemonSet: one ready pod for each node", () =>
  withCluster(async (t) => {
    await t.apply(`${APPS}/daemonsets/agent`, workload("DaemonSet", "agent"));
    await t.pass(4_000);
    const s = status(await t.get(`${APPS}/daemonsets/agent`));
    assert.equal(s["desiredNumberScheduled"], 3);
    assert.equal(s["numberReady"], 3);
    assert.equal(s["updatedNumberScheduled"], 3);
    assert.equal((await t.names(`${CORE}/pods`)).length, 3);
  }, { nodes: 3 }));

Deno.test("Job: runs, completes, and fails when it crashes", () =>
  withCluster(async (t) => {
    const path = "/apis/batch/v1/namespaces/default/jobs";
    t.cluster.faults.set({ crash: [{ kind: "Job", name: "bad" }] });
    for (const name of ["good", "bad"]) {
      const made = await t.apply(`${path}/${name}`, workload("Job", name));
      assert.equal(made.status, 201, JSON.stringify(made.body));
    }
    await t.pass(500);
    assert.equal(status(await t.get(`${path}/good`))["active"], 1);
    await t.pass(3_000);
    assert.ok(conditionsOf(await t.get(`${path}/good`)).includes("Complete=True/CompletionsReached"));
    assert.ok(conditionsOf(await t.get(`${path}/bad`)).includes("Failed=True/BackoffLimitExceeded"));
    const again = await t.apply(`${path}/good`, workload("Job", "good"));
    assert.equal(again.status, 200, JSON.stringify(again.body));
  }));

Deno.test("PersistentVolumeClaim: bound at once, or with WaitForFirstConsumer only when a pod uses it", () =>
  withCluster(async (t) => {
    const claim = (name: string, storageClassName?: string): JsonObject => ({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
        ...(storageClassName ? { storageClassName } : {}),
      },
    });
    const path = `${CORE}/persistentvolumeclaims`;
    await t.apply(`${path}/now`, claim("now"));
    await t.apply(`${path}/later`, claim("later", "local"));
    await t.apply(`${path}/never`, claim("never", "no-such-class"));
    await t.pass(1_000);
    const phase = async (name: string) => status(await t.get(`${path}/${name}`))["phase"];
    assert.deepEqual([await phase("now"), await phase("later"), await phase("never")], ["Bound", "Pending", "Pending"]);
    const volumes = [{ name: "v", persistentVolumeClaim: { claimName: "later" } }];
    await t.apply(`${CORE}/pods/p`, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p" },
      spec: { containers: [{ name: "c", image: "i:1" }], volumes },
    });
    await t.pass(1_000);
    assert.equal(await phase("later"), "Bound");
    const before = await t.names("/api/v1/persistentvolumes");
    assert.equal(before.length, 2);
    await t.request("DELETE", `${path}/now`);
    await t.pass(500);
    assert.equal((await t.names("/api/v1/persistentvolumes")).length, 1);
  }));

Deno.test("Namespace: gets the ServiceAccount default; Ingress gets an address", () =>
  withCluster(async (t) => {
    await t.apply("/api/v1/namespaces/shop", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await t.pass(0);
    assert.equal(status(await t.get("/api/v1/namespaces/shop"))["phase"], "Active");
    assert.deepEqual(await t.names("/api/v1/namespaces/shop/serviceaccounts"), ["default"]);
    const path = "/apis/networking.k8s.io/v1/namespaces/shop/ingresses/web";
    const backend = { service: { name: "web", port: { number: 80 } } };
    await t.apply(path, {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name: "web" },
      spec: { defaultBackend: backend },
    });
    await t.pass(1_000);
    assert.match(JSON.stringify(status(await t.get(path))), /198\.51\.100/);
  }));

Deno.test("CustomResourceDefinition: established, then its objects can be applied with defaults and columns", () =>
  withCluster(async (t) => {
    const crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com";
    const spec = {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: { type: "object", properties: { size: { type: "integer", default: 3 }, name: { type: "string" } } },
            },
          },
        },
      }],
    };
    const made = await t.apply(crd, {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "things.example.com" },
      spec,
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    await t.pass(1_000);
    assert.ok(conditionsOf(await t.get(crd)).some((c) => c.startsWith("Established=True")));
    const thing = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "t" }, spec: { name: "x" } };
    const answer = await t.apply("/apis/example.com/v1/namespaces/default/things/t", thing);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    assert.deepEqual(answer.body["spec"], { size: 3, name: "x" });
  }));

Deno.test("children: false gives the same status without ReplicaSets and pods", () =>
  withCluster(async (t) => {
    await t.apply(`${APPS}/deployments/web`, workload("Deployment", "web", { replicas: 2 }));
    await t.pass(4_000);
    assert.equal(status(await t.get(`${APPS}/deployments/web`))["availableReplicas"], 2);
    assert.deepEqual(await t.names(`${CORE}/pods`), []);
  }, { children: false }));

Deno.test("file: a cluster that is stopped in the middle of a rollout ends it after the next start", async () => {
  const dir = await Deno.makeTempDir();
  const file = `${dir}/a.sqlite`;
  const clock = new FakeClock();
  const path = `${APPS}/deployments/web`;
  try {
    await withCluster(async (t) => {
      await t.apply(path, workload("Deployment", "web", { replicas: 2 }));
      await t.pass(500);
      assert.equal(status(await t.get(path))["availableReplicas"], undefined);
    }, { file, clock });
    await withCluster(async (t) => {
      await t.get(path);
      await t.pass(4_000);
      assert.equal(status(await t.get(path))["availableReplicas"], 2);
      assert.equal((await t.names(`${CORE}/pods`)).length, 2);
      const { resourceVersion } = (await t.get(path))["metadata"] as JsonObject;
      await t.pass(60_000);
      assert.equal(((await t.get(path))["metadata"] as JsonObject)["resourceVersion"], resourceVersion);
    }, { file, clock });
    await withCluster(async (t) => {
      const before = await t.get(`${APPS}/deployments`);
      await t.pass(5_000);
      assert.deepEqual(await t.get(`${APPS}/deployments`), before, "a settled cluster is left as it is");
    }, { file, clock });
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

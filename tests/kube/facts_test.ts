/** What the built-in kinds of a simulated cluster make of a manifest, compared with a real kube-apiserver by dry runs. */
import assert from "node:assert/strict";
import { builtinKinds } from "../../shared/facts/mod.ts";
import { MISTAKES, SAMPLES } from "../../shared/facts/sample_manifests.ts";
import { type JsonObject, parseJson, stringifyJson } from "../../shared/json/mod.ts";
import { kubeconfigFileTransport, kubeconfigTransport, type Transport } from "../../shared/kube/mod.ts";
import { startSimClusters } from "../../simcluster/mod.ts";
import { realCluster } from "./suite.ts";

/** Known differences, each with its reason. `how` = apply or post. */
const ACCEPTED: readonly { how?: string; kind: string; name?: string; why: string }[] = [
  { kind: "Pod", why: "no token volume is mounted: there is no kubelet that would fill it" },
  { kind: "CustomResourceDefinition", why: "status is written by the worker, a moment after the create" },
  { how: "post", kind: "Event", why: "a creator owns empty texts, which upstream leaves out" },
  { how: "post", kind: "StatefulSet", name: "sample-ondelete", why: "the creator owns an empty serviceName" },
];

interface Answer {
  code: number;
  body: JsonObject;
}

async function ask(transport: Transport, how: string, manifest: JsonObject): Promise<Answer> {
  const apiVersion = String(manifest["apiVersion"]);
  const name = String((manifest["metadata"] as JsonObject)["name"]);
  const kind = builtinKinds((k) =>
    k.kind === manifest["kind"] && (k.group ? `${k.group}/${k.version}` : k.version) === apiVersion
  )[0]!;
  const root = kind.group ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const path = `${root}${kind.namespaced ? "/namespaces/default" : ""}/${kind.plural}`;
  const apply = how === "apply";
  const answer = await transport.request({
    method: apply ? "PATCH" : "POST",
    path: `${path}${apply ? `/${name}` : ""}?dryRun=All&fieldManager=convoy`,
    headers: {
      "content-type": apply ? "application/apply-patch+yaml" : "application/json",
      accept: "application/json",
    },
    body: stringifyJson(manifest),
  });
  return { code: answer.status, body: parseJson(await answer.text()) as JsonObject };
}

/** Without what differs from run to run: identity, times, addresses. */
function comparable({ code, body }: Answer): unknown {
  const metadata = (body["metadata"] ?? {}) as JsonObject;
  for (const field of ["uid", "resourceVersion", "creationTimestamp"]) delete metadata[field];
  const text = stringifyJson(body)
    .replace(/,?"(time|lastPhaseTransitionTime)":"[^"]*"/g, "")
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "UID")
    .replace(/"10\.\d+\.\d+\.\d+"/g, '"IP"')
    .replace(/"nodePort":3\d{4}/g, '"nodePort":0');
  return { code, body: JSON.parse(text) };
}

Deno.test("builtinKinds: dry runs give what the real server gives: objects, owners, errors", async () => {
  await using real = await realCluster();
  const sim = await startSimClusters({ names: ["sim"] });
  const theirs = await kubeconfigFileTransport(real.kubeconfig);
  const ours = kubeconfigTransport(sim.cluster("sim").kubeconfig(), { label: "sim" });
  try {
    const different: string[] = [];
    for (const manifest of [...SAMPLES, ...MISTAKES]) {
      for (const how of ["apply", "post"]) {
        const { kind, metadata } = manifest as { kind: string; metadata: { name: string } };
        const accepted = ACCEPTED.some((a) =>
          a.kind === kind && (a.how ?? how) === how && (a.name ?? metadata.name) === metadata.name
        );
        if (accepted) continue;
        const [wanted, got] = [await ask(theirs, how, manifest), await ask(ours, how, manifest)];
        try {
          assert.deepEqual(comparable(got), comparable(wanted));
        } catch (error) {
          different.push(`${how} ${kind} ${metadata.name}: ${(error as Error).message}`);
        }
      }
    }
    assert.equal(different.length, 0, different.join("\n\n"));
  } finally {
    theirs.close();
    ours.close();
    await sim.close();
  }
});

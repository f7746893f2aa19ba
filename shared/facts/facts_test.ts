import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { OpenApiSchema } from "../ssa/contract.ts";
import { FACTS } from "./gen/facts.ts";
import { builtinKinds } from "./mod.ts";
import { pack, unpack } from "./pack.ts";
import { kindOf } from "./testkit.ts";

Deno.test("builtinKinds: facts survive packing, are parsed once, and are shared", () => {
  const facts = unpack(JSON.parse(FACTS));
  assert.deepEqual(JSON.parse(JSON.stringify(pack(facts))), JSON.parse(FACTS));
  assert.equal(builtinKinds()[0], builtinKinds()[0]);
  assert.ok(FACTS.length < 250_000, `${FACTS.length} bytes`);
  assert.ok(!FACTS.includes('"description":"'));
});

Deno.test("builtinKinds: every reference leads to a definition of the kind", () => {
  for (const kind of builtinKinds()) {
    const walk = (schema: OpenApiSchema): void => {
      if (schema.$ref) assert.ok(kind.definitions?.[schema.$ref.slice("#/components/schemas/".length)], schema.$ref);
      for (const p of Object.values(schema.properties ?? {})) walk(p);
      for (const p of schema.allOf ?? []) walk(p);
      if (schema.items) walk(schema.items);
    };
    Object.values(kind.definitions!).forEach(walk);
    walk(kind.versions[0]!.schema);
  }
});

Deno.test("builtinKinds: the schemas of the recorded kinds have the recorded list keys, defaults and required fields", () => {
  const recorded = ["deployment", "service", "lease", "secret", "podtemplate", "configmap"];
  let compared = 0;
  for (const name of recorded) {
    const url = new URL(`../../../shared/ssa_vectors/schemas/builtin-${name}.json`, import.meta.url);
    let vector: { root: string; schemas: Record<string, OpenApiSchema> };
    try {
      vector = JSON.parse(readFileSync(url, "utf8"));
    } catch {
      continue; // The vectors are not part of a clone.
    }
    const facts = unpack(JSON.parse(FACTS)).schemas;
    for (const [schema, value] of Object.entries(vector.schemas)) {
      assert.deepEqual(facts[schema], value, schema);
      compared++;
    }
  }
  if (compared > 0) assert.ok(compared > 100);
});

Deno.test("C08: env and port lists are maps by name, and by port with protocol whose default is TCP", () => {
  const { definitions } = kindOf("Deployment");
  const container = definitions!["io.k8s.api.core.v1.Container"]!.properties!;
  assert.deepEqual(container["ports"]!["x-kubernetes-list-map-keys"], ["containerPort", "protocol"]);
  assert.deepEqual(container["env"]!["x-kubernetes-list-map-keys"], ["name"]);
  assert.equal(definitions!["io.k8s.api.core.v1.ContainerPort"]!.properties!["protocol"]!.default, "TCP");
  const service = kindOf("Service").definitions!["io.k8s.api.core.v1.ServiceSpec"]!.properties!;
  assert.deepEqual(service["ports"]!["x-kubernetes-list-map-keys"], ["port", "protocol"]);
});

/**
 * Writes shared/facts/gen/facts.ts: compact schema facts of the built-in kinds, taken from the OpenAPI v3 and discovery
 * documents inside the Go module k8s.io/kubernetes. Facts only: types, list keys, defaults, required; no descriptions.
 *
 *     deno run -A scripts/generate_facts.ts [--check]
 *
 * `--check` writes nothing and exits 1 when the file differs.
 *
 * @module
 */
import { readFile, writeFile } from "node:fs/promises";
import process from "node:process";
import { addEnums } from "./generate_facts_enums.ts";
import { pack } from "../shared/facts/pack.ts";
import type { PackedFacts, PackedKind } from "../shared/facts/pack.ts";
import type { OpenApiSchema } from "../shared/ssa/contract.ts";

/** The release that the facts are of. */
const VERSION = "v1.36.3";

/** Kinds by group version, plural names as discovery has them. */
const KINDS: Record<string, string[]> = {
  "v1": [
    "namespaces",
    "secrets",
    "configmaps",
    "events",
    "pods",
    "services",
    "serviceaccounts",
    "persistentvolumes",
    "persistentvolumeclaims",
    "nodes",
    "endpoints",
    "limitranges",
    "resourcequotas",
    "replicationcontrollers",
    "podtemplates",
  ],
  "apps/v1": ["deployments", "statefulsets", "daemonsets", "replicasets", "controllerrevisions"],
  "batch/v1": ["jobs", "cronjobs"],
  "rbac.authorization.k8s.io/v1": ["roles", "rolebindings", "clusterroles", "clusterrolebindings"],
  "networking.k8s.io/v1": ["ingresses", "ingressclasses", "networkpolicies"],
  "policy/v1": ["poddisruptionbudgets"],
  "autoscaling/v2": ["horizontalpodautoscalers"],
  "apiextensions.k8s.io/v1": ["customresourcedefinitions"],
  "storage.k8s.io/v1": ["storageclasses", "csidrivers"],
  "coordination.k8s.io/v1": ["leases"],
  "events.k8s.io/v1": ["events"],
  "scheduling.k8s.io/v1": ["priorityclasses"],
  "admissionregistration.k8s.io/v1": ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"],
  "discovery.k8s.io/v1": ["endpointslices"],
  "apiregistration.k8s.io/v1": ["apiservices"],
};

/** Keywords of a schema that are facts the server works with. */
const KEEP = new Set([
  "$ref",
  "type",
  "format",
  "nullable",
  "default",
  "enum",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "allOf",
  "anyOf",
  "oneOf",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-int-or-string",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-patch-strategy",
  "x-kubernetes-patch-merge-key",
  "x-kubernetes-unions",
  "x-kubernetes-group-version-kind",
]);

interface DiscoveryResource {
  name: string;
  singularName: string;
  namespaced: boolean;
  kind: string;
  shortNames?: string[];
  categories?: string[];
}

const REF = "#/components/schemas/";

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strip);
  if (value === null || typeof value !== "object") return value;
  const out: Record<string, unknown> = {};
  for (const [key, v] of Object.entries(value)) {
    if (!KEEP.has(key)) continue;
    if (key === "properties") {
      out[key] = Object.fromEntries(Object.entries(v as object).map(([name, schema]) => [name, strip(schema)]));
    } else out[key] = key === "default" || key.startsWith("x-kubernetes-") ? v : strip(v);
  }
  return out;
}

function refsIn(value: unknown, found: Set<string>): void {
  if (Array.isArray(value)) value.forEach((v) => refsIn(v, found));
  else if (value !== null && typeof value === "object") {
    for (const [key, v] of Object.entries(value)) {
      if (key === "$ref" && typeof v === "string") found.add(v.slice(REF.length));
      else refsIn(v, found);
    }
  }
}

async function moduleDir(module: string): Promise<string> {
  const command = new Deno.Command("go", {
    args: ["mod", "download", "-json", module],
    cwd: Deno.makeTempDirSync(),
  });
  const { code, stdout, stderr } = await command.output();
  const answer = JSON.parse(new TextDecoder().decode(stdout) || "{}") as { Dir?: string; Error?: string };
  if (code !== 0 || !answer.Dir) {
    throw new Error(
      `Cannot fetch the Go module ${module}: ${answer.Error ?? new TextDecoder().decode(stderr)}`,
    );
  }
  return answer.Dir;
}

async function generate(): Promise<string> {
  const dir = `${await moduleDir(`k8s.io/kubernetes@${VERSION}`)}/api`;
  const read = async (path: string) => JSON.parse(await readFile(`${dir}/${path}`, "utf8"));
  const kinds: PackedKind[] = [];
  const schemas: Record<string, OpenApiSchema> = {};
  for (const [apiVersion, plurals] of Object.entries(KINDS)) {
    const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") as [string, string] : ["", apiVersion];
    const file = group ? `apis__${group}__${version}` : `api__${version}`;
    const openapi = await read(`openapi-spec/v3/${file}_openapi.json`) as {
      components: { schemas: Record<string, Record<string, unknown>> };
    };
    const resources = (await read(`discovery/${file}.json`) as { resources: DiscoveryResource[] }).resources;
    for (const plural of plurals) {
      const resource = resources.find((r) => r.name === plural);
      if (!resource) throw new Error(`Cannot find ${plural} in the discovery document of ${apiVersion}`);
      const root = Object.entries(openapi.components.schemas).find(([, s]) =>
        (s["x-kubernetes-group-version-kind"] as { group: string; kind: string; version: string }[] | undefined)?.some((
          g,
        ) => g.group === group && g.kind === resource.kind && g.version === version)
      )?.[0];
      if (!root) throw new Error(`Cannot find a schema of ${resource.kind} in the OpenAPI document of ${apiVersion}`);
      kinds.push({
        group,
        version,
        kind: resource.kind,
        plural,
        singular: resource.singularName,
        namespaced: resource.namespaced,
        ...(resource.shortNames ? { shortNames: resource.shortNames } : {}),
        ...(resource.categories ? { categories: resource.categories } : {}),
        status: resources.some((r) => r.name === `${plural}/status`),
        scale: resources.some((r) => r.name === `${plural}/scale`),
        schema: root,
      });
      const queue = [root];
      for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
        if (Object.hasOwn(schemas, name)) continue;
        const schema = strip(openapi.components.schemas[name]) as OpenApiSchema;
        schemas[name] = schema;
        const refs = new Set<string>();
        refsIn(schema, refs);
        queue.push(...refs);
      }
    }
  }
  // The staging modules have the same version with 0 for the major number.
  await addEnums(schemas, await moduleDir(`k8s.io/api@${VERSION.replace("v1.", "v0.")}`));
  const facts: PackedFacts = { version: VERSION, kinds, schemas };
  const text = JSON.stringify(pack(facts));
  if (text.includes("`") || text.includes("${")) throw new Error("Cannot write the facts as a raw template string");
  return `// Generated by scripts/generate_facts.ts from k8s.io/kubernetes ${VERSION}; do not edit.\n` +
    `/** Packed facts; shared/facts/pack.ts unpacks them. */\nexport const FACTS: string = String.raw\`${text}\`;\n`;
}

const target = new URL("../shared/facts/gen/facts.ts", import.meta.url);
const text = await generate();
if (process.argv.includes("--check")) {
  if (await readFile(target, "utf8") !== text) {
    console.error("Cannot accept shared/facts/gen/facts.ts: it differs from what scripts/generate_facts.ts writes");
    process.exit(1);
  }
} else {
  await writeFile(target, text);
  console.log(`shared/facts/gen/facts.ts: ${text.length} bytes`);
}

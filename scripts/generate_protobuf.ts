/**
 * Writes shared/server/protobuf/gen/messages.ts: field numbers and types of the messages that kubectl and other typed
 * clients send, taken from the struct tags of k8s.io/api and k8s.io/apimachinery (the Go module cache has them; see
 * tests/kube/controlplane). With `--check` it compares instead of writing.
 *
 * @module
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";

/** Kinds by package: what Convoy's servers serve, and what is sent to their subresources. */
const ROOTS: Record<string, string[]> = {
  "core/v1":
    "Namespace Secret ConfigMap Event Pod Service ServiceAccount PersistentVolume PersistentVolumeClaim Node Endpoints LimitRange ResourceQuota ReplicationController PodTemplate Binding"
      .split(" "),
  "apps/v1": "Deployment StatefulSet DaemonSet ReplicaSet ControllerRevision".split(" "),
  "batch/v1": ["Job", "CronJob"],
  "rbac/v1": ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"],
  "networking/v1": ["Ingress", "IngressClass", "NetworkPolicy"],
  "policy/v1": ["PodDisruptionBudget", "Eviction"],
  "autoscaling/v1": ["Scale", "HorizontalPodAutoscaler"],
  "autoscaling/v2": ["HorizontalPodAutoscaler"],
  "storage/v1": ["StorageClass", "CSIDriver"],
  "coordination/v1": ["Lease"],
  "events/v1": ["Event"],
  "scheduling/v1": ["PriorityClass"],
  "discovery/v1": ["EndpointSlice"],
  "admissionregistration/v1": ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"],
  "authorization/v1": [
    "SelfSubjectAccessReview",
    "SelfSubjectRulesReview",
    "SubjectAccessReview",
    "LocalSubjectAccessReview",
  ],
  "authentication/v1": ["SelfSubjectReview", "TokenReview", "TokenRequest"],
  "meta/v1": ["DeleteOptions"],
};

const META = "meta/v1";
/** Group names that differ from their folder. */
const GROUPS: Record<string, string> = {
  core: "",
  rbac: "rbac.authorization.k8s.io",
  networking: "networking.k8s.io",
  storage: "storage.k8s.io",
  coordination: "coordination.k8s.io",
  events: "events.k8s.io",
  scheduling: "scheduling.k8s.io",
  discovery: "discovery.k8s.io",
  admissionregistration: "admissionregistration.k8s.io",
  authorization: "authorization.k8s.io",
  authentication: "authentication.k8s.io",
};

/** Types with a form of their own in JSON; the letters are those of shared/server/protobuf/decode.ts. */
const SPECIAL: Record<string, string> = {
  "meta/v1.Time": "t",
  "meta/v1.MicroTime": "u",
  "meta/v1.FieldsV1": "r",
  "resource.Quantity": "q",
  "intstr.IntOrString": "o",
  "runtime.RawExtension": "r",
  "types.UID": "s",
};

interface Field {
  number: number;
  json: string;
  goType: string;
  inline: boolean;
}

interface GoPackage {
  imports: Map<string, string>;
  structs: Map<string, Field[]>;
  /** `type X string` and the like. */
  named: Map<string, string>;
}

const folders = await moduleFolders();
const packages = new Map<string, GoPackage>();

async function moduleFolders(): Promise<{ api: string; machinery: string }> {
  const folder = async (module: string) => {
    const { code, stdout, stderr } = await new Deno.Command("go", {
      args: ["list", "-mod=mod", "-m", "-f", "{{.Dir}}", module],
      cwd: new URL("../tests/kube/controlplane", import.meta.url),
    }).output();
    if (code !== 0) throw new Error(`Cannot find the Go module ${module}: ${new TextDecoder().decode(stderr)}`);
    return new TextDecoder().decode(stdout).trim();
  };
  return { api: await folder("k8s.io/api"), machinery: await folder("k8s.io/apimachinery") };
}

async function load(name: string): Promise<GoPackage> {
  const there = packages.get(name);
  if (there) return there;
  const folder = name === META ? join(folders.machinery, "pkg/apis/meta/v1") : join(folders.api, name);
  const parsed: GoPackage = { imports: new Map(), structs: new Map(), named: new Map() };
  for (const file of (await readdir(folder)).sort()) {
    if (!file.endsWith(".go") || file.startsWith("zz_") || file.includes("_test") || file.includes("generated")) {
      continue;
    }
    parse(await readFile(join(folder, file), "utf8"), parsed);
  }
  packages.set(name, parsed);
  return parsed;
}

function parse(text: string, into: GoPackage): void {
  let struct: Field[] | undefined;
  for (const line of text.split("\n")) {
    const imported = /^\s+(?:(\w+) )?"(k8s\.io\/[^"]+)"/.exec(line);
    if (imported) into.imports.set(imported[1] ?? imported[2]!.split("/").at(-1)!, imported[2]!);
    const begin = /^type (\w+) struct \{/.exec(line);
    if (begin) into.structs.set(begin[1]!, struct = []);
    else if (line === "}") struct = undefined;
    const alias = /^type (\w+) ([\w.[\]]+)(?:\s*\/\/.*)?$/.exec(line);
    if (alias) into.named.set(alias[1]!, alias[2]!);
    const field = /^\s+(?:\w+\s+)?([*\w.[\]]+)\s+`(.*)`/.exec(line);
    const tag = field && /protobuf:"\w+,(\d+)/.exec(field[2]!);
    const json = field && /json:"([^",]*)(,[^"]*)?"/.exec(field[2]!);
    if (struct && tag && json) {
      const inline = json[2]?.includes("inline") ?? false;
      struct.push({ number: Number(tag[1]), json: json[1]!, goType: field[1]!, inline });
    }
  }
}

/** The code of a Go type, and the message it leads to. */
async function codeOf(goType: string, home: string): Promise<{ code: string; message?: string }> {
  if (goType.startsWith("*")) return prefixed("*", await codeOf(goType.slice(1), home));
  if (goType === "[]byte") return { code: "B" };
  if (goType.startsWith("[]")) return prefixed("+", await codeOf(goType.slice(2), home));
  const map = /^map\[[^\]]+\](.*)$/.exec(goType);
  if (map) return prefixed("%", await codeOf(map[1]!, home));
  const basic: Record<string, string> = { string: "s", bool: "b", int: "i", int32: "i", int64: "i" };
  if (basic[goType]) return { code: basic[goType] };
  const dot = goType.indexOf(".");
  let where = home, name = goType;
  if (dot > 0) {
    const path = (await load(home)).imports.get(goType.slice(0, dot)) ?? "";
    name = goType.slice(dot + 1);
    where = path === "k8s.io/apimachinery/pkg/apis/meta/v1"
      ? META
      : path.startsWith("k8s.io/api/")
      ? path.slice("k8s.io/api/".length)
      : path.split("/").at(-1)!;
  }
  const special = SPECIAL[`${where}.${name}`];
  if (special) return { code: special };
  const there = await load(where);
  if (there.structs.has(name)) return { code: "m", message: `${where}.${name}` };
  const alias = there.named.get(name);
  if (alias === undefined) throw new Error(`Cannot find the Go type ${goType} named in ${home}`);
  // A named list is a message with the list in field 1.
  if (alias === "[]string") return { code: "x" };
  return codeOf(alias, where);
}

function prefixed(prefix: string, of: { code: string; message?: string }) {
  return { ...of, code: prefix + of.code };
}

async function generate(): Promise<string> {
  const lines: string[] = [], roots: string[] = [];
  const numbers = new Map<string, number>();
  const queue: string[] = [];
  const numberOf = (message: string) => {
    let n = numbers.get(message);
    if (n === undefined) {
      numbers.set(message, n = numbers.size);
      queue.push(message);
    }
    return n;
  };
  for (const [name, kinds] of Object.entries(ROOTS)) {
    const [folder = "", version = ""] = name.split("/");
    const group = GROUPS[folder] ?? folder;
    for (const kind of kinds) {
      const apiVersion = name === META ? "*" : group === "" ? version : `${group}/${version}`;
      roots.push(`${apiVersion} ${kind} ${numberOf(`${name}.${kind}`)}`);
    }
  }
  for (let message = queue.shift(); message !== undefined; message = queue.shift()) {
    const dot = message.lastIndexOf(".");
    const home = message.slice(0, dot);
    const fields = (await load(home)).structs.get(message.slice(dot + 1));
    if (!fields) throw new Error(`Cannot find the Go struct ${message}`);
    const parts: string[] = [];
    for (const field of fields) {
      const { code, message: target } = await codeOf(field.goType, home);
      const json = field.inline ? "^" : field.json;
      parts.push(`${field.number} ${json} ${code}${target === undefined ? "" : numberOf(target)}`);
    }
    lines.push(parts.join(","));
  }
  return `// Generated by scripts/generate_protobuf.ts from k8s.io/api ${
    folders.api.split("@").at(-1)
  }; do not edit.\n` +
    "/** `apiVersion kind message`, one a line. */\n" +
    `export const ROOTS = \`\n${roots.join("\n")}\n\`;\n` +
    "/** Messages by line: `number name type`, comma-separated. */\n" +
    `export const MESSAGES = \`\n${lines.join("\n")}\n\`;\n`;
}

const target = new URL("../shared/server/protobuf/gen/messages.ts", import.meta.url);
const text = await generate();
if (process.argv.includes("--check")) {
  if (await readFile(target, "utf8") !== text) {
    console.error(`Cannot accept ${target.pathname}: it differs from what scripts/generate_protobuf.ts writes`);
    process.exit(1);
  }
} else {
  await writeFile(target, text);
  console.log(`${target.pathname}: ${text.length} bytes`);
}

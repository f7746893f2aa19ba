/** What the demo makes: a Git repository from `examples/`, and the objects that release it. @module */
import { join } from "node:path";
import { parseDocuments } from "../shared/yaml/mod.ts";

/** A demo object, ready to be applied. */
export interface DemoObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace: string };
  [field: string]: unknown;
}

/** Makes (or brings up to date) a Git repository with the content of `apps` below `apps/` and one branch, `main`. */
export async function makeRepository(apps: string, folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const fresh = !await exists(join(folder, ".git"));
  if (fresh) await git(folder, "init", "--quiet", "--initial-branch=main");
  // A repository that is there is the user's to play with: only what is missing comes back.
  if (fresh) await copyTree(apps, join(folder, "apps"));
  await git(folder, "add", "--all");
  const clean = await git(folder, "status", "--porcelain");
  if (clean.trim() !== "") {
    await git(
      folder,
      "-c",
      "user.name=Convoy demo",
      "-c",
      "user.email=demo@convoy.invalid",
      "commit",
      "--quiet",
      "-m",
      "Examples",
    );
  }
}

/** The objects of `examples/convoy`, as a user would apply them, in the demo's namespace. */
export async function readDemoObjects(examples: string, namespace: string): Promise<DemoObject[]> {
  const folder = join(examples, "convoy");
  const files: string[] = [];
  for await (const entry of Deno.readDir(folder)) if (entry.name.endsWith(".yaml")) files.push(entry.name);
  const objects: DemoObject[] = [];
  for (const file of files.sort()) {
    for (const { value } of parseDocuments(await Deno.readTextFile(join(folder, file)), { file })) {
      const object = value as unknown as DemoObject;
      objects.push({ ...object, metadata: { ...object.metadata, namespace } });
    }
  }
  return objects;
}

/** Names of the Clusters among them. */
export function clusterNames(objects: readonly DemoObject[]): string[] {
  return objects.filter((o) => o.kind === "Cluster").map((o) => o.metadata.name);
}

/** Points the examples at the demo's own repository and clusters, and adds the Secrets with their kubeconfigs. */
export function bindDemoObjects(
  objects: readonly DemoObject[],
  o: { repositoryUrl: string; kubeconfigs: ReadonlyMap<string, string> },
): DemoObject[] {
  const secrets: DemoObject[] = [];
  const bound = objects.map((object): DemoObject => {
    const spec = object.spec as Record<string, unknown>;
    if (object.kind === "GitRepository") return { ...object, spec: { ...spec, url: o.repositoryUrl, interval: "5s" } };
    const kubeconfig = o.kubeconfigs.get(object.metadata.name);
    if (object.kind === "Cluster" && kubeconfig !== undefined) {
      const { name, key = "kubeconfig" } = spec.kubeconfigSecretRef as { name: string; key?: string };
      const { namespace } = object.metadata;
      secrets.push({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name, namespace },
        stringData: { [key]: kubeconfig },
      });
    }
    return object;
  });
  // What a Release needs comes before it, or the first thing that it says is that something is missing.
  const rank = (o: DemoObject) => ["Secret", "Cluster", "GitRepository", "Release"].indexOf(o.kind);
  return [...secrets, ...bound].sort((a, b) => rank(a) - rank(b));
}

async function git(cwd: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("git", { args, cwd }).output().catch((error) => {
    throw new Error(`Cannot make the Git repository: the program "git" cannot be started: ${error.message}`);
  });
  if (!success) {
    throw new Error(`Cannot make the Git repository: git ${args[0]}: ${new TextDecoder().decode(stderr).trim()}`);
  }
  return new TextDecoder().decode(stdout);
}

const exists = (path: string) => Deno.stat(path).then(() => true, () => false);

async function copyTree(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const entry of Deno.readDir(from)) {
    if (entry.isDirectory) await copyTree(join(from, entry.name), join(to, entry.name));
    else if (entry.isFile) await Deno.copyFile(join(from, entry.name), join(to, entry.name));
  }
}

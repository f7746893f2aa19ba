/** What the demo makes: a Git repository from `examples/`, and the objects that release it. @module */
import { join } from "node:path";
import { API_VERSION } from "../shared/api/mod.ts";

/** Name of the GitRepository. */
export const REPOSITORY = "examples";

/** A demo object, ready to be applied. */
export interface DemoObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace: string };
  [field: string]: unknown;
}

/** Makes (or brings up to date) a Git repository with the content of `examples` and one branch, `main`. */
export async function makeRepository(examples: string, folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const fresh = !await exists(join(folder, ".git"));
  if (fresh) await git(folder, "init", "--quiet", "--initial-branch=main");
  // A repository that is there is the user's to play with: only what is missing comes back.
  if (fresh) await copyTree(examples, folder);
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

/** Objects of the demo: each app of the repository on each cluster. */
export function demoObjects(o: {
  namespace: string;
  repositoryUrl: string;
  apps: readonly string[];
  clusters: ReadonlyMap<string, string>;
}): DemoObject[] {
  const { namespace } = o;
  const clusters = [...o.clusters].flatMap(([name, kubeconfig]): DemoObject[] => [
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: `${name}-kubeconfig`, namespace },
      stringData: { kubeconfig },
    },
    {
      apiVersion: API_VERSION,
      kind: "Cluster",
      metadata: { name, namespace },
      spec: { kubeconfigSecretRef: { name: `${name}-kubeconfig` } },
    },
  ]);
  const repository: DemoObject = {
    apiVersion: API_VERSION,
    kind: "GitRepository",
    metadata: { name: REPOSITORY, namespace },
    spec: { url: o.repositoryUrl, ref: { branch: "main" }, interval: "5s" },
  };
  const releases = o.apps.flatMap((app) =>
    [...o.clusters.keys()].map((cluster): DemoObject => ({
      apiVersion: API_VERSION,
      kind: "Release",
      metadata: { name: `${app}-${cluster}`, namespace },
      spec: { cluster: { name: cluster }, source: { git: { repository: REPOSITORY, path: `apps/${app}` } } },
    }))
  );
  return [...clusters, repository, ...releases];
}

/** Names of the folders in `apps/`. */
export async function appsOf(examples: string): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of Deno.readDir(join(examples, "apps"))) if (entry.isDirectory) names.push(entry.name);
  return names.sort();
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

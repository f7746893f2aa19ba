/**
 * Builds the Go programs that the tests against a real control plane use, once: they lie in a cache outside the checkout,
 * named by what they are built from. @module
 */
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const FLAGS: Record<string, string> = {
  controlplane: ["gitVersion=v1.36.3", "gitMajor=1", "gitMinor=36"].map((v) => `-X k8s.io/component-base/version.${v}`)
    .join(" "),
  kubectl: ["gitVersion=v1.36.3", "gitMajor=1", "gitMinor=36"].map((v) => `-X k8s.io/component-base/version.${v}`).join(
    " ",
  ),
  kwok: "",
};

/** The folder of the cache: `$CONVOY_CACHE`, else `~/.cache/convoy`. */
export function cacheDir(): string {
  return Deno.env.get("CONVOY_CACHE") ?? join(Deno.env.get("HOME") ?? "/tmp", ".cache", "convoy");
}

/** Path of a program built from `tests/kube/NAME`; builds it when the cache has none (minutes when Go's cache is cold). */
export async function goProgram(name: "controlplane" | "kwok" | "kubectl"): Promise<string> {
  const source = join(HERE, name);
  const hash = createHash("sha256");
  for (const file of ["main.go", "go.mod", "go.sum"]) hash.update(await Deno.readFile(join(source, file)));
  const path = join(cacheDir(), `${name}-${hash.digest("hex").slice(0, 16)}`);
  if (await Deno.stat(path).then((s) => s.isFile, () => false)) return path;
  await Deno.mkdir(dirname(path), { recursive: true });
  console.error(`building ${name} (once; minutes when Go's build cache is cold) …`);
  const aside = `${path}.${Deno.pid}`;
  const { code, stderr } = await new Deno.Command("go", {
    args: ["build", "-ldflags", `-s -w ${FLAGS[name]}`, "-o", aside, "."],
    cwd: source,
    stderr: "piped",
  }).output().catch((error) => {
    throw new Error(`Cannot build ${name}: the program "go" (1.26 or newer) cannot be started: ${error.message}`);
  });
  if (code !== 0) throw new Error(`Cannot build ${name}: ${new TextDecoder().decode(stderr).slice(-4000)}`);
  await Deno.rename(aside, path);
  return path;
}

/** kubectl: the one on PATH, else one built here. */
export async function kubectl(): Promise<string> {
  const found = await new Deno.Command("kubectl", { args: ["version", "--client"], stdout: "null", stderr: "null" })
    .output()
    .then((o) => o.success, () => false);
  return found ? "kubectl" : await goProgram("kubectl");
}

/**
 * Checks who may import whom: a role imports `shared/` and itself, `shared/` imports no role, `shared/ssa` imports nothing,
 * other folders are entered by their `mod.ts` or a contract. Prints each offence; exit code 1 when there is one.
 *
 * @module
 */
import { dirname, join, normalize, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROLES = [
  "apiserver",
  "controllers/release",
  "controllers/cluster",
  "controllers/sources/gitrepository",
  "controllers/sources/helmregistry",
  "controllers/sources/ociregistry",
  "observer/drift",
  "observer/health",
  "simcluster",
];
/** Folders that put the parts together and may import all of them. */
const COMPOSERS = ["cli", "tests", "scripts", "mod.ts", "roles.ts", "bench"];

export interface Offence {
  file: string;
  line: number;
  imports: string;
  why: string;
}

/** Finds the offences in a list of files, given their texts. Paths are relative to the root, with `/`. */
export function findOffences(files: ReadonlyMap<string, string>): Offence[] {
  const offences: Offence[] = [];
  for (const [file, text] of files) {
    if (COMPOSERS.some((c) => file === c || file.startsWith(`${c}/`)) || file.endsWith("_test.ts")) continue;
    text.split("\n").forEach((line, index) => {
      const found = /(?:from|import\()\s*["'](\.[^"']*)["']/.exec(line) ?? /^import\s+["'](\.[^"']*)["']/.exec(line);
      if (!found) return;
      const target = normalize(join(dirname(file), found[1]!));
      const why = refuse(file, target);
      if (why) offences.push({ file, line: index + 1, imports: target, why });
    });
  }
  return offences;
}

const folderOf = (path: string, depth: number) => path.split("/").slice(0, depth).join("/");

function roleOf(path: string): string | undefined {
  return ROLES.find((role) => path.startsWith(`${role}/`));
}

function refuse(file: string, target: string): string | undefined {
  const top = folderOf(file, 1);
  if (top === "shared") {
    if (!target.startsWith("shared/")) return "shared/ imports nothing outside shared/";
    if (file.startsWith("shared/ssa/") && !target.startsWith("shared/ssa/")) {
      return "shared/ssa imports nothing from the rest";
    }
    return byDoor(file, target);
  }
  const role = roleOf(file);
  if (target.startsWith("shared/")) return byDoor(file, target);
  const other = roleOf(target);
  if (other !== undefined && other !== role) return `a role imports shared/, never another role (${other})`;
  if (role !== undefined && folderOf(target, 1) !== top) return "a role imports shared/ and itself only";
  return undefined;
}

function byDoor(file: string, target: string): string | undefined {
  const own = folderOf(file, 2), folder = folderOf(target, 2);
  if (own === folder) return undefined;
  const rest = target.slice(folder.length + 1);
  const open = rest === "mod.ts" ||
    /(^|\/)(contract|types|status|role|clock|logger|metrics|backoff|mod)\.ts$/.test(rest) ||
    /^owner\.ts$/.test(rest);
  return open ? undefined : `${folder}/ is entered by its mod.ts or a contract`;
}

/** All TypeScript files that git knows, new ones included. */
export async function sources(root: string): Promise<Map<string, string>> {
  const out = await new Deno.Command("git", {
    args: ["ls-files", "-co", "--exclude-standard", "--", "*.ts", "*.tsx"],
    cwd: root,
  }).output();
  const files = new Map<string, string>();
  for (const name of new TextDecoder().decode(out.stdout).split("\n").filter(Boolean)) {
    const text = await Deno.readTextFile(join(root, name)).catch(() => undefined);
    if (text !== undefined) files.set(relative(root, resolve(root, name)), text);
  }
  return files;
}

if (import.meta.main) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const offences = findOffences(await sources(root));
  for (const o of offences) console.error(`${o.file}:${o.line}: imports ${o.imports}: ${o.why}`);
  console.log(offences.length === 0 ? "imports: all in the allowed direction" : `imports: ${offences.length} offences`);
  Deno.exit(offences.length === 0 ? 0 : 1);
}

/** How this program starts itself again: from source, from the bundle, or compiled. @module */
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Program and leading arguments that start `convoy`. */
export function convoyCommand(): string[] {
  const exec = Deno.execPath();
  if (!basename(exec).startsWith("deno")) return [exec];
  const main = Deno.mainModule;
  // Started by a test or a script: the program is the mod.ts of this tree.
  const isOurs = main.endsWith("/mod.ts") || main.endsWith("/convoy.js");
  const entry = isOurs ? fileURLToPath(main) : join(dirname(dirname(fileURLToPath(import.meta.url))), "mod.ts");
  return [exec, "run", "-A", "--quiet", entry];
}

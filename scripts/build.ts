/**
 * Builds `dist/convoy.js`, one bundle made by esbuild (through `deno bundle`) that runs with `deno run -A`; and the compiled
 * program `dist/convoy` where the runtime file denort can be had (`DENORT_BIN`, or a download that works). Says which.
 *
 * @module
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(ROOT, "dist");

async function deno(args: string[], env: Record<string, string> = {}): Promise<{ ok: boolean; text: string }> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd: ROOT,
    env: { NO_COLOR: "1", ...env },
  })
    .output();
  return { ok: success, text: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

await Deno.mkdir(DIST, { recursive: true });
const bundle = join(DIST, "convoy.js");
const built = await deno(["bundle", "--platform=deno", "--quiet", "-o", bundle, "mod.ts"]);
if (!built.ok) {
  console.error(`the bundle failed:\n${built.text.slice(-4000)}`);
  Deno.exit(1);
}
// The demo's examples go with the bundle: it has no source tree beside it.
await copyTree(join(ROOT, "examples"), join(DIST, "examples"));
const tried = await deno(["run", "-A", "--quiet", "--no-config", bundle, "version"]);
if (!tried.ok) {
  console.error(`the bundle does not run:\n${tried.text.slice(-4000)}`);
  Deno.exit(1);
}
console.log(`bundle: ${bundle} (${Math.round((await Deno.stat(bundle)).size / 1024)} KiB): ${tried.text.trim()}`);

const denort = Deno.env.get("DENORT_BIN");
if (!denort && !Deno.args.includes("--compile")) {
  console.log(
    "binary: not made: deno compile needs the runtime file denort; name one with DENORT_BIN, or give --compile to let deno fetch it",
  );
} else {
  const compiled = await deno(
    ["compile", "-A", "--quiet", "-o", join(DIST, "convoy"), bundle],
    denort ? { DENORT_BIN: denort } : {},
  );
  console.log(
    compiled.ok ? `binary: ${join(DIST, "convoy")}` : `binary: not made: ${compiled.text.trim().split("\n").at(-1)}`,
  );
  if (!compiled.ok) Deno.exit(1);
}

async function copyTree(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const entry of Deno.readDir(from)) {
    if (entry.isDirectory) await copyTree(join(from, entry.name), join(to, entry.name));
    else if (entry.isFile) await Deno.copyFile(join(from, entry.name), join(to, entry.name));
  }
}

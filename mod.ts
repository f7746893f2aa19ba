/** Convoy: the program. `deno run -A mod.ts --help` lists its commands. @module */
import process from "node:process";
import { runCommandLine } from "./cli/program.ts";
import { VERSION } from "./cli/version.ts";

if (import.meta.main) {
  const write = (to: { writeSync(b: Uint8Array): number }) => (text: string) => {
    const bytes = new TextEncoder().encode(text + "\n");
    for (let at = 0; at < bytes.length;) at += to.writeSync(bytes.subarray(at));
  };
  const code = await runCommandLine(Deno.args, {
    print: write(Deno.stdout),
    printError: write(Deno.stderr),
    version: { convoy: VERSION, deno: Deno.version.deno, platform: `${Deno.build.os}/${Deno.build.arch}` },
  });
  process.exit(code);
}

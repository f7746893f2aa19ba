/** The one gate: format, lint, types, import direction, generated files, tests. Stops at the first that fails. @module */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const deno = Deno.execPath();
const steps: [string, string[]][] = [
  ["format", ["fmt", "--check", "--quiet"]],
  ["lint", ["lint", "--quiet"]],
  ["types", ["check", "--quiet", "."]],
  ["import direction", ["run", "-A", "--quiet", "scripts/check_imports.ts"]],
];
if (!Deno.args.includes("--no-tests")) steps.push(["tests", ["run", "-A", "--quiet", "scripts/test.ts"]]);

for (const [name, args] of steps) {
  const { code } = await new Deno.Command(deno, { args, cwd: ROOT, stdout: "inherit", stderr: "inherit" }).output();
  console.log(`${name}: ${code === 0 ? "ok" : "FAILED"}`);
  if (code !== 0) Deno.exit(1);
}

/**
 * Runs one suite of tests: `unit` (default; no service needed), `services` (git, ssh, kubectl) or `kube` (a real
 * kube-apiserver). Prints what `deno test` prints, then the plain line `N passed, N failed, N skipped`.
 * Further arguments go to `deno test` (`--filter x`, file names).
 *
 * @module
 */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/** Counts of one run. */
export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** Reads the counts from the last summary line of `deno test`; undefined when there is none. */
export function parseSummary(text: string): Counts | undefined {
  // deno-lint-ignore no-control-regex
  const plain = text.replace(/\x1b\[[0-9;]*m/g, "");
  const lines = [...plain.matchAll(/^(?:ok|FAILED) \| (\d+) passed(?: \(\d+ steps?\))? \| (\d+) failed(.*)$/gm)];
  const last = lines.at(-1);
  if (!last) return undefined;
  const ignored = /(\d+) ignored/.exec(last[3] ?? "");
  return { passed: Number(last[1]), failed: Number(last[2]), skipped: ignored ? Number(ignored[1]) : 0 };
}

/** Files of one suite. */
export async function filesOf(suite: string): Promise<string[]> {
  const out = await new Deno.Command("git", {
    args: ["ls-files", "-co", "--exclude-standard", "--", "*_test.ts", "*_test.tsx"],
    cwd: ROOT,
  }).output();
  const all = new TextDecoder().decode(out.stdout).split("\n").filter(Boolean).sort();
  const special = (f: string) => /^tests\/(services|kube|faults)\//.exec(f)?.[1];
  return [...new Set(all)].filter((f) => (special(f) ?? "unit") === suite);
}

/** Runs the suite and resolves to its counts; a run without a summary counts as one failure. */
export async function runSuite(suite: string, extra: readonly string[] = []): Promise<Counts> {
  const named = extra.filter((a) => !a.startsWith("-") && a.endsWith(".ts"));
  const flags = extra.filter((a) => !named.includes(a));
  const files = named.length > 0 ? named : await filesOf(suite);
  if (files.length === 0) return { passed: 0, failed: 0, skipped: 0 };
  // Services and clusters share ports, folders and two cores: one file at a time there.
  const parallel = suite === "unit" ? ["--parallel"] : [];
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", "-A", "--trace-leaks", "--quiet", ...parallel, ...flags, ...files],
    cwd: ROOT,
    env: { DENO_JOBS: Deno.env.get("DENO_JOBS") ?? "2", NO_COLOR: "1" },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let text = "";
  const decoder = new TextDecoder();
  const pass = async (stream: ReadableStream<Uint8Array>, to: { writeSync(b: Uint8Array): number }) => {
    for await (const chunk of stream) {
      for (let at = 0; at < chunk.length;) at += to.writeSync(chunk.subarray(at));
      text = (text + decoder.decode(chunk, { stream: true })).slice(-65536);
    }
  };
  await Promise.all([pass(child.stdout, Deno.stdout), pass(child.stderr, Deno.stderr)]);
  const { success } = await child.status;
  const counts = parseSummary(text) ?? { passed: 0, failed: 1, skipped: 0 };
  if (!success && counts.failed === 0) counts.failed = 1;
  return counts;
}

if (import.meta.main) {
  const { values, tokens } = parseArgs({
    args: Deno.args,
    options: { suite: { type: "string", default: "unit" }, "counts-to": { type: "string" } },
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  const own = new Set<number>();
  for (const t of tokens) {
    if (t.kind === "option" && (t.name === "suite" || t.name === "counts-to")) {
      own.add(t.index);
      if (!t.inlineValue) own.add(t.index + 1);
    }
  }
  const extra = Deno.args.filter((_, i) => !own.has(i));
  const suite = String(values.suite);
  const counts = await runSuite(suite, extra);
  if (typeof values["counts-to"] === "string") await Deno.writeTextFile(values["counts-to"], JSON.stringify(counts));
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  Deno.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1);
}

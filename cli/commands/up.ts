/** `convoy up`: starts the processes of a deployment file and keeps them running. @module */
import type { Command } from "commander";
import { UsageError } from "../output.ts";
import { parseProcessFile, type ProcessSpec } from "../process_file.ts";
import { convoyCommand } from "../self.ts";
import type { Print } from "./shared.ts";

/** Wait before a process that ended is started again, ms; doubles up to the second number. */
const RESTART_MS = [500, 30_000] as const;
/** A process that lived this long starts with the short wait again, ms. */
const STEADY_MS = 60_000;
/** A process that has not ended this long after SIGTERM is killed, ms. */
const STOP_MS = 12_000;

/** Adds the command. */
export function addUp(program: Command, print: Print): void {
  program.command("up")
    .description("Start the processes of a deployment file, restart those that end, stop all on SIGTERM.")
    .requiredOption("-f, --file <file>", "deployment file, e.g. deploy/three-processes.yaml")
    .option("--data-dir <folder>", "value of ${DATA}", ".convoy")
    .option("--set <NAME=VALUE>", "value of a variable (repeatable)", (v: string, all: string[]) => [...all, v], [])
    .action(async (o: { file: string; dataDir: string; set: string[] }) => {
      const variables: Record<string, string> = { DATA: await absolute(o.dataDir) };
      for (const s of o.set) {
        const at = s.indexOf("=");
        if (at < 1) throw new UsageError(`Cannot set "${s}": --set takes NAME=VALUE`);
        variables[s.slice(0, at)] = s.slice(at + 1);
      }
      const text = await Deno.readTextFile(o.file).catch((error) => {
        throw new UsageError(`Cannot read the deployment file "${o.file}": ${error.message}`);
      });
      const specs = parseProcessFile(text, o.file, variables);
      const stop = new AbortController();
      const onSignal = () => stop.abort();
      for (const signal of ["SIGTERM", "SIGINT"] as const) Deno.addSignalListener(signal, onSignal);
      try {
        await superviseAll(specs, stop.signal, print);
      } finally {
        for (const signal of ["SIGTERM", "SIGINT"] as const) Deno.removeSignalListener(signal, onSignal);
      }
    });
}

async function absolute(folder: string): Promise<string> {
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  return await Deno.realPath(folder);
}

/** Runs all processes until the signal; prints one JSON line for each start, readiness and end. */
export async function superviseAll(specs: ProcessSpec[], signal: AbortSignal, print: Print): Promise<void> {
  const ready = new Map<string, PromiseWithResolvers<void>>();
  for (const s of specs) if (!ready.has(s.group)) ready.set(s.group, Promise.withResolvers<void>());
  const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  await Promise.all(specs.map(async (spec) => {
    if (spec.after) await Promise.race([ready.get(spec.after)!.promise, aborted]);
    let wait: number = RESTART_MS[0];
    while (!signal.aborted) {
      const started = Date.now();
      const code = await runOnce(spec, signal, print, () => ready.get(spec.group)!.resolve());
      if (signal.aborted) break;
      wait = Date.now() - started > STEADY_MS ? RESTART_MS[0] : wait;
      print(JSON.stringify({ process: spec.name, ended: code, restartInMs: wait }));
      await Promise.race([new Promise<void>((resolve) => setTimeout(resolve, wait)), aborted]);
      wait = Math.min(wait * 2, RESTART_MS[1]);
    }
  }));
}

async function runOnce(spec: ProcessSpec, signal: AbortSignal, print: Print, onReady: () => void): Promise<number> {
  const [program, ...args] = [...convoyCommand(), ...spec.args];
  const child = new Deno.Command(program!, { args, stdout: "piped", stderr: "inherit", stdin: "null" }).spawn();
  print(JSON.stringify({ process: spec.name, pid: child.pid, started: true }));
  let killer: ReturnType<typeof setTimeout> | undefined;
  const onAbort = () => {
    kill(child, "SIGTERM");
    killer = setTimeout(() => kill(child, "SIGKILL"), STOP_MS);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const lines = child.stdout.pipeThrough(new TextDecoderStream());
  let rest = "";
  for await (const piece of lines) {
    const parts = (rest + piece).split("\n");
    rest = parts.pop()!.slice(-65_536);
    for (const line of parts) {
      if (!line.startsWith("{")) continue;
      print(JSON.stringify({ process: spec.name, pid: child.pid, ...tryJson(line) }));
      if (line.includes('"ready":true')) onReady();
    }
  }
  const { code } = await child.status;
  signal.removeEventListener("abort", onAbort);
  clearTimeout(killer);
  return code;
}

function tryJson(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line);
  } catch {
    return { line };
  }
}

function kill(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch { /* it ended */ }
}

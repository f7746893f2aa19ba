/** The command line: `convoy COMMAND`. @module */
import { Command, CommanderError } from "commander";
import { StatusError } from "../shared/kube/status.ts";
import { TransportError } from "../shared/kube/contract.ts";
import { addApi, addVersion, type Version } from "./commands/api.ts";
import { addDemo } from "./commands/demo.ts";
import { addEvents } from "./commands/events.ts";
import { addGet } from "./commands/get.ts";
import { addRun } from "./commands/run.ts";
import type { Print } from "./commands/shared.ts";
import { addSync } from "./commands/sync.ts";
import { addUp } from "./commands/up.ts";
import { UsageError } from "./output.ts";

/** Exit codes: 0 done, 1 failed, 2 wrong use. */
export type ExitCode = 0 | 1 | 2;

/** Runs one command line and resolves to its exit code; never throws. */
export async function runCommandLine(
  args: readonly string[],
  io: { print: Print; printError: Print; version: Version },
): Promise<ExitCode> {
  const program = new Command("convoy")
    .description("Releases software to many Kubernetes clusters and tells, per object, what is true of each release.")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.print(text.trimEnd()),
      writeErr: (text) => io.printError(text.trimEnd()),
    });
  addRun(program, io.print);
  addDemo(program, io.print);
  addUp(program, io.print);
  addGet(program, io.print);
  addSync(program, io.print);
  addEvents(program, io.print);
  addApi(program, io.print);
  addVersion(program, io.print, io.version);
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    io.printError(`error: ${messageOf(error)}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

function messageOf(error: unknown): string {
  if (error instanceof StatusError) {
    const causes = (error.status.details?.causes ?? []).map((c) => `\n  ${c.field ?? ""}: ${c.message ?? ""}`);
    return `the server answered ${error.reason || error.code}: ${error.message}${
      causes.length > 1 ? causes.join("") : ""
    }`;
  }
  if (error instanceof TransportError) return `${error.message}. Is Convoy running, and is this its kubeconfig?`;
  return error instanceof Error ? error.message : String(error);
}

/** `convoy run`: runs roles until it is told to stop. @module */
import type { Command } from "commander";
import { createLogger, stopOnSignals } from "../../shared/runtime/mod.ts";
import { startProcess } from "../process.ts";
import { completeRunOptions, IDENTITIES, ROLE_NAMES, type RunFlags } from "../run_options.ts";
import type { Print } from "./shared.ts";

const more = (value: string, all: string[]) => [...all, value];

/** Adds the command. */
export function addRun(program: Command, print: Print): void {
  program.command("run")
    .description("Run roles. Prints one JSON line when ready; SIGTERM ends it cleanly within 10 s.")
    .option("--role <roles>", `all, or some of ${ROLE_NAMES.join(", ")} (repeatable, comma-separated)`, more, [])
    .option("--storage <storage>", "memory or sqlite:FILE (default: sqlite:DATA-DIR/convoy.db)")
    .option("--listen <host:port>", "address of the API server; port 0 = a free one", "127.0.0.1:7443")
    .option("--token-file <file>", 'tokens, one a line: token,user,uid,"group1,group2"')
    .option("--kubeconfig <file>", "kubeconfig of the API server, when this process does not run it")
    .option("--kubeconfig-out <file>", "where the administrator's kubeconfig is written (default: DATA-DIR/kubeconfig)")
    .option(
      "--issue <identity=file>",
      `write a kubeconfig for ${Object.keys(IDENTITIES).join(", ")} (repeatable)`,
      more,
      [],
    )
    .option("--data-dir <folder>", "store, certificates, artifacts", ".convoy")
    .option("--metrics-listen <host:port>", "/metrics, /healthz, /readyz of this process; none = off", "127.0.0.1:0")
    .option("--leader-elect", "run the loops only while this process leads (several processes of one kind)")
    .option("--simclusters <n>", "simulated clusters of the role simcluster", "3")
    .option("--workers <n>", "reconciles at once, each loop", "8")
    .option("--workers-per-cluster <n>", "reconciles at once for one target cluster", "2")
    .option("--resync <seconds>", "how often every object is looked at again", "600")
    .option("--allow-exec-plugins", "let kubeconfigs of Clusters start programs")
    .option("--allow-file-repositories", "let GitRepositories read file:// addresses")
    .option("--log-format <format>", "text or json", "text")
    .option("--log-level <level>", "error, info or debug", "info")
    .action(async (flags: RunFlags) => {
      const options = completeRunOptions(flags);
      const logger = createLogger({ format: options.logFormat, level: options.logLevel });
      const stop = stopOnSignals({ logger });
      try {
        const running = await startProcess(options, { logger, signal: stop.signal });
        print(JSON.stringify(running.ready));
        await running.done;
      } finally {
        stop.dispose();
      }
    });
}

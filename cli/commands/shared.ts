/** What the commands share. @module */
import type { Command } from "commander";

/** Prints one piece of output with a line end. */
export type Print = (text: string) => void;

/** Accept header of a Table. */
export const TABLE_ACCEPT = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

/** Adds `--kubeconfig`, `--context` and `--namespace`. */
export function addConnectOptions(command: Command): Command {
  return command
    .option(
      "--kubeconfig <file>",
      "kubeconfig of Convoy's API server (default: $CONVOY_KUBECONFIG, .convoy/kubeconfig, $KUBECONFIG)",
    )
    .option("--context <name>", "context in the kubeconfig")
    .option("-n, --namespace <name>", "namespace (default: that of the context)");
}

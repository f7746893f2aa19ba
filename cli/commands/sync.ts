/** `convoy sync`: applies a Release again now. @module */
import type { Command } from "commander";
import { RELEASES } from "../../shared/api/mod.ts";
import type { Release } from "../../shared/api/mod.ts";
import type { KubeClient } from "../../shared/kube/contract.ts";
import { connect, type ConnectOptions } from "../connect.ts";
import { dump, parseFormat, UsageError } from "../output.ts";
import { addConnectOptions, type Print } from "./shared.ts";

interface SyncOptions extends ConnectOptions {
  output: string;
  wait?: boolean;
  timeout: string;
}

/** Adds the command. */
export function addSync(program: Command, print: Print): void {
  addConnectOptions(program.command("sync"))
    .description("Apply a Release again now (POST …/releases/NAME/sync).")
    .argument("<release>", "name of the Release")
    .option("--wait", "wait until it was reconciled and its rollout ended; exit code 1 when it failed")
    .option("--timeout <seconds>", "limit of --wait", "300")
    .option("-o, --output <format>", "name|json|yaml", "name")
    .action(async (name: string, o: SyncOptions) => {
      const format = parseFormat(o.output, ["name", "json", "yaml"] as const);
      const seconds = Number(o.timeout);
      if (!(seconds > 0)) {
        throw new UsageError(`Cannot wait "${o.timeout}": --timeout takes a number of seconds above 0`);
      }
      const { client, namespace } = await connect(o);
      try {
        const asked = await client.raw<Release>({
          method: "POST",
          path: `/apis/${RELEASES.group}/${RELEASES.version}/namespaces/${encodeURIComponent(namespace)}/releases/${
            encodeURIComponent(name)
          }/sync`,
          body: {},
        });
        if (!o.wait) return print(format === "name" ? `release "${name}" will be synced` : dump(asked, format));
        const done = await waitForSync(client, namespace, name, seconds * 1000, asked);
        print(format === "name" ? `release "${name}" synced` : dump(done, format));
      } finally {
        client.close();
      }
    });
}

/** A Release whose status has not moved for this long after the request has been looked at, ms: no change, no write. */
const QUIET_MS = 2000;

/**
 * Waits until the sync has ended: the Release's status is final (Applied and RolloutSucceeded True, or one of them False)
 * and has not moved for {@link QUIET_MS}. A sync that changes nothing writes no status, so there is nothing else to see.
 * @throws when it failed, or time is up
 */
async function waitForSync(
  client: KubeClient,
  namespace: string,
  name: string,
  ms: number,
  asked: Release,
): Promise<Release> {
  const end = Date.now() + ms;
  const at = (r: Release, type: string) => r.status?.conditions?.find((c) => c.type === type);
  let last = asked, movedAt = Date.now();
  while (Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    const now = await client.get<Release>(RELEASES, { namespace, name });
    if (now.metadata.resourceVersion !== last.metadata.resourceVersion) movedAt = Date.now();
    last = now;
    if (Date.now() - movedAt < QUIET_MS) continue;
    const applied = at(last, "Applied"), rollout = at(last, "RolloutSucceeded");
    if (applied?.status === "False") {
      throw new Error(`Release "${name}" was not applied: ${applied.reason}: ${applied.message}`);
    }
    if (rollout?.status === "False") {
      throw new Error(`Rollout of release "${name}" failed: ${rollout.reason}: ${rollout.message}`);
    }
    if (applied?.status === "True" && rollout?.status === "True") return last;
  }
  const applied = at(last, "Applied");
  const seen = `Applied=${applied?.status ?? "Unknown"} ${applied?.reason ?? ""} ${applied?.message ?? ""}`.trimEnd();
  throw new Error(`Release "${name}" was not synced within ${ms / 1000} s: ${seen}`);
}

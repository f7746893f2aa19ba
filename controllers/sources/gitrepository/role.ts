/** Role `gitrepository`. @module */
import { join } from "node:path";
import { GIT_REPOSITORIES, type GitRepository, type Release, RELEASES } from "../../../shared/api/mod.ts";
import { ensureAccessKey } from "../../../shared/artifact/mod.ts";
import { runController } from "../../../shared/controller/mod.ts";
import { backoffDelay } from "../../../shared/runtime/mod.ts";
import { sleep } from "../../../shared/runtime/clock.ts";
import type { Role, RoleContext } from "../../../shared/runtime/role.ts";
import { neededDigests, Pruner } from "./prune.ts";
import { GitSourceReconciler } from "./reconcile.ts";
import { cleanWorkDir } from "./work_dir.ts";

/** Fetches GitRepositories into the artifact store. */
export const gitRepositoryRole: Role = {
  name: "gitrepository",
  group: "controller-manager",
  async run(ctx) {
    const { clock, options, signal } = ctx;
    const logger = ctx.logger.with({ role: "gitrepository" });
    const repositories = ctx.informers.for<GitRepository>(GIT_REPOSITORIES);
    const releases = ctx.informers.for<Release>(RELEASES);
    const workDir = join(options.dataDir, "git");
    await cleanWorkDir(workDir);
    const pruner = new Pruner({
      artifacts: ctx.artifacts,
      clock,
      logger,
      // Caches that are not filled yet know of no artifact that is needed.
      needed: () =>
        repositories.synced && releases.synced ? neededDigests(repositories.list(), releases.list()) : undefined,
    });
    pruner.request();
    const reconciler = new GitSourceReconciler({
      client: ctx.client,
      artifacts: ctx.artifacts,
      events: ctx.events,
      clock,
      get: (key) => repositories.get(key),
      fetch: { workDir, allowFile: options.allowFileProtocol ?? false },
      ...(options.artifactUrl ? { artifactUrl: options.artifactUrl } : {}),
      onNewArtifact: () => pruner.request(),
    });
    const key = options.artifactUrl ? makeAccessKey({ ...ctx, logger }) : undefined;
    try {
      await runController<GitRepository>({
        name: "gitrepository",
        informer: repositories,
        needs: [releases],
        reconcile: (name, { signal }) => reconciler.reconcile(name, signal),
        clock,
        logger,
        metrics: ctx.metrics,
        signal,
        workers: options.workers,
        timeoutMs: 3_600_000,
      });
    } finally {
      await Promise.all([pruner.stop(), key]);
    }
  },
};

/** Other processes can get artifacts only with the key: it is made at the start, tried until it is there. */
async function makeAccessKey(ctx: RoleContext): Promise<void> {
  for (let attempt = 0; !ctx.signal.aborted; attempt++) {
    try {
      await ensureAccessKey(ctx.client);
      return;
    } catch (error) {
      if (ctx.signal.aborted) return;
      ctx.logger.error("Artifact key not made", error);
      await sleep(ctx.clock, backoffDelay(attempt, { minMs: 1000 }), ctx.signal).catch(() => {});
    }
  }
}

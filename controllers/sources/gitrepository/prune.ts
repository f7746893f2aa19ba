/** Which artifacts are still needed, and when the others go. @module */
import type { GitRepository, Release } from "../../../shared/api/mod.ts";
import type { ArtifactStore } from "../../../shared/artifact/mod.ts";
import type { Clock } from "../../../shared/runtime/clock.ts";
import type { Logger } from "../../../shared/runtime/logger.ts";

/** Time between the first new artifact and the pruning after it, ms. */
const PRUNE_AFTER_MS = 600_000;

/** Digests that some source offers or some Release runs. */
export function neededDigests(repositories: Iterable<GitRepository>, releases: Iterable<Release>): Set<string> {
  const keep = new Set<string>();
  for (const { status } of repositories) if (status?.artifact) keep.add(status.artifact.digest);
  for (const { status } of releases) if (status?.source) keep.add(status.source.digest);
  return keep;
}

/** Prunes some time after artifacts came, however many came meanwhile. */
export class Pruner {
  #cancel: (() => void) | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(
    private readonly o: {
      artifacts: ArtifactStore;
      clock: Clock;
      logger: Logger;
      needed: () => Set<string> | undefined;
    },
  ) {}

  /** An artifact came. */
  request(): void {
    this.#cancel ??= this.o.clock.after(PRUNE_AFTER_MS, () => {
      this.#cancel = undefined;
      const needed = this.o.needed();
      // What is needed is not known yet: later.
      if (!needed) return this.request();
      this.#running = this.o.artifacts.prune(needed).catch((error) => {
        this.o.logger.error("Pruning of artifacts failed", error);
      });
    });
  }

  /** Ends it; resolves when a pruning under way has ended. */
  async stop(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    await this.#running;
  }
}

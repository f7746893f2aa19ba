/** A reconciler over a real repository, a fake API and a fake clock. @module */
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { DiskArtifactStore } from "../../../../shared/artifact/mod.ts";
import { FakeClock } from "../../../../shared/runtime/clock.ts";
import { GitSourceReconciler } from "../reconcile.ts";
import { FakeApi } from "./fake_api.ts";
import { GitFixture } from "./fixture.ts";

/** What a test works with. */
export class World {
  readonly api = new FakeApi();
  readonly clock = new FakeClock();
  readonly store: DiskArtifactStore;
  readonly #workDir: string;
  readonly #reconciler: GitSourceReconciler;

  constructor(readonly git: GitFixture, limits: Record<string, number> = {}, allowFile = true) {
    this.store = new DiskArtifactStore(join(git.folder, "data"), { clock: this.clock });
    this.#workDir = join(git.folder, "data", "git");
    this.#reconciler = new GitSourceReconciler({
      client: this.api.client,
      artifacts: this.store,
      events: this.api.recorder,
      clock: this.clock,
      get: (key) => this.api.repositories.get(key),
      fetch: { workDir: this.#workDir, allowFile, limits },
      artifactUrl: "http://me:1/",
      random: () => 0.5,
    });
  }

  /** Reconciles once; resolves to the time to the next look, or "change". */
  async look(): Promise<number | string> {
    const action = await this.#reconciler.reconcile("t/r", new AbortController().signal);
    assert.deepEqual(await readdir(this.#workDir).catch(() => []), [], "nothing is left in the work folder");
    return "after" in action ? action.after : action.await;
  }

  /** Files of the artifact in the status; what cannot be read is `! message`. */
  async files(): Promise<Record<string, string>> {
    const out: Record<string, string> = {};
    for (const file of await this.store.files(this.api.status.artifact!, "")) {
      out[file.path] = await file.read().then((d) => new TextDecoder().decode(d), (e: Error) => `! ${e.message}`);
    }
    return out;
  }
}

/** Runs a test in a new world. */
export async function inWorld(run: (w: World) => Promise<void>, limits: Record<string, number> = {}): Promise<void> {
  await using git = await GitFixture.make();
  await run(new World(git, limits));
}

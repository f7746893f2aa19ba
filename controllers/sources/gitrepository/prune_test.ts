import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GitRepository, Release } from "../../../shared/api/mod.ts";
import type { ArtifactStore } from "../../../shared/artifact/mod.ts";
import { FakeClock } from "../../../shared/runtime/clock.ts";
import { silentLogger } from "../../../shared/runtime/logger.ts";
import { neededDigests, Pruner } from "./prune.ts";
import { cleanWorkDir } from "./work_dir.ts";

function pruner(needed: () => Set<string> | undefined, prune: (keep: ReadonlySet<string>) => Promise<void>) {
  const clock = new FakeClock();
  const artifacts = { prune } as unknown as ArtifactStore;
  return { clock, it: new Pruner({ artifacts, clock, logger: silentLogger, needed }) };
}

Deno.test("neededDigests() keeps what sources offer and what Releases run", () => {
  const source = (digest?: string) => ({ status: digest ? { artifact: { digest } } : {} }) as unknown as GitRepository;
  const release = (digest?: string) => ({ status: digest ? { source: { digest } } : undefined }) as unknown as Release;
  const needed = neededDigests([source("a"), source(), source("b")], [release("old"), release(), release("a")]);
  assert.deepEqual([...needed].sort(), ["a", "b", "old"]);
});

Deno.test("Pruner prunes once for many artifacts, ten minutes after the first, and not while nothing is known", async () => {
  const pruned: string[][] = [];
  let known = false;
  const { clock, it } = pruner(() => known ? new Set(["k"]) : undefined, (keep) => {
    pruned.push([...keep]);
    return Promise.resolve();
  });
  for (let i = 0; i < 5; i++) it.request();
  assert.equal(clock.pending, 1);
  await clock.advance(600_000);
  assert.deepEqual(pruned, []);
  known = true;
  await clock.advance(600_000);
  assert.deepEqual(pruned, [["k"]]);
  await clock.advance(3_600_000);
  assert.equal(pruned.length, 1);
});

Deno.test("Pruner lives on after a failure, and stop() leaves no timer", async () => {
  let tries = 0;
  const { clock, it } = pruner(() => new Set(), () => Promise.reject(new Error(`disk ${++tries}`)));
  it.request();
  await clock.advance(600_000);
  it.request();
  await clock.advance(600_000);
  assert.equal(tries, 2);
  it.request();
  await it.stop();
  assert.equal(clock.pending, 0);
});

Deno.test("cleanWorkDir() takes away what dead processes left, and a missing folder is no error", async () => {
  const dir = await mkdtemp(join(tmpdir(), "convoy-work-"));
  try {
    for (const name of [`${Deno.pid}-a`, "4194303-b", "1-c"]) {
      await mkdir(join(dir, name));
      await writeFile(join(dir, name, "gitconfig"), "secret");
    }
    await cleanWorkDir(dir);
    assert.deepEqual(await readdir(dir), ["1-c"]);
    await cleanWorkDir(join(dir, "none"));
  } finally {
    await rm(dir, { recursive: true });
  }
});

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { exactJson } from "./path_element.ts";
import { readSequence, replay } from "./replay_harness.ts";

const FOLDER = fileURLToPath(new URL("../../../shared/ssa_vectors/", import.meta.url));

function list(): string[] {
  try {
    return readdirSync(FOLDER).filter((f) => /^\d+-.*\.json$/.test(f)).sort();
  } catch {
    return [];
  }
}

const files = list();

Deno.test({
  name: "replay of the recorded sequences gives what the real server gave",
  ignore: files.length === 0,
  fn() {
    let checked = 0, skipped = 0;
    const differences: string[] = [];
    for (const file of files) {
      const sequence = readSequence(readFileSync(FOLDER + file, "utf8"));
      const result = replay(sequence, exactJson(readFileSync(FOLDER + sequence.schemaRef, "utf8")));
      checked += result.checked;
      skipped += result.skipped;
      differences.push(...result.differences.map((d) => `${file} ${d}`));
    }
    console.log(
      `${files.length} sequences, ${checked} steps compared, ${skipped} of other layers, ${differences.length} differences`,
    );
    assert.deepEqual(differences, []);
  },
});

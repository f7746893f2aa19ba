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

/** Sequences in which Convoy does better than what was recorded (ssa.md §11), by number. */
const BETTER: Record<string, string> = {
  "001": "rule 4: numbers in v: stay exact",
  "022": "rule 45: a posted entry of a foreign version keeps live's entries",
  "278": "rule 55: an entry at a version that is gone is dropped, the others stay",
  "313": "rule 45: a posted entry of a foreign version keeps live's entries",
};

Deno.test({
  name: "replay of the recorded sequences gives what the real server gave",
  ignore: files.length === 0,
  fn() {
    let checked = 0, skipped = 0;
    const differences: string[] = [];
    const better = new Set<string>();
    for (const file of files) {
      const sequence = readSequence(readFileSync(FOLDER + file, "utf8"));
      const result = replay(sequence, exactJson(readFileSync(FOLDER + sequence.schemaRef, "utf8")));
      checked += result.checked;
      skipped += result.skipped;
      if (BETTER[file.slice(0, 3)] && result.differences.length > 0) better.add(file.slice(0, 3));
      else differences.push(...result.differences.map((d) => `${file} ${d}`));
    }
    console.log(
      `${files.length} sequences, ${checked} steps compared, ${skipped} of other layers, ${differences.length} differences, ${better.size} sequences where Convoy does better`,
    );
    assert.deepEqual(differences, []);
    assert.deepEqual([...better].sort(), Object.keys(BETTER).sort());
  },
});

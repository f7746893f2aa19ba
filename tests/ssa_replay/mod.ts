/** Replay of recorded Server-Side Apply sequences: a folder in, differences out. @module */
import { type JsonObject, type JsonValue, parseJson, stringifyJson } from "../../shared/json/mod.ts";
import { replay } from "./replay.ts";
import type { Difference, Sequence } from "./types.ts";

export type { Difference } from "./types.ts";

/** The outcome of a folder. */
export interface ReplayResult {
  sequences: number;
  differences: Difference[];
}

/**
 * Replays all sequences of a folder whose file name contains `only`.
 * @throws Error when the folder or a schema it names cannot be read
 */
export async function replayFolder(folder: string, only = ""): Promise<ReplayResult> {
  const files: string[] = [];
  try {
    for await (const entry of Deno.readDir(folder)) {
      if (entry.isFile && entry.name.endsWith(".json") && entry.name.includes(only)) files.push(entry.name);
    }
  } catch (error) {
    throw new Error(`Cannot replay ${folder}: it cannot be read; give a folder of recorded sequences`, {
      cause: error,
    });
  }
  const schemas = new Map<string, JsonObject>();
  const differences: Difference[] = [];
  for (const file of files.sort()) {
    const sequence = await readJson(`${folder}/${file}`) as unknown as Sequence;
    let schema = schemas.get(sequence.schemaRef);
    if (!schema) {
      schema = await readJson(`${folder}/${sequence.schemaRef}`) as JsonObject;
      schemas.set(sequence.schemaRef, schema);
    }
    differences.push(...await replay(file, sequence, schema));
  }
  return { sequences: files.length, differences };
}

async function readJson(path: string): Promise<JsonValue> {
  try {
    return parseJson(await Deno.readTextFile(path));
  } catch (error) {
    throw new Error(`Cannot replay ${path}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** The text that the script prints. */
export function report({ sequences, differences }: ReplayResult, withAccepted = false): string {
  const left = differences.filter((d) => !d.accepted);
  const lines = [`${sequences} sequences, ${left.length} differences`];
  for (const d of left) lines.push(line(d));
  const counts = new Map<string, number>();
  for (const d of differences) if (d.accepted) counts.set(d.accepted, (counts.get(d.accepted) ?? 0) + 1);
  if (counts.size > 0) {
    const list = [...counts].sort(([a], [b]) => a < b ? -1 : 1).map(([id, n]) => `${id} ${n}`).join(", ");
    lines.push(`accepted besides (tests/ssa_replay/expected_differences.json): ${list}`);
  }
  if (withAccepted) { for (const d of differences) if (d.accepted) lines.push(`[${d.accepted}] ${line(d)}`); }
  return lines.join("\n");
}

function line(d: Difference): string {
  const show = (v: JsonValue | undefined) => {
    const text = v === undefined ? "nothing" : stringifyJson(v);
    return text.length > 600 ? `${text.slice(0, 600)}…` : text;
  };
  return `${d.sequence} step ${d.step}: ${d.path}: expected ${show(d.expected)}, got ${show(d.got)}`;
}

/**
 * Replays a folder of recorded Server-Side Apply sequences through the API server, in process:
 * `deno task ssa:replay DIR [--only TEXT] [--accepted]`. Prints `N sequences, D differences` and each difference; ends
 * with exit code 1 when there are any that `tests/ssa_replay/expected_differences.json` does not accept.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { replayFolder, report } from "../tests/ssa_replay/mod.ts";

const { positionals, values } = parseArgs({
  args: Deno.args,
  allowPositionals: true,
  options: { only: { type: "string" }, accepted: { type: "boolean", default: false }, help: { type: "boolean" } },
});
const [folder] = positionals;
if (!folder || values.help) {
  console.error("Usage: deno task ssa:replay DIR [--only TEXT] [--accepted]");
  Deno.exit(2);
}
const result = await replayFolder(folder, values.only);
console.log(report(result, values.accepted));
Deno.exit(result.differences.some((d) => !d.accepted) ? 1 : 0);

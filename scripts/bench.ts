/** `deno task bench [status-apply|steady-state] [--seconds N]`: prints figures; compares nothing with a clock of the past. @module */
import { parseArgs } from "node:util";
import { benchStatusApply } from "../bench/status_apply.ts";
import { benchSteadyState } from "../bench/steady_state.ts";

const { values, positionals } = parseArgs({
  args: Deno.args,
  options: { seconds: { type: "string", default: "60" } },
  allowPositionals: true,
});
const benches: Record<string, () => Promise<void>> = {
  "status-apply": () => benchStatusApply(console.log),
  "steady-state": () => benchSteadyState(console.log, Number(values.seconds) * 1000),
};
const wanted = positionals.length > 0 ? positionals : Object.keys(benches);
for (const name of wanted) {
  const bench = benches[name];
  if (!bench) {
    console.error(`There is no bench "${name}": there are ${Object.keys(benches).join(", ")}`);
    Deno.exit(2);
  }
  console.log(`== ${name}`);
  await bench();
}

import assert from "node:assert/strict";
import { UsageError } from "./output.ts";
import { parseProcessFile } from "./process_file.ts";

const refuses = (text: string, message: RegExp) =>
  assert.throws(() => parseProcessFile(text, "d.yaml", {}), (e) => e instanceof UsageError && message.test(e.message));

Deno.test("parseProcessFile() gives each replica its name and its variables", () => {
  const specs = parseProcessFile(
    `
defaults: {PORT: "1"}
processes:
- name: server
  args: [run, "--listen=h:\${PORT}"]
- name: worker
  after: server
  replicas: 2
  args: [run, "--data-dir=\${DATA}/\${REPLICA}"]
`,
    "d.yaml",
    { DATA: "/x", PORT: "7" },
  );
  assert.deepEqual(specs.map((s) => [s.name, s.args.at(-1), s.after]), [
    ["server", "--listen=h:7", undefined],
    ["worker-0", "--data-dir=/x/0", "server"],
    ["worker-1", "--data-dir=/x/1", "server"],
  ]);
});

Deno.test("parseProcessFile() names the field, or the variable, that is wrong", () => {
  refuses("processes: [{name: a, args: [run], replica: 2}]", /processes\.0: .*replica/);
  refuses("processes: [{name: a, args: ['${NOPE}']}]", /NOPE has no value; give --set NOPE=VALUE/);
  refuses("processes: [{name: a, args: [run], after: b}]", /after names no other process: "b"/);
  refuses("processes: [", /Cannot read the deployment file/);
  refuses("x: 1", /processes/);
});

Deno.test("deploy/three-processes.yaml is a deployment file of the page's three processes", async () => {
  const text = await Deno.readTextFile(new URL("../deploy/three-processes.yaml", import.meta.url));
  const specs = parseProcessFile(text, "three-processes.yaml", { DATA: "/d" });
  assert.deepEqual([...new Set(specs.map((s) => s.group))], ["apiserver", "controller-manager", "observer"]);
  assert.equal(specs.filter((s) => s.group === "controller-manager").length, 2);
});

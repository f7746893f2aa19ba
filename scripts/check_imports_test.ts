import assert from "node:assert/strict";
import { findOffences } from "./check_imports.ts";

const why = (file: string, line: string) => findOffences(new Map([[file, line]])).map((o) => o.why);

Deno.test("findOffences() lets a role import shared/ by its door and itself", () => {
  assert.deepEqual(why("controllers/release/a.ts", `import { x } from "../../shared/kube/mod.ts";`), []);
  assert.deepEqual(why("controllers/release/a.ts", `import type { x } from "../../shared/kube/contract.ts";`), []);
  assert.deepEqual(why("controllers/release/a.ts", `import { x } from "./b.ts";`), []);
});

Deno.test("findOffences() refuses a role that imports another role", () => {
  assert.match(why("observer/drift/a.ts", `import { x } from "../health/mod.ts";`)[0]!, /never another role/);
  assert.match(why("simcluster/a.ts", `import { x } from "../apiserver/mod.ts";`)[0]!, /never another role/);
});

Deno.test("findOffences() refuses shared/ that imports a role, and a way past a door", () => {
  assert.match(why("shared/kube/a.ts", `import { x } from "../../apiserver/mod.ts";`)[0]!, /nothing outside shared/);
  assert.match(why("shared/kube/a.ts", `import { x } from "../server/handler.ts";`)[0]!, /entered by its mod.ts/);
  assert.match(why("shared/ssa/a.ts", `import { x } from "../json/mod.ts";`)[0]!, /imports nothing from the rest/);
});

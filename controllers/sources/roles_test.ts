import assert from "node:assert/strict";
import type { Logger } from "../../shared/runtime/logger.ts";
import type { RoleContext } from "../../shared/runtime/role.ts";
import { helmRegistryRole } from "./helmregistry/mod.ts";
import { ociRegistryRole } from "./ociregistry/mod.ts";

for (const role of [helmRegistryRole, ociRegistryRole]) {
  Deno.test(`role ${role.name} says once that it has nothing to do yet, and stays up until it is stopped`, async () => {
    const lines: string[] = [];
    const logger = { info: (message: string) => void lines.push(message) } as unknown as Logger;
    const abort = new AbortController();
    let ended = false;
    const run = role.run({ logger, signal: abort.signal } as unknown as RoleContext).then(() => ended = true);
    await Promise.resolve();
    assert.equal(ended, false);
    assert.deepEqual(lines, ["Role has nothing to do yet"]);
    abort.abort();
    await run;
    await role.run({ logger, signal: abort.signal } as unknown as RoleContext);
  });
}

/** Fails when a second writer of a status or inventory field appears in the source. */
import assert from "node:assert/strict";
import { walkSource } from "./source_files.ts";

/** Field manager → the only files that may name it. */
const OWNERS: Record<string, readonly string[]> = {
  "convoy-release-controller": ["shared/status/release_controller.ts"],
  "convoy-drift": ["shared/status/in_sync.ts", "shared/inventory/drift.ts"],
  "convoy-health": ["shared/status/health.ts", "shared/inventory/health.ts"],
  "convoy-release-inventory": ["shared/inventory/put.ts"],
  "convoy-release-hooks": ["shared/inventory/put_hooks.ts"],
};

/** The only files that may send a write of a kind that several loops share. */
const WRITERS: Record<string, readonly string[]> = {
  RELEASES: [
    "shared/status/release_controller.ts",
    "shared/status/in_sync.ts",
    "shared/status/health.ts",
    // Finalizer by PUT.
    "controllers/release/step_finalize.ts",
  ],
  RELEASE_INVENTORIES: [
    "shared/inventory/put.ts",
    "shared/inventory/put_hooks.ts",
    "shared/inventory/health.ts",
    "shared/inventory/drift.ts",
    // Deletion with the Release.
    "controllers/release/step_finalize.ts",
  ],
};

const LOOPS = /^(controllers|observer|shared)\//;
const WRITE = /\.(apply|patch|update|create|delete)\s*(<[^(]*>)?\(/;

Deno.test("rule 1: each field manager is named by its own writer and by nothing else", async () => {
  const found: Record<string, string[]> = Object.fromEntries(Object.keys(OWNERS).map((name) => [name, []]));
  for (const { path, text } of await walkSource()) {
    for (const name of Object.keys(OWNERS)) if (text.includes(`"${name}"`)) found[name]!.push(path);
  }
  for (const [name, files] of Object.entries(OWNERS)) assert.deepEqual(found[name], [...files].sort(), name);
});

Deno.test("rule 1: Release and ReleaseInventory are written by their writers and by no other loop", async () => {
  for (const { path, text } of await walkSource()) {
    if (!LOOPS.test(path)) continue;
    for (const [resource, files] of Object.entries(WRITERS)) {
      if (files.includes(path)) continue;
      const writes = text.split("\n").filter((line) =>
        (WRITE.test(line) || /sendOwned\(/.test(line)) && new RegExp(`\\b${resource}\\b`).test(line)
      );
      const sends = /\bsendOwned\(/.test(text) && new RegExp(`resource: ${resource}\\b`).test(text);
      assert.deepEqual([path, writes, sends], [path, [], false]);
    }
  }
});

Deno.test("rule 1: sendOwned(), the one way to send such a patch, is used by the writers alone", async () => {
  const allowed = new Set(Object.values(OWNERS).flat().concat("shared/status/writer.ts", "shared/status/mod.ts"));
  for (const { path, text } of await walkSource()) {
    assert.ok(!/\bsendOwned\b/.test(text) || allowed.has(path), `${path} uses sendOwned`);
  }
});

Deno.test("rule 8: the field manager of applied objects is named once, for the apply and the dry run alike", async () => {
  const named = (await walkSource()).filter(({ path, text }) =>
    LOOPS.test(path) && /fieldManager: "convoy"|MANAGER = "convoy"/.test(text)
  );
  assert.deepEqual(named.map((f) => f.path), ["shared/apply/apply.ts"]);
});

Deno.test("no Release has a Ready condition", async () => {
  for (const { path, text } of await walkSource()) {
    if (!/^(controllers\/release|observer|shared\/status|shared\/inventory)\//.test(path)) continue;
    // Sources have one, and the Release controller reads it.
    const sets = text.split("\n").filter((line) => /"Ready"/.test(line) && !/findCondition/.test(line));
    const suspicious = sets.filter((line) => /type: "Ready"|set\("Ready"/.test(line));
    assert.deepEqual([path, suspicious], [path, []]);
  }
});

Deno.test("rule 9: the other controllers write status by UpdateStatus without a field manager", async () => {
  for (const { path, text } of await walkSource()) {
    if (!/^controllers\/(cluster|sources)\//.test(path)) continue;
    assert.ok(!/fieldManager/.test(text), `${path} names a field manager`);
    assert.ok(!/\.(apply|patch)\s*(<[^(]*>)?\(/.test(text), `${path} patches`);
  }
});

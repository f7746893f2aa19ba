import assert from "node:assert/strict";
import { splitRenders } from "./retention.ts";

const NOW = Date.UTC(2026, 0, 10);
const row = (renderRef: string, day: number) => ({
  renderRef,
  revision: renderRef,
  time: `2026-01-0${day}T00:00:00Z`,
  size: 1,
  objects: 1,
});
const rows = [row("a", 1), row("b", 5), row("c", 9)];
const refs = (list: { renderRef: string }[]) => list.map((r) => r.renderRef);

Deno.test("splitRenders() keeps the newest ones by count", () => {
  const { keep, drop } = splitRenders(rows, { count: 2 }, new Set(), NOW);
  assert.deepEqual([refs(keep), refs(drop)], [["b", "c"], ["a"]]);
});

Deno.test("splitRenders() drops what is older than maxAge, but not what is in use", () => {
  const { keep, drop } = splitRenders(rows, { count: 10, maxAge: "48h" }, new Set(["a"]), NOW);
  assert.deepEqual([refs(keep), refs(drop)], [["a", "c"], ["b"]]);
});

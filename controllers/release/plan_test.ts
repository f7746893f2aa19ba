import assert from "node:assert/strict";
import * as fc from "fast-check";
import { entryId, type Member } from "../../shared/inventory/mod.ts";
import { type LiveMark, type PlanObject, planRollout } from "./plan.ts";

const object = (name: string, wave = 0): PlanObject => ({
  group: "",
  kind: "ConfigMap",
  namespace: "t1",
  name,
  version: "v1",
  wave,
});
const member = (name: string, renderRef = "old"): Member => ({ ...object(name), renderRef });

interface Case {
  name: string;
  render: string[];
  members: Member[];
  marks?: Record<string, LiveMark>;
  prune?: boolean;
  fullyApplied?: boolean;
  want: { apply?: string[]; conflicts?: string[]; prune?: string[]; letGo?: string[]; entries: string[] };
}

const cases: Case[] = [
  {
    name: "a first render is applied and has no past",
    render: ["a", "b"],
    members: [],
    want: { apply: ["a", "b"], entries: ["a@new", "b@new"] },
  },
  {
    name: "what left the render stays a member until all is applied",
    render: ["a"],
    members: [member("a"), member("b")],
    want: { apply: ["a"], entries: ["a@new", "b@old"] },
  },
  {
    name: "what left the render is pruned when all is applied, last applied first",
    render: ["a"],
    members: [member("a", "new"), member("b"), member("c")],
    fullyApplied: true,
    want: { apply: ["a"], prune: ["c", "b"], entries: ["a@new", "b@old", "c@old"] },
  },
  {
    name: "an object of the render with another Release's mark is a conflict and stays a member",
    render: ["a", "b"],
    members: [],
    marks: { b: { kind: "other", owner: "t1/else" } },
    want: { apply: ["a"], conflicts: ["b"], entries: ["a@new", "b@new"] },
  },
  {
    name: "a stale member that is gone, unmarked or another's is let go and not deleted",
    render: ["a"],
    members: [member("b"), member("c"), member("d"), member("e")],
    marks: {
      b: { kind: "absent" },
      c: { kind: "none" },
      d: { kind: "other", owner: "t1/else" },
      e: { kind: "own" },
    },
    fullyApplied: true,
    want: { apply: ["a"], prune: ["e"], letGo: ["b", "c", "d"], entries: ["a@new", "e@old"] },
  },
  {
    name: "without spec.prune stale members are let go",
    render: ["a"],
    members: [member("b")],
    prune: false,
    fullyApplied: true,
    want: { apply: ["a"], letGo: ["b"], entries: ["a@new"] },
  },
  {
    name: "an empty render that is allowed prunes everything",
    render: [],
    members: [member("a"), member("b")],
    fullyApplied: true,
    want: { prune: ["b", "a"], entries: ["a@old", "b@old"] },
  },
];

for (const c of cases) {
  Deno.test(`planRollout(): ${c.name}`, () => {
    const marks = new Map(Object.entries(c.marks ?? {}).map(([name, mark]) => [entryId(object(name)), mark]));
    const plan = planRollout({
      renderRef: "new",
      objects: c.render.map((name) => object(name)),
      members: c.members,
      marks,
      prune: c.prune ?? true,
      fullyApplied: c.fullyApplied ?? false,
    });
    assert.deepEqual(plan.apply.map((o) => o.name), c.want.apply ?? []);
    assert.deepEqual(plan.conflicts.map((o) => o.object.name), c.want.conflicts ?? []);
    assert.deepEqual(plan.prune.map((m) => m.name), c.want.prune ?? []);
    assert.deepEqual(plan.letGo.map((l) => l.member.name), c.want.letGo ?? []);
    assert.deepEqual(plan.entries.map((e) => `${e.name}@${e.renderRef}`), c.want.entries);
  });
}

Deno.test("planRollout() never loses track of an object: each stays a member, is pruned or is let go", () => {
  const names = fc.uniqueArray(fc.constantFrom(..."abcdefgh"), { maxLength: 8 });
  const mark = fc.constantFrom<LiveMark>({ kind: "absent" }, { kind: "own" }, { kind: "none" }, {
    kind: "other",
    owner: "x",
  });
  fc.assert(
    fc.property(
      names,
      names,
      fc.dictionary(fc.constantFrom(..."abcdefgh"), mark),
      fc.boolean(),
      fc.boolean(),
      (r, m, marks, prune, full) => {
        const plan = planRollout({
          renderRef: "new",
          objects: r.map((n) => object(n)),
          members: m.map((n) => member(n)),
          marks: new Map(Object.entries(marks).map(([n, k]) => [entryId(object(n)), k])),
          prune,
          fullyApplied: full,
        });
        const kept = new Set(plan.entries.map((e) => e.name));
        const letGo = new Set(plan.letGo.map((l) => l.member.name));
        for (const n of [...r, ...m]) assert.ok(kept.has(n) !== letGo.has(n), n);
        if (!full) assert.deepEqual([plan.prune, plan.letGo], [[], []]);
        for (const p of plan.prune) assert.ok(!r.includes(p.name) && kept.has(p.name));
      },
    ),
  );
});

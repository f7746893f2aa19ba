import assert from "node:assert/strict";
import fc from "fast-check";
import { ConflictError, type Obj, parseFieldsV1, type Value } from "./mod.ts";
import { encodeJson } from "./path_element.ts";
import { World } from "./test_support.ts";

/** The same text for equal values, whatever the order of their keys. */
const canonical = encodeJson;

const text = fc.constantFrom("1", "2", "3");
const big = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((n) =>
  n >= BigInt(Number.MIN_SAFE_INTEGER) && n <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(n) : n
);
const row = fc.record({
  name: fc.constantFrom("a", "b", "c", "__proto__"),
  value: text,
  note: text,
  tags: fc.uniqueArray(text, { maxLength: 3 }),
}, { requiredKeys: ["name"], noNullPrototype: true });
const key = fc.constantFrom("a", "b", "__proto__", "constructor", "<&>");
const map = fc.array(fc.tuple(key, text), { maxLength: 3 }).map((pairs) => {
  const out: Obj = {};
  for (const [k, v] of pairs) {
    Object.defineProperty(out, k, { value: v, enumerable: true, writable: true, configurable: true });
  }
  return out;
});
const spec = fc.record({
  text,
  number: big,
  maybe: fc.constantFrom("x", null),
  group: fc.record({ a: text, b: text, inner: fc.record({ c: text }, { requiredKeys: [], noNullPrototype: true }) }, {
    requiredKeys: [],
    noNullPrototype: true,
  }),
  whole: fc.record({ a: text }, { noNullPrototype: true }),
  labels: map,
  wholeLabels: map,
  tags: fc.uniqueArray(text, { maxLength: 3 }),
  ids: fc.uniqueArray(big, { maxLength: 3 }),
  rows: fc.uniqueArray(row, { selector: (r) => r.name, maxLength: 3 }),
  ports: fc.uniqueArray(
    fc.record({ port: fc.constantFrom(80, 443), protocol: fc.constantFrom("TCP", "UDP"), name: text }, {
      noNullPrototype: true,
    }),
    {
      selector: (p) => p.port + p.protocol,
      maxLength: 3,
    },
  ),
  plain: fc.array(text, { maxLength: 2 }),
  free: map,
}, { requiredKeys: [], noNullPrototype: true }) as unknown as fc.Arbitrary<Obj>;

/** One write of anybody: applies with and without force, and updates. */
const write = fc.record({
  manager: fc.constantFrom("a", "b", "c"),
  op: fc.constantFrom("apply", "force", "put"),
  spec,
}, { noNullPrototype: true });

function run(world: World, w: { manager: string; op: string; spec: Obj }): boolean {
  if (w.op === "put") {
    world.put(w.manager, { metadata: world.live?.metadata ?? { name: "x" }, spec: w.spec });
    return true;
  }
  try {
    world.apply(w.manager, { spec: w.spec }, { force: w.op === "force" });
    return true;
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    return false;
  }
}

function history(writes: { manager: string; op: string; spec: Obj }[]): World {
  const world = new World();
  for (const w of writes) run(world, w);
  return world;
}

const writes = fc.array(write, { maxLength: 5 });

function law(name: string, check: (world: World, config: Obj) => void): void {
  Deno.test(`law: ${name}`, () => {
    fc.assert(fc.property(writes, spec, (ws, config) => check(history(ws), config)), { numRuns: 150 });
  });
}

law("applying twice is applying once", (world, config) => {
  world.apply("m", { spec: config }, { force: true });
  const once = canonical(world.live!);
  world.apply("m", { spec: config }, { force: true });
  // A config of nothing but empty lists may drop its list first and store it then (rule 35).
  if (!hasEmptyList(config)) {
    assert.equal(world.noop, true);
    assert.equal(canonical(world.live!), once);
  }
  world.apply("m", { spec: config });
  world.apply("m", { spec: config });
  assert.equal(world.noop, true);
});

law("what is applied with force is what is there, but for what others keep beside it", (world, config) => {
  world.apply("m", { spec: config }, { force: true });
  const live = world.spec as Obj;
  if (typeof config.text === "string") assert.equal(live.text, config.text);
  if (config.number !== undefined) assert.equal(live.number, config.number);
  if (config.plain) assert.deepEqual(live.plain, config.plain);
  if (config.wholeLabels) assert.equal(canonical(live.wholeLabels!), canonical(config.wholeLabels));
  for (const list of ["tags", "ids"]) {
    const mine = (config[list] ?? []) as Value[];
    const there = (live[list] ?? []) as Value[];
    assert.deepEqual(there.filter((v) => mine.includes(v)), mine, "in the config's order");
    assert.equal(new Set(there).size, there.length);
  }
  const names = ((config.rows ?? []) as Obj[]).map((r) => r.name);
  const there = ((live.rows ?? []) as Obj[]).map((r) => r.name);
  assert.deepEqual(there.filter((n) => names.includes(n)), names);
});

law("a manager owns after an apply exactly what it would own of an empty object", (world, config) => {
  world.apply("m", { spec: config }, { force: true });
  const alone = new World();
  alone.apply("m", { spec: config });
  assert.equal(world.owners()["m Apply"], alone.owners()["m Apply"]);
});

law("a refused apply changes nothing, and force then takes exactly the paths that were told", (world, config) => {
  const before = canonical(world.live ?? {});
  const owners = sets(world);
  let conflict: ConflictError;
  try {
    world.apply("m", { spec: config });
    return;
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    conflict = error;
  }
  assert.equal(canonical(world.live ?? {}), before);
  world.apply("m", { spec: config }, { force: true });
  const lost: string[] = [];
  for (const [owner, paths] of owners) {
    const now = sets(world).get(owner) ?? new Set();
    for (const path of paths) if (!now.has(path)) lost.push(path);
  }
  const told = conflict.causes.map((c) => c.field);
  for (const path of told) assert.ok(lost.includes(path), `${path} was told and is kept`);
  // A fresh manager prunes nothing: nothing else may go.
  for (const path of lost) {
    assert.ok(told.includes(path), `${path} was lost and not told`);
  }
});

law("leaving everything out gives everything back that nobody else owns", (world, config) => {
  const before = sets(world);
  try {
    world.apply("m", { spec: config });
  } catch (error) {
    if (error instanceof ConflictError) return;
    throw error;
  }
  world.apply("m", {});
  const after = sets(world);
  assert.equal(after.has("m Apply"), false);
  for (const [owner, paths] of before) assert.deepEqual(after.get(owner), paths, `${owner} lost nothing`);
});

law("every leaf that someone owns is in the object, and entries survive their wire form", (world) => {
  const text = JSON.stringify(world.entries());
  for (const entry of world.entries()) {
    assert.ok(parseFieldsV1(JSON.parse(JSON.stringify(entry.fieldsV1))).equals(parseFieldsV1(entry.fieldsV1!)));
  }
  assert.equal(JSON.stringify(world.entries()), text);
});

law("what an update changes belongs to the updater alone", (world, config) => {
  if (!world.live) return;
  world.put("u", { metadata: world.live.metadata!, spec: { text: "was" } });
  world.put("u2", { metadata: world.live!.metadata!, spec: { ...config, text: "is" } });
  const owners = [...sets(world)].filter(([, paths]) => paths.has(".spec.text")).map(([owner]) => owner);
  assert.deepEqual(owners, world.entries().length > 0 ? ["u2 Update"] : []);
});

Deno.test("law: managers of different fields commute in content and ownership", () => {
  const split = fc.tuple(spec, spec).map(([x, y]) => {
    const mine: Obj = {}, theirs: Obj = {};
    Object.keys(x).forEach((k, i) => i % 2 === 0 ? mine[k] = x[k]! : undefined);
    Object.keys(y).forEach((k) => k in mine ? undefined : theirs[k] = y[k]!);
    return [mine, theirs] as const;
  });
  fc.assert(
    fc.property(split, ([x, y]) => {
      const one = new World(), other = new World();
      one.apply("a", { spec: x });
      one.apply("b", { spec: y });
      other.apply("b", { spec: y });
      other.apply("a", { spec: x });
      assert.equal(canonical(one.spec ?? null), canonical(other.spec ?? null));
      assert.deepEqual(one.owners(), other.owners());
    }),
    { numRuns: 200 },
  );
});

Deno.test("law: three writers of one status never lose a field to each other", () => {
  const condition = (type: string, status: string) => ({ type, status, message: `${type} ${status}` });
  const types = { controller: ["Applied", "Rollout"], drift: ["InSync"], health: ["Healthy"] } as const;
  const step = fc.record({
    who: fc.constantFrom("controller", "drift", "health"),
    status: fc.constantFrom("True", "False", "Unknown"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const world = new World();
      world.put("user", { spec: { text: "1" } });
      const expected = new Map<string, string>();
      for (const { who, status } of steps) {
        const conditions = types[who as keyof typeof types].map((t) => condition(t, status));
        world.apply(who, { status: { conditions } }, { subresource: "status", force: true });
        for (const c of conditions) expected.set(c.type, c.status);
        const live = ((world.live!.status as Obj).conditions as Obj[]).map((c) => [c.type, c.status]);
        assert.deepEqual(new Map(live as [string, string][]), expected);
        for (const [owner, type] of [["controller", "Applied"], ["drift", "InSync"], ["health", "Healthy"]]) {
          const paths = world.owners()[`${owner} Apply #status`] ?? "";
          assert.equal(paths.includes(`[type="${type}"].status`), expected.has(type!));
          const strangers = Object.values(types).flat().filter((t) =>
            !(types[owner as keyof typeof types] as readonly string[]).includes(t)
          );
          for (const t of strangers) assert.ok(!paths.includes(`"${t}"`));
        }
      }
    }),
    { numRuns: 60 },
  );
});

function sets(world: World): Map<string, Set<string>> {
  return new Map(Object.entries(world.owners()).map(([owner, paths]) => [owner, new Set(paths.split(/ (?=\.)/))]));
}

function hasEmptyList(value: Value): boolean {
  if (Array.isArray(value)) return value.length === 0 || value.some(hasEmptyList);
  return typeof value === "object" && value !== null && Object.values(value).some(hasEmptyList);
}

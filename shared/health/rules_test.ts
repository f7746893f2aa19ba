import assert from "node:assert/strict";
import { assess, compileHealthRules, type HealthRule } from "./mod.ts";

const app = (status: unknown, generation = 1) => ({
  apiVersion: "demo.example/v1",
  kind: "App",
  metadata: { name: "a", namespace: "t1", generation },
  spec: { replicas: 3, ratio: 0.5 },
  ...(status === undefined ? {} : { status }),
});
const rule = (parts: Partial<HealthRule>): HealthRule => ({ group: "demo.example", kind: "App", ...parts });
const state = (object: object, ...rules: HealthRule[]) => assess(object, { rules: compileHealthRules(rules) });

Deno.test("healthRules are tried in the order degraded, progressing, healthy", () => {
  const r = rule({
    healthy: "object.status.phase == 'Up'",
    progressing: "object.status.phase in ['Up', 'Starting']",
    degraded: "object.status.phase == 'Broken' || object.status.phase == 'Both'",
  });
  assert.equal(state(app({ phase: "Broken" }), r).state, "Degraded");
  assert.equal(state(app({ phase: "Up" }), r).state, "Progressing");
  assert.equal(state(app({ phase: "Up" }), rule({ healthy: r.healthy! })).state, "Healthy");
  assert.equal(
    state(app({ phase: "Nothing" }), r).state,
    "Progressing",
    "what is not healthy by its rule is not yet so",
  );
});

Deno.test("healthRules without a word on healthy leave the rest to the built-in rule", () => {
  const r = rule({ degraded: "object.status.phase == 'Broken'" });
  assert.equal(state(app({ phase: "Up" }), r).state, "Healthy");
  assert.equal(
    state(app({ phase: "Up", conditions: [{ type: "Ready", status: "False" }] }), r).state,
    "Progressing",
  );
});

Deno.test("healthRules of another kind or group do not count", () => {
  assert.equal(state(app({}), rule({ kind: "Other", degraded: "true" })).state, "Healthy");
  assert.equal(state(app({}), rule({ group: "", degraded: "true" })).state, "Healthy");
});

Deno.test("healthRules: several rules of one kind are tried in turn", () => {
  const rules = [rule({ degraded: "object.status.a" }), rule({ degraded: "object.status.b", healthy: "true" })];
  assert.equal(state(app({ a: false, b: true }), ...rules).state, "Degraded");
  assert.equal(state(app({ a: false, b: false }), ...rules).state, "Healthy");
});

Deno.test("healthRules see whole numbers as ints and fractions as doubles", () => {
  const holds = (healthy: string) => state(app({ ready: 2 }), rule({ healthy })).state;
  assert.equal(holds("object.status.ready + 1 == object.spec.replicas"), "Healthy");
  assert.equal(holds("object.spec.ratio < 1.0"), "Healthy");
  assert.equal(holds("object.status.ready % 2 == 0"), "Healthy");
});

Deno.test("C21: healthRules are not asked while the status is about another generation", () => {
  const r = rule({ healthy: "true" });
  assert.equal(state(app({ observedGeneration: 1 }, 2), r).state, "Progressing");
  assert.equal(state(app({ observedGeneration: 2 }, 2), r).state, "Healthy");
});

for (
  const [name, expression, message] of [
    ["a missing field", "object.status.nope.x == 1", /No such key: nope/],
    ["no boolean", "object.spec.replicas", /must give true or false, not bigint/],
    ["null", "object.status.none", /not null/],
    ["syntax", "object.status ==", /Cannot evaluate the rule "degraded"/],
    ["an unknown function", "frobnicate(object)", /frobnicate/],
    ["an unknown variable", "self.status == 1", /self/],
    ["division by zero", "1 / 0 == 1", /division by zero/i],
    ["too many nodes", Array(3000).fill("true").join(" && "), /./],
    ["deep nesting", "(".repeat(500) + "true" + ")".repeat(500), /./],
    ["a bad regular expression", "'x'.matches('(')", /./],
  ] as const
) {
  Deno.test(`healthRules: ${name} makes the object Unknown with the reason and throws nothing`, () => {
    const got = state(app({ none: null }), rule({ degraded: expression }));
    assert.equal(got.state, "Unknown");
    assert.match(got.message, message);
    assert.ok(got.message.length <= 400);
  });
}

Deno.test("healthRules: a rule that could run for ages is refused", () => {
  const items = Array.from({ length: 2000 }, (_, i) => i);
  const slow = "object.status.l.all(a, object.status.l.all(b, object.status.l.all(c, a + b + c >= 0)))";
  const got = state(app({ l: items }), rule({ healthy: slow }));
  assert.equal(got.state, "Unknown");
  assert.match(got.message, /too costly/);
  assert.equal(state(app({ l: [1, 2, 3] }), rule({ healthy: slow })).state, "Healthy");
});

Deno.test("healthRules: matches takes linear time and works with brackets, in loops and in texts", () => {
  const evil = state(app({ s: "a".repeat(40) + "!" }), rule({ degraded: "object.status.s.matches('^(a+)+$')" }));
  assert.equal(evil.state, "Healthy");
  const r = (healthy: string) => state(app({ s: "v1.2", l: ["a1", "a2"] }), rule({ healthy })).state;
  assert.equal(r("(object.status.s).matches('v[0-9]+') && object.status.l.all(x, x.matches('a.'))"), "Healthy");
  assert.equal(r("object.status.s + '.matches(' == 'v1.2.matches('"), "Healthy");
  assert.equal(r("object.status.s.matches('matches') || 'matches'.matches('matches')"), "Healthy");
});

Deno.test("healthRules cannot reach prototypes", () => {
  for (const path of ["object.constructor", "object.__proto__", "object.status.toString"]) {
    assert.equal(state(app({}), rule({ healthy: `${path} == 1` })).state, "Unknown");
  }
});

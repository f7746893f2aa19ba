/** The storage suite's property: a store and a model that keeps every state agree at every revision. @module */
import assert from "node:assert/strict";
import fc from "fast-check";
import { type Storage, StorageConflict } from "./contract.ts";
import { collect } from "./conformance_kit.ts";
import { compareKeys } from "./keys.ts";

type Step =
  | { do: "put" | "delete"; key: string }
  | { do: "compact"; back: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ do: fc.constant("put" as const), key: fc.constantFrom("a", "b", "c", "a/x") }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("delete" as const), key: fc.constantFrom("a", "b", "c") }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("compact" as const), back: fc.nat(6) }) },
  ),
  { maxLength: 40 },
);

/** Checks the property on one store, a fresh prefix for each run. */
export async function conformToModel(store: Storage): Promise<void> {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (plan) => {
      const prefix = `/run${run++}/`;
      const start = await store.currentRevision();
      const states = new Map([[start, new Map<string, string>()]]);
      const expected: [string, string, number][] = [];
      let compacted = start;
      for (const [i, step] of plan.entries()) {
        const now = await store.currentRevision();
        if (step.do === "compact") {
          compacted = Math.max(compacted, now - step.back);
          await store.compact(now - step.back);
          continue;
        }
        const key = prefix + step.key;
        const state = new Map(states.get(now));
        const stored = await store.get(key);
        assert.equal(stored?.value, state.get(key));
        if (step.do === "delete") {
          if (!stored) {
            await assert.rejects(store.delete(key, now), StorageConflict);
            continue;
          }
          await store.delete(key, stored.revision);
          state.delete(key);
          expected.push(["DELETE", key, now + 1]);
        } else {
          await (stored ? store.update(key, `${i}`, stored.revision) : store.create(key, `${i}`));
          state.set(key, `${i}`);
          expected.push([stored ? "UPDATE" : "CREATE", key, now + 1]);
        }
        states.set(now + 1, state);
      }
      for (const [revision, state] of states) {
        if (revision < compacted) continue;
        const page = await store.list(prefix, { revision });
        assert.deepEqual(page.items.map((i) => [i.key, i.value]), [...state].sort(([a], [b]) => compareKeys(a, b)));
        const seen = await collect(store, prefix, revision);
        const wanted = expected.filter(([, , at]) => at > revision);
        await seen.until((events) => events.length >= wanted.length);
        seen.cancel();
        assert.deepEqual(seen.events.map((e) => [e.type, e.key, e.revision]), wanted);
        for (const event of seen.events) {
          assert.equal(event.previous, states.get(event.revision - 1)!.get(event.key));
        }
      }
    }),
    { numRuns: 60 },
  );
}

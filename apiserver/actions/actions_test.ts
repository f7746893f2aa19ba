import assert from "node:assert/strict";
import { cloneJson, type JsonObject } from "../../shared/json/mod.ts";
import { StatusError } from "../../shared/kube/status.ts";
import type { ActionContext } from "../../shared/server/contract.ts";
import { releaseActions } from "./mod.ts";
import { nextRequestTime, parseTime } from "./requested_at.ts";

const ANNOTATION = "convoy.kumodo.io/sync-requested-at";
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 6);

/** Runs an action on a Release and tells what is stored after it. */
async function run(
  action: string,
  method: string,
  body: JsonObject | undefined,
  o: { release?: JsonObject; query?: string; now?: number } = {},
): Promise<JsonObject> {
  const release = o.release ?? { metadata: { name: "shop" }, spec: { cluster: { name: "c" } } };
  const ctx: ActionContext = {
    method,
    namespace: "default",
    name: "shop",
    query: new URLSearchParams(o.query),
    body,
    user: { name: "alice", groups: [] },
    now: o.now ?? NOW,
    async modify(change) {
      const copy = cloneJson(release);
      change(copy);
      return copy;
    },
  };
  assert.ok(releaseActions[action]!.methods.includes(method));
  return await releaseActions[action]!.run(ctx);
}

function annotationOf(release: JsonObject): string {
  return ((release["metadata"] as JsonObject)["annotations"] as JsonObject)[ANNOTATION] as string;
}

async function faults(promise: Promise<unknown>): Promise<[number, ...string[]]> {
  try {
    await promise;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const { code, reason, details } = error.status;
    assert.equal(reason, code === 422 ? "Invalid" : code === 404 ? "NotFound" : "BadRequest");
    return [code, ...(details?.causes ?? []).map((c) => `${c.field} ${c.reason}`)];
  }
  return [200];
}

Deno.test("rule 9: /sync, /pin, /mutations and /lifecycle set the annotation, two in one second differ and sort", async () => {
  const seen: string[] = [];
  let release: JsonObject | undefined;
  const requests: [string, string, JsonObject | undefined][] = [
    ["sync", "POST", undefined],
    ["sync", "POST", {}],
    ["pin", "PUT", { revision: "main@sha1:1" }],
    ["pin", "DELETE", undefined],
    ["mutations", "PUT", { mutations: [] }],
    ["mutations", "DELETE", undefined],
    ["lifecycle", "POST", { action: "Restart" }],
    ["sync", "POST", undefined],
  ];
  for (const [action, method, body] of requests) {
    release = await run(action, method, body, release ? { release } : {});
    seen.push(annotationOf(release));
  }
  assert.equal(seen[0], "2026-01-02T03:04:05.006000000Z");
  assert.equal(seen[1], "2026-01-02T03:04:05.006000001Z");
  assert.equal(new Set(seen).size, requests.length);
  assert.deepEqual(seen, seen.toSorted());
});

Deno.test("nextRequestTime never repeats, follows the clock, and does not follow a value far ahead", () => {
  assert.equal(nextRequestTime(NOW, "2026-01-02T03:04:05.006999999Z"), "2026-01-02T03:04:05.007000000Z");
  assert.equal(nextRequestTime(NOW, "2026-01-02T03:04:05Z"), "2026-01-02T03:04:05.006000000Z");
  assert.equal(nextRequestTime(NOW, "2026-01-02T04:04:05+00:59"), "2026-01-02T03:05:05.000000001Z");
  for (const odd of ["soon", "", "9999-12-31T23:59:59Z", "2026-02-30T00:00:00Z"]) {
    assert.equal(nextRequestTime(NOW, odd), "2026-01-02T03:04:05.006000000Z");
  }
  assert.equal(parseTime("2026-02-29T00:00:00Z"), undefined);
  assert.equal(parseTime("1970-01-01T00:00:01.000000001z"), 1_000_000_001n);
});

Deno.test("/sync keeps everything else, also odd annotations", async () => {
  const release = await run("sync", "POST", undefined, {
    release: { metadata: { annotations: { a: "b", [ANNOTATION]: "nonsense" } }, spec: { x: 1 }, status: { y: 2 } },
  });
  assert.deepEqual(release, {
    metadata: { annotations: { a: "b", [ANNOTATION]: "2026-01-02T03:04:05.006000000Z" } },
    spec: { x: 1 },
    status: { y: 2 },
  });
  assert.deepEqual(await faults(run("sync", "POST", { force: true })), [422, "force FieldValueForbidden"]);
});

Deno.test("PUT /pin records what was asked, by whom and when; DELETE clears it", async () => {
  const body = { renderRef: "sha256:1", reason: "hold", expiresAt: "2026-01-03T00:00:00Z" };
  const pinned = await run("pin", "PUT", body);
  assert.deepEqual((pinned["spec"] as JsonObject)["pin"], { ...body, by: "alice", at: "2026-01-02T03:04:05Z" });
  const repinned = await run("pin", "PUT", { revision: "v1" }, { release: pinned });
  assert.deepEqual((repinned["spec"] as JsonObject)["pin"], {
    revision: "v1",
    by: "alice",
    at: "2026-01-02T03:04:05Z",
  });
  const free = await run("pin", "DELETE", undefined, { release: repinned });
  assert.deepEqual(free["spec"], { cluster: { name: "c" } });
});

Deno.test("PUT /pin refuses bad input with a cause for each fault", async () => {
  const cases: [JsonObject | undefined, [number, ...string[]]][] = [
    [undefined, [400]],
    [{}, [422, "renderRef FieldValueRequired"]],
    [{ renderRef: "a", revision: "b" }, [422, "revision FieldValueForbidden"]],
    [{ renderRef: "" }, [422, "renderRef FieldValueInvalid"]],
    [{ renderRef: 5 }, [422, "renderRef FieldValueTypeInvalid"]],
    [{ revision: "v", expiresAt: "tomorrow" }, [422, "expiresAt FieldValueInvalid"]],
    [{ revision: "v", expiresAt: "2026-01-02T03:04:05Z" }, [422, "expiresAt FieldValueInvalid"]],
    [{ revision: "v", reason: "x".repeat(1025) }, [422, "reason FieldValueTooLong"]],
    [{ revision: "v", by: "bob" }, [422, "by FieldValueForbidden"]],
    [{ revision: null, reason: 1, x: 2 }, [
      422,
      "renderRef FieldValueRequired",
      "reason FieldValueTypeInvalid",
      "x FieldValueForbidden",
    ]],
    [JSON.parse(`{"revision":"v","__proto__":{"renderRef":"x"}}`), [422, "__proto__ FieldValueForbidden"]],
  ];
  for (const [body, wanted] of cases) {
    assert.deepEqual(await faults(run("pin", "PUT", body)), wanted, JSON.stringify(body));
  }
});

const target = { kind: "Deployment", name: "web", group: "apps" };

Deno.test("PUT /mutations replaces the list; what did not change keeps who asked and when", async () => {
  const one = { name: "one", target, mergePatch: { spec: { replicas: 3 } } };
  const two = { name: "two", target: { kind: "Pod" }, jsonPatch: [{ op: "remove", path: "/a~1b/0" }], reason: "r" };
  const first = await run("mutations", "PUT", { mutations: [one, two] });
  const stored = (first["spec"] as JsonObject)["mutations"] as JsonObject[];
  assert.deepEqual(stored, [
    { ...one, by: "alice", at: "2026-01-02T03:04:05Z" },
    { ...two, target: { kind: "Pod", group: "" }, by: "alice", at: "2026-01-02T03:04:05Z" },
  ]);
  const changed = { ...stored[1]!, reason: "other" };
  const later = await run("mutations", "PUT", { mutations: [stored[0]!, changed] }, {
    release: first,
    now: NOW + 60_000,
  });
  const after = (later["spec"] as JsonObject)["mutations"] as JsonObject[];
  assert.deepEqual(after.map((m) => m["at"]), ["2026-01-02T03:04:05Z", "2026-01-02T03:05:05Z"]);

  const left = await run("mutations", "DELETE", undefined, { release: later, query: "name=one" });
  assert.deepEqual(((left["spec"] as JsonObject)["mutations"] as JsonObject[]).map((m) => m["name"]), ["two"]);
  assert.deepEqual(await faults(run("mutations", "DELETE", undefined, { release: left, query: "name=one" })), [404]);
  const none = await run("mutations", "DELETE", undefined, { release: left });
  assert.deepEqual(none["spec"], { cluster: { name: "c" } });
});

Deno.test("PUT /mutations refuses bad input with the path of each fault", async () => {
  const good = { name: "a", target, mergePatch: {} };
  const cases: [JsonObject, string[]][] = [
    [{}, ["mutations FieldValueRequired"]],
    [{ mutations: {} }, ["mutations FieldValueTypeInvalid"]],
    [{ mutations: Array(101).fill(good) }, ["mutations FieldValueTooMany"]],
    [{ mutations: [good, good] }, ["mutations[1].name FieldValueDuplicate"]],
    [{ mutations: [good, 5] }, ["mutations[1] FieldValueTypeInvalid"]],
    [{ mutations: [{ name: "a", target }] }, ["mutations[0].jsonPatch FieldValueRequired"]],
    [{ mutations: [{ ...good, jsonPatch: [] }] }, ["mutations[0].mergePatch FieldValueForbidden"]],
    [{ mutations: [{ mergePatch: {} }] }, [
      "mutations[0].name FieldValueRequired",
      "mutations[0].target FieldValueRequired",
    ]],
    [{ mutations: [{ ...good, target: { name: "x", uid: "y" } }] }, [
      "mutations[0].target.kind FieldValueRequired",
      "mutations[0].target.uid FieldValueForbidden",
    ]],
    [{
      mutations: [{
        name: "a",
        target,
        jsonPatch: [{ op: "set", path: "spec" }, { op: "add", path: "/x" }, { op: "move", path: "/x" }, {
          op: "test",
          path: "/~2",
          value: null,
        }],
      }],
    }, [
      "mutations[0].jsonPatch[0].op FieldValueNotSupported",
      "mutations[0].jsonPatch[0].path FieldValueInvalid",
      "mutations[0].jsonPatch[1].value FieldValueRequired",
      "mutations[0].jsonPatch[2].from FieldValueRequired",
      "mutations[0].jsonPatch[3].path FieldValueInvalid",
    ]],
  ];
  for (const [body, wanted] of cases) {
    assert.deepEqual(await faults(run("mutations", "PUT", body)), [422, ...wanted], JSON.stringify(body).slice(0, 200));
  }
});

Deno.test("POST /lifecycle records the action with a name of its own; Suspend and Resume move spec.suspend", async () => {
  const restart = await run("lifecycle", "POST", { action: "Restart", reason: "config" });
  const { id, ...rest } = (restart["spec"] as JsonObject)["lifecycle"] as JsonObject;
  assert.match(id as string, /^[0-9a-f-]{36}$/);
  assert.deepEqual(rest, { action: "Restart", reason: "config", by: "alice", at: "2026-01-02T03:04:05Z" });
  assert.equal((restart["spec"] as JsonObject)["suspend"], undefined);
  const suspended = await run("lifecycle", "POST", { action: "Suspend" }, { release: restart });
  assert.equal((suspended["spec"] as JsonObject)["suspend"], true);
  const resumed = await run("lifecycle", "POST", { action: "Resume" }, { release: suspended });
  assert.equal((resumed["spec"] as JsonObject)["suspend"], false);
  for (const action of ["Rollback", "Retire"]) {
    const release = await run("lifecycle", "POST", { action }, { release: resumed });
    assert.equal(((release["spec"] as JsonObject)["lifecycle"] as JsonObject)["action"], action);
  }
});

Deno.test("POST /lifecycle: the same id and action counts once, another action under it is new", async () => {
  const first = await run("lifecycle", "POST", { action: "Restart", id: "r1" });
  const again = await run("lifecycle", "POST", { action: "Restart", id: "r1" }, { release: first, now: NOW + 60_000 });
  assert.deepEqual(again["spec"], first["spec"]);
  assert.notEqual(annotationOf(again), annotationOf(first));
  const other = await run("lifecycle", "POST", { action: "Retire", id: "r1" }, { release: first });
  assert.equal(((other["spec"] as JsonObject)["lifecycle"] as JsonObject)["action"], "Retire");
});

Deno.test("POST /lifecycle refuses bad input", async () => {
  const cases: [JsonObject | undefined, [number, ...string[]]][] = [
    [undefined, [400]],
    [{}, [422, "action FieldValueRequired"]],
    [{ action: "Explode" }, [422, "action FieldValueNotSupported"]],
    [{ action: "restart" }, [422, "action FieldValueNotSupported"]],
    [{ action: ["Restart"] }, [422, "action FieldValueTypeInvalid"]],
    [{ action: "Restart", id: "x".repeat(129), to: 1 }, [422, "id FieldValueTooLong", "to FieldValueForbidden"]],
  ];
  for (const [body, wanted] of cases) {
    assert.deepEqual(await faults(run("lifecycle", "POST", body)), wanted, JSON.stringify(body));
  }
});

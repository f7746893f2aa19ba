/** `PUT|DELETE …/releases/NAME/mutations`: changes to rendered objects that are not in the source. @module */
import { equalJson, isObject, type JsonObject, type JsonValue } from "../../shared/json/mod.ts";
import { failure } from "../../shared/kube/status.ts";
import { rfc3339 } from "../../shared/runtime/clock.ts";
import type { ActionHandler, FieldError } from "../../shared/server/contract.ts";
import { Fields, readBody } from "./body.ts";
import { markRequested, specOf } from "./requested_at.ts";

const MAX_MUTATIONS = 100;
const MAX_OPERATIONS = 1000;
const OPERATIONS = ["add", "remove", "replace", "move", "copy", "test"] as const;

/**
 * PUT `{mutations: [{name, target, jsonPatch | mergePatch, reason?, expiresAt?}]}` replaces them all; one that did not
 * change keeps who asked for it and when. DELETE removes them all, or with `?name=` that one.
 */
export const mutations: ActionHandler = {
  methods: ["PUT", "DELETE"],
  run(ctx) {
    if (ctx.method === "DELETE") {
      const name = ctx.query.get("name");
      return ctx.modify((release) => {
        const spec = specOf(release);
        if (name === null) delete spec["mutations"];
        else spec["mutations"] = without(listOf(spec), name, ctx.name);
        markRequested(release, ctx.now);
      });
    }
    const wanted = readBody(ctx, (fields) => readMutations(fields, ctx.now));
    return ctx.modify((release) => {
      const spec = specOf(release);
      const before = listOf(spec);
      spec["mutations"] = wanted.map((mutation) => {
        const same = before.find((old) =>
          equalJson({ ...old, by: null, at: null }, { ...mutation, by: null, at: null })
        );
        return same ?? { ...mutation, by: ctx.user.name, at: rfc3339(ctx.now) };
      });
      markRequested(release, ctx.now);
    });
  },
};

function listOf(spec: JsonObject): JsonObject[] {
  return Array.isArray(spec["mutations"]) ? spec["mutations"].filter(isObject) : [];
}

function without(list: JsonObject[], name: string, release: string): JsonObject[] {
  const rest = list.filter((mutation) => mutation["name"] !== name);
  if (rest.length < list.length) return rest;
  throw failure(404, "NotFound", `The Release "${release}" has no mutation "${name}"`, { name });
}

function readMutations(fields: Fields, now: number): JsonObject[] {
  const seen = new Set<string>();
  const result: JsonObject[] = [];
  for (const [i, item] of (fields.list("mutations", { required: true, max: MAX_MUTATIONS }) ?? []).entries()) {
    const path = `mutations[${i}]`;
    if (!isObject(item)) {
      fields.fail(path, "FieldValueTypeInvalid", "Invalid value: must be an object");
      continue;
    }
    const mutation = readMutation(new Fields(item, fields.errors, path), now);
    const name = mutation["name"];
    if (typeof name === "string" && seen.has(name)) {
      fields.fail(`${path}.name`, "FieldValueDuplicate", `Duplicate value: ${JSON.stringify(name)}`);
    } else if (typeof name === "string") seen.add(name);
    result.push(mutation);
  }
  return result;
}

function readMutation(fields: Fields, now: number): JsonObject {
  const mutation: JsonObject = {};
  const put = (name: string, value: JsonValue | undefined) => {
    if (value !== undefined) mutation[name] = value;
  };
  put("name", fields.text("name", { required: true, max: 63 }));
  const target = fields.record("target", { required: true });
  if (target) put("target", readTarget(new Fields(target, fields.errors, fields.at("target"))));
  fields.oneOf("jsonPatch", "mergePatch");
  const patch = fields.list("jsonPatch", { max: MAX_OPERATIONS });
  patch?.forEach((operation, i) => checkOperation(operation, `${fields.at("jsonPatch")}[${i}]`, fields.errors));
  put("jsonPatch", patch);
  put("mergePatch", fields.record("mergePatch"));
  put("reason", fields.text("reason"));
  put("expiresAt", fields.future("expiresAt", now));
  // A client that sends back what it read sends these too; who asked is not for it to say.
  fields.raw("by");
  fields.raw("at");
  fields.end();
  return mutation;
}

function readTarget(fields: Fields): JsonObject {
  const target: JsonObject = {};
  const group = fields.raw("group");
  if (group !== undefined && typeof group !== "string") fields.text("group");
  // The schema's default, put here so that an unchanged mutation is seen to be unchanged.
  target["group"] = typeof group === "string" ? group : "";
  for (const name of ["kind", "namespace", "name"]) {
    const value = fields.text(name, { required: name === "kind", max: 253 });
    if (value !== undefined) target[name] = value;
  }
  fields.end();
  return target;
}

function checkOperation(operation: JsonValue, path: string, errors: FieldError[]): void {
  if (!isObject(operation)) {
    errors.push({ field: path, type: "FieldValueTypeInvalid", message: "Invalid value: must be an object" });
    return;
  }
  const fields = new Fields(operation, errors, path);
  const op = fields.word("op", OPERATIONS);
  checkPointer(fields, "path", true);
  checkPointer(fields, "from", op === "move" || op === "copy");
  const needsValue = op === "add" || op === "replace" || op === "test";
  fields.raw("value");
  if (needsValue && !Object.hasOwn(operation, "value")) fields.fail("value", "FieldValueRequired", "Required value");
  fields.end();
}

/** RFC 6901: empty, or begins with a slash; a tilde is followed by 0 or 1. */
function checkPointer(fields: Fields, name: string, required: boolean): void {
  const value = fields.raw(name);
  if (value === undefined) {
    if (required) fields.fail(name, "FieldValueRequired", "Required value");
  } else if (typeof value !== "string" || !/^(\/([^~]|~[01])*)?$/s.test(value)) {
    fields.fail(name, "FieldValueInvalid", "Invalid value: must be a JSON pointer such as /spec/replicas");
  }
}

/**
 * Fields that another tool set before Convoy came and that the manifest no longer has (C04). A dry run cannot show them:
 * it gives back what their old owner holds. The real apply folds that owner's entry into Convoy's own first, so they go.
 *
 * @module
 */
import { isObject, type JsonObject, type JsonValue } from "../json/mod.ts";
import { fieldTrees, under } from "./diff.ts";
import { advance, formatPath, type Pattern, type Step } from "./path.ts";

/**
 * Sorted paths that the live object has only because a legacy manager (by Update) owns them: neither the manifest nor
 * any other manager does.
 *
 * @param live the live object; its managedFields are not needed (watch caches drop them)
 * @param wanted the result of the dry run with managedFields: the live ones, and an entry of `manager` with what the
 * manifest sets
 * @param legacy names of managers whose Update entries are taken over
 * @param manager the manager of the apply
 * @param ignore paths that do not count
 */
export function legacyRemovals(
  live: object,
  wanted: object,
  legacy: ReadonlySet<string>,
  manager: string,
  ignore: readonly Pattern[] = [],
): string[] {
  const isLegacy = (e: JsonObject) =>
    e.operation === "Update" && !e.subresource && typeof e.manager === "string" && legacy.has(e.manager);
  const old = entries(wanted).filter(isLegacy);
  if (old.length === 0) return [];
  const isOurs = (e: JsonObject) => e.operation === "Apply" && e.manager === manager && !e.subresource;
  const ours = trees(entries(wanted).filter(isOurs));
  const others = trees(entries(wanted).filter((e) => !isLegacy(e) && !isOurs(e)));
  const out = new Set<string>();
  for (const tree of trees(old)) walk(tree, [...ours, ...others], live as JsonObject, [], ignore, out);
  return [...out].sort();
}

function entries(object: object): JsonObject[] {
  const metadata = (object as JsonObject).metadata;
  const list = isObject(metadata) ? metadata.managedFields : undefined;
  return Array.isArray(list) ? list.filter(isObject) : [];
}

const trees = (list: JsonObject[]) => fieldTrees({ metadata: { managedFields: list } });

function walk(
  tree: JsonObject,
  kept: JsonObject[],
  value: JsonValue,
  path: Step[],
  ignore: readonly Pattern[],
  out: Set<string>,
): void {
  for (const member of Object.keys(tree)) {
    if (member === ".") continue;
    const sub = tree[member];
    const found = child(value, member);
    if (!found || !isObject(sub)) continue;
    const left = advance(ignore, found.step);
    if (left.some((p) => p.length === 0)) continue;
    const next = under(kept, member);
    const steps = [...path, found.step];
    const members = Object.keys(sub).filter((m) => m !== ".");
    if (next.length === 0 && (members.length === 0 || Object.hasOwn(sub, "."))) out.add(formatPath(steps));
    else if (members.length > 0) walk(sub, next, found.value, steps, left, out);
  }
}

/** The value that a fieldsV1 member names, with the step to it. Values of sets are not followed. */
function child(value: JsonValue, member: string): { value: JsonValue; step: Step } | undefined {
  const name = member.slice(2);
  if (member.startsWith("f:") && isObject(value) && Object.hasOwn(value, name)) {
    return { value: value[name]!, step: { key: name } };
  }
  if (!member.startsWith("k:") || !Array.isArray(value)) return undefined;
  let keys: unknown;
  try {
    keys = JSON.parse(name);
  } catch {
    return undefined;
  }
  if (!isObject(keys)) return undefined;
  const pairs = Object.entries(keys);
  const index = value.findIndex((item) => isObject(item) && pairs.every(([k, v]) => item[k] === v));
  return index < 0 ? undefined : { value: value[index]!, step: { index, keys: pairs } };
}

/** fieldsV1, the wire form of a set (rules 7 to 9). @module */
import type { Obj, Value } from "./contract.ts";
import { FieldSet } from "./field_set.ts";
import { PathElementError, readElement } from "./path_element.ts";
import { compareBytes, getKey, isEmptyObj, isObj, putKey } from "./value.ts";

type Order = "custom" | "builtin";

/** Sets already read, by the identity of the fieldsV1 object: callers that cache objects decode each only once. */
const decoded = new WeakMap<Obj, FieldSet>();
/** The wire form of sets, so that an entry that did not change is not written again. */
const encoded = new WeakMap<FieldSet, Partial<Record<Order, Obj>>>();
const MAX_DEPTH = 1000;

/**
 * Reads a fieldsV1 object. The result is remembered for this object's identity: it must not be changed afterwards.
 *
 * @throws PathElementError when a key cannot be read
 */
export function parseFieldsV1(fields: Obj): FieldSet {
  const known = decoded.get(fields);
  if (known) return known;
  const reader = new Reader();
  const set = reader.level(fields, 0).below ?? new FieldSet();
  decoded.set(fields, set);
  if (reader.sorted && !Object.hasOwn(fields, ".")) encoded.set(set, { custom: fields });
  return set;
}

class Reader {
  /** Whether all that was read is exactly how a custom kind's set is written. */
  sorted = true;

  level(fields: Value, depth: number): { member: boolean; below: FieldSet | undefined } {
    if (!isObj(fields)) {
      this.sorted = false;
      if (fields === null) return { member: true, below: undefined };
      throw new PathElementError("Cannot read fieldsV1: a value is not an object");
    }
    if (depth > MAX_DEPTH) throw new PathElementError(`Cannot read fieldsV1: deeper than ${MAX_DEPTH} levels`);
    let member = false;
    let set: FieldSet | undefined;
    let previous = "";
    for (const key of Object.keys(fields)) {
      if (this.sorted && compareBytes(previous, key) >= 0) this.sorted = false;
      previous = key;
      if (key === ".") {
        member = true;
        const dot = fields[key]!;
        if (!isObj(dot) || !isEmptyObj(dot)) this.sorted = false;
        continue;
      }
      const element = readElement(key);
      if (element !== key) this.sorted = false;
      if (element === undefined) continue;
      const node = this.level(fields[key]!, depth + 1);
      set ??= new FieldSet();
      const known = set.nodes.get(element);
      // Two spellings of one element are one element.
      if (!known) set.nodes.set(element, node);
      else {
        known.member ||= node.member;
        known.below = known.below && node.below ? known.below.union(node.below) : known.below ?? node.below;
      }
    }
    if (member && !set) this.sorted = false;
    return { member: member || !set, below: set };
  }
}

/**
 * Writes a set as fieldsV1. Custom kinds: keys in byte order; built-in kinds: in element order (rule 8).
 * The result is remembered and shared: it must not be changed.
 */
export function serialiseFieldsV1(set: FieldSet, order: Order): Obj {
  const known = encoded.get(set);
  if (known?.[order]) return known[order];
  const out = writeLevel(set, order);
  encoded.set(set, { ...known, [order]: out });
  decoded.set(out, set);
  return out;
}

function writeLevel(set: FieldSet, order: Order): Obj {
  const out: Obj = {};
  const elements = order === "builtin" ? set.sorted() : [...set.nodes.keys()].sort(compareBytes);
  for (const element of elements) {
    const { member, below } = set.nodes.get(element)!;
    if (!below) {
      putKey(out, element, {});
      continue;
    }
    const child = writeLevel(below, order);
    putKey(out, element, member ? { ".": {}, ...child } : child);
  }
  return out;
}

/** The fieldsV1 of an entry, or undefined when it has none that is an object. */
export function fieldsOfEntry(entry: Obj): Obj | undefined {
  const fields = getKey(entry, "fieldsV1");
  return isObj(fields) ? fields : undefined;
}

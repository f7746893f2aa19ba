/**
 * Built-in kinds are Go structs on the real server: a struct that is not a pointer is always there, as `{}`, and fields
 * without omitempty are there as null or zero. Ownership is computed on that form (a created Lease does not own
 * `.spec`, only what is in it).
 *
 * @module
 */
import type { Obj, SchemaNode, Value } from "./contract.ts";
import { isObj, putKey } from "./value.ts";

/** Fields of a struct that are never absent, with the value that stands for absence. */
type ZeroFields = readonly (readonly [name: string, node: SchemaNode, zero: Value])[];
const zeroFields = new WeakMap<SchemaNode, ZeroFields>();

function zerosOf(node: SchemaNode): ZeroFields {
  let found = zeroFields.get(node);
  if (!found) {
    const out: [string, SchemaNode, Value][] = [];
    for (const [name, field] of node.fields ?? []) {
      if (name === "apiVersion" || name === "kind") continue;
      // OpenAPI tells which structs are no pointers by their default.
      const zero = isObj(field.default) ? {} : node.required?.includes(name) ? zeroOf(field) : undefined;
      if (zero !== undefined) out.push([name, field, zero]);
    }
    found = out;
    zeroFields.set(node, found);
  }
  return found;
}

function zeroOf(node: SchemaNode): Value | undefined {
  if (node.kind !== "scalar") return null;
  switch (node.typing) {
    case "string":
      return "";
    case "numeric":
      return 0;
    case "boolean":
      return false;
    default:
      return undefined;
  }
}

/** The object in the form described above; itself when nothing is missing. */
export function withZeroValues(node: SchemaNode, object: Obj): Obj {
  return fillMap(node, object);
}

function fillMap(node: SchemaNode, map: Obj): Obj {
  let out: Obj | undefined;
  const set = (key: string, value: Value) => {
    out ??= { ...map };
    putKey(out, key, value);
  };
  for (const key of Object.keys(map)) {
    const child = node.fields?.get(key) ?? node.element;
    const value = map[key]!;
    const filled = child ? fillValue(child, value) : value;
    if (filled !== value) set(key, filled);
  }
  for (const [name, child, zero] of zerosOf(node)) {
    if (!Object.hasOwn(map, name)) set(name, isObj(zero) ? fillMap(child, zero) : zero);
  }
  return out ?? map;
}

function fillValue(node: SchemaNode, value: Value): Value {
  if (isObj(value)) return node.kind === "struct" || node.kind === "map" ? fillMap(node, value) : value;
  if (!Array.isArray(value) || node.kind !== "list" || node.element!.kind === "scalar") return value;
  let out: Value[] | undefined;
  value.forEach((item, i) => {
    const filled = fillValue(node.element!, item);
    if (filled !== item) (out ??= [...value])[i] = filled;
  });
  return out ?? value;
}

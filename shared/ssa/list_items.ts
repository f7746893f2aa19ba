/** Which element an item of a set or list map is (rule 20), and what forbids it to be one (rule 21). @module */
import type { SchemaNode, Value } from "./contract.ts";
import { goQuote } from "./go_text.ts";
import { keyElement, valueElement } from "./path_element.ts";
import { compareBytes, getKey, isObj } from "./value.ts";

/** An item that is no element of an associative list; the message is upstream's. */
export class ItemError extends Error {
  override readonly name = "ItemError";
}

/** Keys of a list map sorted by name, with the default that stands in for a missing key. */
type KeyFacts = readonly (readonly [name: string, fallback: Value | undefined])[];
const keyFacts = new WeakMap<SchemaNode, KeyFacts>();

function factsOf(list: SchemaNode): KeyFacts {
  let facts = keyFacts.get(list);
  if (!facts) {
    const fields = list.element?.fields;
    facts = [...list.keys ?? []].sort(compareBytes).map((name) => [name, fields?.get(name)?.default] as const);
    keyFacts.set(list, facts);
  }
  return facts;
}

/**
 * The element of an item.
 *
 * @throws ItemError
 */
export function itemElement(list: SchemaNode, item: Value): string {
  return list.listType === "map" ? keyedElement(list, item) : setElement(item);
}

function keyedElement(list: SchemaNode, item: Value): string {
  if (item === null) throw new ItemError("associative list with keys may not have a null element");
  if (!isObj(item)) throw new ItemError("associative list with keys may not have non-map elements");
  const found: [string, Value][] = [];
  for (const [name, fallback] of factsOf(list)) {
    const value = getKey(item, name);
    if (value !== undefined) found.push([name, value]);
    else if (fallback !== undefined && fallback !== null) found.push([name, fallback]);
  }
  if (found.length === 0) {
    const names = (list.keys ?? []).map(goQuote).join(" ");
    throw new ItemError(
      `associative list with keys has an element that omits all key fields [${names}] ` +
        "(and doesn't have default values for any key fields)",
    );
  }
  return keyElement(found);
}

function setElement(item: Value): string {
  if (item === null) throw new ItemError("associative list without keys has an element that's an explicit null");
  if (Array.isArray(item)) throw new ItemError("not supported: associative list with lists as elements");
  if (isObj(item)) throw new ItemError("associative list without keys has an element that's a map type");
  return valueElement(item);
}

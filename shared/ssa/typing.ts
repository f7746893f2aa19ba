/** Checks an apply body against its schema, with upstream's words (rules 18 to 21). @module */
import type { FieldMessage, SchemaNode, Value } from "./contract.ts";
import { goSyntax, goText, goType } from "./go_text.ts";
import { itemElement, ItemError } from "./list_items.ts";
import { elementText, fieldElement, pathText } from "./path_element.ts";
import { childOf } from "./schema.ts";
import { compareBytes, isObj } from "./value.ts";

const MAX_DEPTH = 1000;
/** More errors than this help nobody and would make the answer huge. */
const MAX_ERRORS = 100;

/**
 * All typing errors of a value, in a fixed order: fields by name, items by index.
 *
 * @param duplicates whether an associative list may have an item twice (live objects may, apply bodies may not)
 */
export function typingErrors(node: SchemaNode, value: Value, duplicates = false): FieldMessage[] {
  const walker = new Walker(duplicates, false);
  walker.visit(node, value);
  if (walker.errors.length === 0) return walker.errors;
  // The order of the fields matters only for what is told.
  const teller = new Walker(duplicates, true);
  teller.visit(node, value);
  return teller.errors;
}

class Walker {
  readonly errors: FieldMessage[] = [];
  /** Elements from the root to here; made text only for an error. */
  private readonly path: string[] = [];
  constructor(private readonly duplicates: boolean, private readonly sorted: boolean) {}

  visit(node: SchemaNode, value: Value): void {
    if (value === null) return;
    if (this.path.length > MAX_DEPTH) return this.fail(`nested deeper than ${MAX_DEPTH} levels`);
    switch (node.kind) {
      case "scalar":
        return this.scalar(node, value);
      case "list":
        if (!Array.isArray(value)) return this.fail(`expected list, got ${pointer(value)}`);
        return node.listType === "atomic" ? this.atomicList(node.element!, value) : this.keyedList(node, value);
      case "any":
        if (typeof value !== "object") return;
        if (Array.isArray(value)) return this.atomicList(node, value);
        break;
      default:
        if (!isObj(value)) return this.fail(`expected map, got ${pointer(value)}`);
    }
    const keys = Object.keys(value);
    if (this.sorted) keys.sort(compareBytes);
    for (const key of keys) {
      const child = childOf(node, key);
      if (child) this.below(fieldElement(key), child, value[key]!);
      else this.fail("field not declared in schema", fieldElement(key));
    }
  }

  private below(element: string, node: SchemaNode, value: Value): void {
    this.path.push(element);
    this.visit(node, value);
    this.path.pop();
  }

  private atomicList(node: SchemaNode, list: Value[]): void {
    for (let i = 0; i < list.length; i++) this.below(`i:${i}`, node, list[i]!);
  }

  private keyedList(node: SchemaNode, list: Value[]): void {
    const seen = new Set<string>();
    for (let i = 0; i < list.length; i++) {
      let element: string;
      try {
        element = itemElement(node, list[i]!);
      } catch (error) {
        if (!(error instanceof ItemError)) throw error;
        this.fail(`element ${i}: ${error.message}`);
        continue;
      }
      if (seen.has(element) && !this.duplicates) this.fail(`duplicate entries for key ${elementText(element)}`);
      seen.add(element);
      this.below(element, node.element!, list[i]!);
    }
  }

  private scalar(node: SchemaNode, value: Value): void {
    switch (node.typing) {
      case "numeric":
        if (typeof value === "number" || typeof value === "bigint") return;
        return this.fail(`expected numeric (int or float), got ${goType(value)}`);
      case "string":
        if (typeof value === "string") return;
        return this.fail(`expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`);
      case "boolean":
        if (typeof value === "boolean") return;
        return this.fail(`expected boolean, got ${pointer(value)}`);
      default:
        if (typeof value !== "object") return;
        return this.fail(`expected any scalar, got ${pointer(value)}`);
    }
  }

  private fail(message: string, element?: string): void {
    if (this.errors.length >= MAX_ERRORS) return;
    this.errors.push({ field: pathText(element === undefined ? this.path : [...this.path, element]), message });
  }
}

/** Go prints a pointer to a struct of one value. */
function pointer(value: Value): string {
  return `&{${goText(value)}}`;
}

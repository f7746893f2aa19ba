/** Sets of paths and their algebra (rule 11). @module */
import { compareElements } from "./path_element.ts";

/** What a set says at one element: whether the path itself is a member, and the members below. */
export interface SetNode {
  readonly member: boolean;
  readonly below: FieldSet | undefined;
}

/**
 * A set of paths. Treat as immutable once built with {@link insert}; results of the algebra share structure with their
 * operands. Each method is linear in the smaller operand where that is possible.
 */
export class FieldSet {
  /** By encoded element. No node is without member and children. */
  readonly nodes: Map<string, { member: boolean; below: FieldSet | undefined }> = new Map();

  /** Adds a path; the empty path is ignored (the whole object is never owned). Only while building. */
  insert(path: readonly string[]): void {
    // deno-lint-ignore no-this-alias -- walks down the tree
    let set: FieldSet = this;
    for (let i = 0; i < path.length - 1; i++) set = set.descend(path[i]!);
    if (path.length > 0) set.add(path[path.length - 1]!);
  }

  /** Makes the element itself a member. Only while building. */
  add(element: string): void {
    const node = this.nodes.get(element);
    if (node) node.member = true;
    else this.nodes.set(element, { member: true, below: undefined });
  }

  /** The set below an element, created when missing. Only while building; an empty one must not be left. */
  descend(element: string): FieldSet {
    const node = this.nodes.get(element);
    if (node?.below) return node.below;
    const below = new FieldSet();
    if (node) node.below = below;
    else this.nodes.set(element, { member: false, below });
    return below;
  }

  /** Puts a whole subtree below an element unless it is empty. Only while building. */
  attach(element: string, member: boolean, below: FieldSet | undefined): void {
    const rest = below && below.nodes.size > 0 ? below : undefined;
    if (member || rest) this.nodes.set(element, { member, below: rest });
  }

  get empty(): boolean {
    return this.nodes.size === 0;
  }

  /** Number of member paths. */
  get size(): number {
    let n = 0;
    for (const { member, below } of this.nodes.values()) n += (member ? 1 : 0) + (below ? below.size : 0);
    return n;
  }

  /** Whether exactly this path is a member. */
  has(path: readonly string[]): boolean {
    // deno-lint-ignore no-this-alias -- walks down the tree
    let set: FieldSet | undefined = this;
    for (let i = 0; i < path.length - 1; i++) set = set?.nodes.get(path[i]!)?.below;
    return path.length > 0 && set?.nodes.get(path[path.length - 1]!)?.member === true;
  }

  union(other: FieldSet): FieldSet {
    if (other === this || other.empty) return this;
    if (this.empty) return other;
    const out = new FieldSet();
    for (const [element, node] of this.nodes) {
      const o = other.nodes.get(element);
      if (!o) out.nodes.set(element, node);
      else {
        const below = node.below && o.below ? node.below.union(o.below) : node.below ?? o.below;
        out.nodes.set(element, { member: node.member || o.member, below });
      }
    }
    for (const [element, node] of other.nodes) if (!this.nodes.has(element)) out.nodes.set(element, node);
    return out;
  }

  /** Members of this that are not members of `other`; exact paths only. */
  difference(other: FieldSet): FieldSet {
    if (other.empty || this.empty) return this;
    if (other === this) return EMPTY;
    const out = new FieldSet();
    for (const [element, node] of this.nodes) {
      const o = other.nodes.get(element);
      if (!o) out.nodes.set(element, node);
      else {
        out.attach(
          element,
          node.member && !o.member,
          node.below && o.below ? node.below.difference(o.below) : node.below,
        );
      }
    }
    return out;
  }

  /** Members of this that neither are members of `other` nor lie below one. */
  recursiveDifference(other: FieldSet): FieldSet {
    if (other.empty || this.empty) return this;
    const out = new FieldSet();
    for (const [element, node] of this.nodes) {
      const o = other.nodes.get(element);
      if (!o) out.nodes.set(element, node);
      else if (!o.member) {
        out.attach(
          element,
          node.member,
          node.below && o.below ? node.below.recursiveDifference(o.below) : node.below,
        );
      }
    }
    return out;
  }

  intersection(other: FieldSet): FieldSet {
    if (other === this) return this;
    const [small, large] = this.nodes.size <= other.nodes.size ? [this, other] : [other, this];
    const out = new FieldSet();
    for (const [element, node] of small.nodes) {
      const o = large.nodes.get(element);
      if (!o) continue;
      out.attach(
        element,
        node.member && o.member,
        node.below && o.below ? node.below.intersection(o.below) : undefined,
      );
    }
    return out;
  }

  /** Members that have no member below them. */
  leaves(): FieldSet {
    const out = new FieldSet();
    for (const [element, node] of this.nodes) {
      out.attach(element, node.member && !node.below, node.below?.leaves());
    }
    return out;
  }

  equals(other: FieldSet): boolean {
    if (other === this) return true;
    if (this.nodes.size !== other.nodes.size) return false;
    for (const [element, node] of this.nodes) {
      const o = other.nodes.get(element);
      if (!o || o.member !== node.member || !o.below !== !node.below) return false;
      if (node.below && !node.below.equals(o.below!)) return false;
    }
    return true;
  }

  /** Whether every member of this is a member of `other`. */
  subsetOf(other: FieldSet): boolean {
    if (other === this) return true;
    for (const [element, node] of this.nodes) {
      const o = other.nodes.get(element);
      if (!o || (node.member && !o.member)) return false;
      if (node.below && !(o.below && node.below.subsetOf(o.below))) return false;
    }
    return true;
  }

  /** Elements in element order (rule 1). */
  sorted(): string[] {
    return [...this.nodes.keys()].sort(compareElements);
  }

  /** All member paths: in element order, the members of a level before what is below them (rule 56). */
  paths(): string[][] {
    const out: string[][] = [];
    collect(this, [], out);
    return out;
  }
}

/** The empty set. Never insert into it. */
export const EMPTY: FieldSet = new FieldSet();

function collect(set: FieldSet, prefix: string[], out: string[][]): void {
  const elements = set.sorted();
  for (const element of elements) if (set.nodes.get(element)!.member) out.push([...prefix, element]);
  for (const element of elements) {
    const below = set.nodes.get(element)!.below;
    if (below) collect(below, [...prefix, element], out);
  }
}

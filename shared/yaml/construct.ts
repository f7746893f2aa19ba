/** Builds JSON values from the events of the YAML parser. @module */
import { type Event, EVENT_ID, getScalarValue, SCALAR_STYLE, type ScalarEvent } from "js-yaml";
import { isObject, type JsonObject, type JsonValue, setKey } from "../json/mod.ts";
import { type Positions, YamlError } from "./error.ts";
import { keyOfPlain, NOT_JSON, resolvePlain } from "./scalar.ts";

/** A document as it was built. `line` is that of its first node. */
export interface Built {
  value: JsonValue;
  line: number;
  /** `line 4: key "str" already set in map`, when duplicates are reported. */
  duplicates: string[];
}

/** Limits and choices of the builder. */
export interface BuildOptions {
  file: string;
  duplicates: "error" | "report";
  /** Nodes that aliases may add to one text. */
  maxAliasNodes: number;
}

interface Node {
  value: JsonValue;
  /** `.inf`, `.nan`: fine as a key, refused as a value. */
  notJson?: boolean;
  /** Number of nodes in it. */
  size: number;
  /** What it is as a key; undefined when it cannot be one. */
  key: string | undefined;
  merge: boolean;
  /** Offset of its text. */
  at: number;
}
type Anchor = Pick<Node, "value" | "size" | "key" | "notJson"> & { done: boolean };
const STANDARD = "tag:yaml.org,2002:";

/** Walks the events once. Recursion is bounded by the parser's own depth limit. */
export class Builder {
  #next = 0;
  #anchors = new Map<string, Anchor>();
  #handles = new Map<string, string>();
  #aliasNodes = 0;
  #duplicates: string[] = [];

  constructor(
    private readonly text: string,
    private readonly events: Event[],
    private readonly positions: Positions,
    private readonly options: BuildOptions,
  ) {}

  /** All documents; those without any node are left out. */
  documents(): Built[] {
    const out: Built[] = [];
    while (this.#next < this.events.length) {
      const event = this.events[this.#next++]!;
      if (event.type !== EVENT_ID.DOCUMENT) continue;
      this.#anchors.clear();
      this.#duplicates = [];
      this.#handles = new Map(event.directives.flatMap((d) => d.kind === "tag" ? [[d.handle, d.prefix]] : []));
      if (event.directives.some((d) => d.kind === "yaml" && d.version !== "1.1")) {
        this.#fail(0, `the %YAML directive names a version other than 1.1; take the line out`);
      }
      const first = this.events[this.#next]!;
      const empty = first.type === EVENT_ID.SCALAR && first.valueStart < 0 && first.tagStart < 0 &&
        first.anchorStart < 0;
      const node = this.#valueNode();
      this.#next++;
      if (empty) continue;
      out.push({ value: node.value, line: this.positions.of(node.at).line, duplicates: this.#duplicates });
    }
    return out;
  }

  #fail(at: number, problem: string): never {
    const { line, column } = this.positions.of(Math.max(at, 0));
    throw new YamlError(problem, this.options.file, line, column);
  }

  #valueNode(): Node {
    const node = this.#node();
    if (node.notJson) this.#fail(node.at, "JSON has no infinity and no NaN; put quotes around it");
    return node;
  }

  #node(): Node {
    const event = this.events[this.#next++]!;
    switch (event.type) {
      case EVENT_ID.SCALAR:
        return this.#scalar(event);
      case EVENT_ID.ALIAS:
        return this.#alias(event.anchorStart, event.anchorEnd);
      case EVENT_ID.SEQUENCE: {
        const value: JsonValue[] = [];
        const anchor = this.#anchor(event.anchorStart, event.anchorEnd, value, undefined);
        let size = 1;
        while (this.events[this.#next]!.type !== EVENT_ID.POP) {
          const item = this.#valueNode();
          value.push(item.value);
          size += item.size;
        }
        this.#next++;
        if (anchor) Object.assign(anchor, { size, done: true });
        return { value, size, key: undefined, merge: false, at: event.start };
      }
      case EVENT_ID.MAPPING:
        return this.#mapping(event.start, event.anchorStart, event.anchorEnd);
      default:
        return this.#fail(0, "the document ends in the middle of a value");
    }
  }

  #mapping(start: number, anchorStart: number, anchorEnd: number): Node {
    const value: JsonObject = {};
    const anchor = this.#anchor(anchorStart, anchorEnd, value, undefined);
    const explicit = new Set<string>();
    let size = 1;
    while (this.events[this.#next]!.type !== EVENT_ID.POP) {
      const key = this.#node();
      const item = this.#valueNode();
      size += item.size;
      if (key.merge) {
        this.#merge(value, item);
        continue;
      }
      if (key.key === undefined) {
        this.#fail(key.at, "a key must be a string, a number or a boolean; put quotes around it");
      }
      if (Object.hasOwn(value, key.key)) {
        if (this.options.duplicates === "report") this.#report(item.at, key);
        else if (explicit.has(key.key)) {
          this.#fail(key.at, `the key ${quote(key.key)} occurs twice in this map; keep one of the two`);
        }
      }
      explicit.add(key.key);
      setKey(value, key.key, item.value);
    }
    this.#next++;
    if (anchor) Object.assign(anchor, { size, done: true });
    return { value, size, key: undefined, merge: false, at: start };
  }

  #report(at: number, key: Node): void {
    const shown = typeof key.value === "string" ? quote(key.key!) : key.key;
    this.#duplicates.push(`line ${this.positions.of(Math.max(at, 0)).line}: key ${shown} already set in map`);
  }

  /** A merge writes over what stands before it and is written over by what comes after; of a list, the first wins. */
  #merge(into: JsonObject, item: Node): void {
    const sources = Array.isArray(item.value) ? [...item.value].reverse() : [item.value];
    for (const source of sources) {
      if (!isObject(source)) this.#fail(item.at, "the value of << must be a map or a list of maps");
      for (const key of Object.keys(source)) {
        this.#charge(1, item.at);
        setKey(into, key, source[key]!);
      }
    }
  }

  #charge(nodes: number, at: number): void {
    this.#aliasNodes += nodes;
    if (this.#aliasNodes > this.options.maxAliasNodes) {
      this.#fail(at, `aliases add more than ${this.options.maxAliasNodes} values; write them out or use fewer`);
    }
  }

  #alias(start: number, end: number): Node {
    const name = this.text.slice(start, end);
    const anchor = this.#anchors.get(name);
    if (!anchor) this.#fail(start, `no anchor &${name} stands before the alias *${name}`);
    if (!anchor.done) this.#fail(start, `the anchor &${name} contains itself`);
    this.#charge(anchor.size, start);
    return { ...anchor, value: copy(anchor.value), merge: false, at: start };
  }

  #anchor(start: number, end: number, value: JsonValue, key: string | undefined): Anchor | undefined {
    if (start < 0) return undefined;
    const anchor = { value, size: 1, key, done: false };
    this.#anchors.set(this.text.slice(start, end), anchor);
    return anchor;
  }

  #scalar(event: ScalarEvent): Node {
    const text = getScalarValue(this.text, event);
    const at = event.valueStart >= 0 ? event.valueStart : Math.max(event.tagStart, event.anchorStart, 0);
    const tag = event.tagStart < 0 ? "" : this.#tag(this.text.slice(event.tagStart, event.tagEnd));
    const plain = tag === "" && event.style === SCALAR_STYLE.PLAIN;
    const value = plain ? resolvePlain(text) : tag === "" ? text : this.#tagged(tag, text, at);
    const key = plain || typeof value !== "string" ? keyOfPlain(text) : value;
    const merge = plain && text === "<<";
    const json = value === NOT_JSON ? text : value;
    const anchor = this.#anchor(event.anchorStart, event.anchorEnd, json, key);
    if (anchor) Object.assign(anchor, { done: true, notJson: value === NOT_JSON });
    return { value: json, notJson: value === NOT_JSON, size: 1, key, merge, at };
  }

  #tag(raw: string): string {
    if (raw.startsWith("!<")) return raw.slice(2, -1);
    const end = raw.indexOf("!", 1);
    const handle = end < 0 ? "!" : raw.slice(0, end + 1);
    return (this.#handles.get(handle) ?? (handle === "!!" ? STANDARD : handle)) + raw.slice(handle.length);
  }

  /** Standard tags say how to read the text; any other tag means a string, and nothing is run for it. */
  #tagged(tag: string, text: string, at: number): JsonValue | typeof NOT_JSON {
    const kind = tag.startsWith(STANDARD) ? tag.slice(STANDARD.length) : "";
    if (kind === "binary") return this.#binary(text, at);
    if (!["null", "bool", "int", "float"].includes(kind)) return text;
    const value = resolvePlain(text);
    const number = typeof value === "number" || typeof value === "bigint";
    const fits = kind === "null"
      ? value === null
      : kind === "bool"
      ? typeof value === "boolean"
      : kind === "float"
      ? number || value === NOT_JSON
      : number && !/[.eE]/.test(text.replace(/^[-+]?0[xX].*/, ""));
    if (!fits) this.#fail(at, `the text cannot be read as !!${kind}`);
    return value;
  }

  #binary(text: string, at: number): string {
    try {
      return new TextDecoder().decode(Uint8Array.from(atob(text.replace(/\s/g, "")), (c) => c.charCodeAt(0)));
    } catch {
      return this.#fail(at, "the value of !!binary is not base64");
    }
  }
}

function copy(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(copy);
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const key of Object.keys(value)) setKey(out, key, copy(value[key]!));
  return out;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
